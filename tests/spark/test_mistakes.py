"""Mistakes are the typed errors of the local engine, and no stack trace of an executor."""

from __future__ import annotations

import pytest
import rankscope as rs
import rankscope.spark as rss

from tests.refusals import refuses, refuses_if

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
    frames = spark.createDataFrame(qrels).repartition(2), spark.createDataFrame(run)
    assert refuse(rss, *frames, "AP", policy=policy) == refuse(rs, qrels, run, "AP", policy=policy)


def refuse(library, *inputs, **options):
    """Return the class and the code of the error of an evaluation."""
    with pytest.raises(rs.RankscopeError) as caught:
        library.evaluate(*inputs, **options)
    return type(caught.value), caught.value.code


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
    frame = spark.createDataFrame(table)
    assert refuse(rss, frame, "AP", **arguments) == refuse(rs, table, "AP", **arguments)


@pytest.mark.parametrize(
    "arguments", [{"policy": "ties=input"}, {"duplicates": "first"}, {"policy": rs.Policy("input")}]
)
def test_what_depends_on_the_order_of_rows_is_refused(spark, arguments):
    with refuses(rs.errors.PolicyError, "row_order"):
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


TEN = [f"q{number}" for number in range(10)]
JUDGED = pa.table({"query_id": TEN, "doc_id": ["a"] * 10, "relevance": [1] * 10})


UNMATCHED = {
    "other documents": (["x"], "a", 10, True),
    "another spelling": (["A"], "a", 10, True),
    "documents that another query has": (["x"], "x", 10, False),
    "few lists": (["x"], "a", 9, False),
    "one that is judged": (["x", "a"], "a", 10, False),
}


@pytest.mark.parametrize("partitions", [None, 3])
@pytest.mark.parametrize("case", UNMATCHED)
def test_lists_without_a_judged_document_are_refused_as_they_are_locally(spark, case, partitions):
    docs, other, lists, is_refused = UNMATCHED[case]
    qrels = pa.concat_tables(
        [JUDGED, pa.table({"query_id": ["q10"], "doc_id": [other], "relevance": [1]})]
    )
    rows = [(query, doc, 1.0) for query in TEN[:lists] for doc in docs]
    run = pa.table(list(zip(*rows, strict=True)), ["query_id", "doc_id", "score"])
    frames = [spark.createDataFrame(table).repartition(2) for table in (qrels, run)]
    hints = []
    for call in (
        lambda: rs.evaluate(qrels, run, "RR"),
        lambda: rss.evaluate(*frames, "RR", partitions=partitions),
    ):
        with refuses_if(is_refused, rs.errors.FormatError, "none in 10 lists") as error:
            call()
        hints.append(error and error.value.hint)
    assert hints[0] == hints[1]


CHECKED = {
    "two algorithms": ({"algorithm": ["x", "y"] * 3}, {"multiple_tags": 2}),
    "one algorithm": ({"algorithm": ["x", None] * 3}, {}),
    "sessions": ({"visit_id": [1, 2, 3, 3, 4, 5]}, {"query_split": 2}),
    "sessions and runs": (
        {"visit_key": [*"aabbbc"], "model": [1, 2, 3] * 2},
        {"query_split": 1, "multiple_tags": 3},
    ),
    "ranks that scores contradict": ({"rank": [1, 2] * 3}, {"rank_score_disagree": 3}),
    "lists": ({"visit_id": [["a"], ["b"]] * 3, "tag": [{"a": 1}, {"a": 2}] * 3}, {}),
}


@pytest.mark.parametrize("partitions", [None, 3])
@pytest.mark.parametrize("case", CHECKED)
def test_what_may_be_several_lists_is_noted_as_it_is_locally(spark, case, partitions):
    columns, expected = CHECKED[case]
    run = pa.table({"user_id": [*"aabbcc"], "sku": [*"xyxyxy"], "score": [1.0, 2.0] * 3, **columns})
    qrels = pa.table({"user_id": [*"abc"], "sku": [*"xxx"], "label": [1, 1, 1]})
    joined = run.append_column("label", [[1, 0] * 3])
    for tables, query in (((qrels, run), None), ((joined,), None), ((joined,), "user_id")):
        frames = [spark.createDataFrame(table).repartition(2) for table in tables]
        local = rs.evaluate(*tables, "RR", query=query)
        found = rss.evaluate(*frames, "RR", query=query, partitions=partitions)
        noted = {code: n for code, n in expected.items() if query is None or code != "query_split"}
        assert found.diagnostics == local.diagnostics == noted
        assert [*map(str, found.notes)] == [*map(str, local.notes)]
