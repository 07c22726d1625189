"""Spark Connect gives the local values. It runs in a process of its own, which has one session."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytest.importorskip("pyspark", reason="PySpark is not installed; it is in make test-integrations")
pytest.importorskip("grpc", reason="the libraries of pyspark[connect] are not installed")

SCRIPT = """
import pyarrow as pa
import rankscope as rs
import rankscope.spark as rss
from pyspark.sql import SparkSession

table = pa.table({
    "query_id": [f"q{row // 9}" for row in range(900)],
    "doc_id": [f"d{row % 9}" for row in range(900)],
    "score": [float(row * 7 % 11) for row in range(900)],
    "relevance": [[0, 1, None][row * row % 3] for row in range(900)],
})
spark = (
    SparkSession.builder.remote("local[2]")
    .config("spark.ui.enabled", "false")
    .config("spark.sql.shuffle.partitions", "2")
    .getOrCreate()
)
frame = spark.createDataFrame(table)
local = rs.evaluate(table, ["nDCG@5", "AP"])
for given in (frame, frame.repartition(3)):
    found = rss.evaluate(given, ["nDCG@5", "AP"])
    assert dict(found) == dict(local)
    assert dict(sorted(found.to_dict().items())) == dict(sorted(local.to_dict().items()))
qrels = table.select(["query_id", "doc_id", "relevance"]).drop_null()
run = table.select(["query_id", "doc_id", "score"])
found = rss.evaluate(spark.createDataFrame(qrels), spark.createDataFrame(run), "nDCG@5")
assert dict(found) == dict(rs.evaluate(qrels, run, "nDCG@5"))
spark.stop()
print("equal")
"""


def test_spark_connect_gives_the_local_values():
    made = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", SCRIPT],
        env=os.environ | {"PYSPARK_PYTHON": sys.executable},
        capture_output=True,
        text=True,
        check=False,
    )
    assert made.stdout.endswith("equal\n"), made.stderr
