"""One session of Spark for all tests, and a small collection with everything odd that is legal."""

from __future__ import annotations

import os
import random
import sys

import pytest

MEASURES = ["nDCG@10", "AP", "RR", "P@5", "GMAP", "Judged@10"]


@pytest.fixture(scope="session")
def spark():
    sql = pytest.importorskip(
        "pyspark.sql", reason="PySpark is not installed; it is in make test-integrations"
    )
    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = (
        sql.SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.default.parallelism", "2")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.log.level", "ERROR")
        .getOrCreate()
    )
    yield session
    session.stop()


@pytest.fixture(scope="session")
def collection():
    """Return judgments and a run: missing queries, unjudged ones, ties, negative grades."""
    pa = pytest.importorskip("pyarrow")
    generator = random.Random(7)
    judged = {}
    retrieved = {}
    for query in range(60):
        for doc in generator.sample(range(80), generator.randint(1, 30)):
            judged[f"q{query}", f"d{doc}"] = generator.choice([-1, 0, 0, 1, 2, 3])
    for query in range(5, 70):
        for doc in generator.sample(range(90), generator.randint(1, 40)):
            retrieved[f"q{query}", f"d{doc}"] = generator.randint(0, 12) / 4
    qrels = pa.table(
        {
            "query_id": [query for query, _ in judged],
            "doc_id": [doc for _, doc in judged],
            "relevance": list(judged.values()),
            "country": [["de", "fr", None][int(query[1:]) % 3] for query, _ in judged],
        }
    )
    run = pa.table(
        {
            "query_id": [query for query, _ in retrieved],
            "doc_id": [doc for _, doc in retrieved],
            "score": list(retrieved.values()),
        }
    )
    return qrels, run


@pytest.fixture(scope="session")
def judged(collection):
    """Return the judgments without an attribute."""
    return collection[0].drop_columns(["country"])


@pytest.fixture(scope="session")
def table(collection):
    """Return a table with scores and grades, some of them null, and an attribute."""
    qrels, run = collection
    grades = dict(zip(_pairs(qrels), qrels["relevance"].to_pylist(), strict=True))
    countries = [["de", "fr", None][int(query[1:]) % 3] for query in run["query_id"].to_pylist()]
    relevance = [grades.get(pair) for pair in _pairs(run)]
    return run.append_column("relevance", [relevance]).append_column("country", [countries])


def _pairs(table):
    return list(zip(table["query_id"].to_pylist(), table["doc_id"].to_pylist(), strict=True))
