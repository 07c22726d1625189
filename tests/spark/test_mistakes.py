"""Mistakes are the typed errors of the local engine, and no stack trace of an executor."""

from __future__ import annotations

import pytest
import rankscope as rs
import rankscope.spark as rss

from tests.refusals import refuses

pa = pytest.importorskip("pyarrow")
pytest.importorskip("pyspark", reason="PySpark is not installed; it is in make test-integrations")

pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support:FutureWarning")

GOOD = {"query_id": ["a", "a", "b"], "doc_id": ["x", "y", "x"]}
QRELS = pa.table(GOOD | {"relevance": [1, 0, 2]})
RUN = pa.table(GOOD | {"score": [1.0, 2.0, 3.0]})


def change(table, name, values):
    return table.set_column(table.column_names.index(name), name, values)


@pytest.mark.parametrize(
    ("qrels", "run", "policy"),
    [
        (QRELS, change(RUN, "score", [[1.0, None, 3.0]]), ""),
        (QRELS, change(RUN, "score", [[1.0, float("nan"), 3.0]]), ""),
        (QRELS, change(RUN, "query_id", [["a", None, "b"]]), ""),
        (QRELS, change(RUN, "doc_id", [["x", "x", "x"]]), ""),
        (change(QRELS, "doc_id", [["x", "x", "x"]]), RUN, ""),
        (change(QRELS, "relevance", [[1, None, 2]]), RUN, ""),
        (change(QRELS, "relevance", [["1", "2", "3"]]), RUN, ""),
        (change(QRELS, "query_id", [["c", "c", "d"]]), RUN, ""),
        (QRELS.slice(0, 0), RUN, ""),
        (QRELS, RUN.slice(0, 0), ""),
        (QRELS, RUN.slice(0, 2), "missing=error"),
        (change(QRELS, "relevance", [[1, 0, 0]]), RUN, "empty=error"),
        (change(QRELS, "relevance", [[1, -1, 0]]), RUN, "negative=error"),
        (QRELS.drop_columns(["doc_id"]), RUN, ""),
        (QRELS.append_column("qid", [["a", "a", "b"]]), RUN, ""),
        (QRELS, RUN.rename_columns(["query_id", "doc_id", "relevance"]), ""),
    ],
)
def test_a_mistake_has_the_code_that_it_has_locally(spark, qrels, run, policy):
    with pytest.raises(rs.RankscopeError) as local:
        rs.evaluate(qrels, run, "AP", policy=policy)
    with pytest.raises(rs.RankscopeError) as found:
        rss.evaluate(
            spark.createDataFrame(qrels).repartition(2),
            spark.createDataFrame(run),
            "AP",
            policy=policy,
        )
    assert (type(found.value), found.value.code) == (type(local.value), local.value.code)


@pytest.mark.parametrize(
    ("columns", "arguments"),
    [
        ({"label": [None, None, None]}, {}),
        ({"label": [1, 0, 1], "country": ["de", "fr", "de"]}, {"by": "country"}),
        ({"label": [1, 0, 1]}, {"by": "country"}),
        ({"label": [1, 0, 1]}, {"ties": "doc_id"}),
        ({"label": [1, 0, 1], "grade": [1, 0, 1]}, {}),
    ],
)
def test_a_mistake_in_a_table_has_the_code_that_it_has_locally(spark, columns, arguments):
    kinds = {"label": pa.int64(), "country": pa.string(), "grade": pa.int64()}
    held = {name: pa.array(values, kinds[name]) for name, values in columns.items()}
    table = pa.table({"qid": ["a", "a", "b"], "score": [1.0, 2.0, 3.0]} | held)
    with pytest.raises(rs.RankscopeError) as local:
        rs.evaluate(table, "AP", **arguments)
    with pytest.raises(rs.RankscopeError) as found:
        rss.evaluate(spark.createDataFrame(table), "AP", **arguments)
    assert (type(found.value), found.value.code) == (type(local.value), local.value.code)


@pytest.mark.parametrize(
    "arguments", [{"policy": "ties=input"}, {"duplicates": "first"}, {"policy": rs.Policy("input")}]
)
def test_what_depends_on_the_order_of_rows_is_refused(spark, arguments):
    with refuses(rs.PolicyError, "row_order"):
        rss.evaluate(spark.createDataFrame(QRELS), spark.createDataFrame(RUN), "AP", **arguments)


def test_a_table_of_another_library_is_refused(spark):
    with pytest.raises(rs.UsageError, match="expected qrels as a Spark DataFrame, found Table"):
        rss.evaluate(QRELS, spark.createDataFrame(RUN), "AP")


def test_names_of_columns_may_have_dots(spark):
    table = pa.table({"a.q": ["a", "a"], "my score": [1.0, 2.0], "b c": [1, 0]})
    names = {"query": "a.q", "score": "my score", "relevance": "b c"}
    found = rss.evaluate(spark.createDataFrame(table), "RR", **names)
    assert found["RR"] == 0.5
    assert found.to_spark().columns == ["a.q", "RR"]
