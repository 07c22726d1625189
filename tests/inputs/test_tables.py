"""Tables of every library as rankings, as judgments and as runs: F1 to F12 of the catalogue."""

from __future__ import annotations

import math
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import rankscope as rs
from rankscope import Rankings
from rankscope.errors import FormatError

from tests.inputs.outcome import MEASURES, expected_values, is_refused
from tests.inputs.table_entries import NUMBERS, OK, PLAIN, REFUSED, TEXTS

ROWS = list(zip(*PLAIN.values(), strict=True))
EXPECTED = expected_values(
    [(query, doc, grade) for query, doc, grade, _ in ROWS],
    [(query, doc, score) for query, doc, _, score in ROWS],
)
JUDGED = ("qid", "doc_id", "relevance")
RETRIEVED = ("qid", "doc_id", "score")


def joined(table, **names):
    """Evaluate a table whose rows hold grades and scores."""
    return Rankings.from_table(table, ties="doc_id", **names).evaluate(MEASURES).to_dict()


def pair(qrels, run):
    """Evaluate a table of a run against a table of judgments."""
    found = rs.evaluate(qrels, run, MEASURES)
    assert Rankings.from_run(qrels, run).evaluate(MEASURES).to_dict() == found.to_dict()
    return found.to_dict()


def only(columns, names):
    return {name: columns[name] for name in names}


@pytest.mark.parametrize("form", OK)
def test_a_table_of_any_kind_gives_the_values_of_its_rows(form):
    assert joined(OK[form](PLAIN)) == EXPECTED


@pytest.mark.parametrize("form", [form for form in OK if "reader" not in form])
def test_judgments_and_runs_of_any_kind_give_the_values_of_their_rows(form):
    qrels, run = (OK[form](only(PLAIN, names)) for names in (JUDGED, RETRIEVED))
    if isinstance(qrels, dict):
        qrels, run = pa.table(qrels), pa.table(run)  # a mapping would be judgments by query
    assert pair(qrels, run) == EXPECTED


@pytest.mark.parametrize("form", NUMBERS)
def test_integers_of_every_kind_are_ids_by_their_decimal_text(form):
    make = NUMBERS[form]
    table = {
        "qid": make([7, 7, 8]),
        "doc_id": make([9, 10, 11]),
        "relevance": [1, 0, 1],
        "score": [1.0, 1.0, 2.0],
    }
    rankings = Rankings.from_table(table, ties="doc_id")
    assert rankings.query_ids == [7, 8]
    assert rankings.doc_ids(7) == [9, 10]  # the larger text is first
    assert rankings.evaluate("RR").diagnostics["int_ids"] == 1


@pytest.mark.parametrize("entry", REFUSED, ids=lambda entry: entry.id)
def test_a_column_that_is_none_is_refused_with_its_row(entry):
    table = PLAIN | {"doc_id": [*TEXTS], entry.column: entry.make()}
    error = is_refused(lambda: Rankings.from_table(table), entry.code)
    if entry.code != "length_mismatch":
        assert error.line == entry.line
        assert entry.line is None or error.location


def frame_of(entry):
    """Return the column in a frame, where one can hold it as it is."""
    made = entry.make()
    if isinstance(made, list):
        made = pd.Series(made, dtype=object)
    is_one = isinstance(made, np.ndarray | pd.Series | pd.Categorical) and not np.ma.isMA(made)
    if not is_one or len(made) != 5 or made.ndim != 1 or made.dtype.kind == "g":
        return None
    return pd.DataFrame(PLAIN | {"doc_id": [*TEXTS], entry.column: made})


@pytest.mark.parametrize(
    "entry", [entry for entry in REFUSED if frame_of(entry) is not None], ids=lambda entry: entry.id
)
def test_frames_and_mappings_have_one_verdict(entry):
    """For rankings, judgments and runs."""
    frame = frame_of(entry)
    assert is_refused(lambda: Rankings.from_table(frame), entry.code).line == entry.line
    if entry.column == "score":
        run = frame[list(RETRIEVED)]
        error = is_refused(lambda: rs.evaluate({"q1": {"a": 1}}, run, "RR"), entry.code)
    else:
        error = is_refused(lambda: rs.read_qrels(frame[list(JUDGED)]), entry.code)
    assert error.line == entry.line


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({}, "found no columns"),
        (pd.DataFrame(), "found no columns"),
        (pd.DataFrame([["q", 1, 1.0, 2.0]], columns=["qid", "rel", "score", "score"]), "score"),
        (pd.DataFrame([["q", 1, 1.0, 2, 3]], columns=["qid", "rel", "score", "x", "x"]), "x more"),
        (
            pa.table([["q"], [1], [1.0], [2.0]], names=["qid", "rel", "score", "score"]),
            "score more than once",
        ),
        (pd.DataFrame({("a", "qid"): ["q"], ("a", "rel"): [1]}), "one level"),
        (pd.DataFrame({"rel": [1], "score": [1.0]}, index=pd.Index(["q"])), "query"),
    ],
)
def test_columns_that_are_missing_or_twice_are_refused(table, said):
    assert said in is_refused(lambda: Rankings.from_table(table), "columns").message


def test_columns_may_be_called_by_numbers():
    frame = pd.DataFrame([["q", "a", 1, 1.0], ["q", "b", 0, 2.0]])
    names = {"query": "0", "doc": "1", "relevance": "2", "score": "3"}
    assert Rankings.from_table(frame, **names).evaluate("RR")["RR"] == 1 / 2
    error = is_refused(lambda: Rankings.from_table(frame, **names | {"score": "5"}), "columns")
    assert "'5' of score" in error.message


def test_a_table_without_judgments_is_refused_as_judgments_without_a_document_are():
    columns = PLAIN | {"relevance": [float("nan")] * 5}
    for make in (pd.DataFrame, pl.DataFrame, pa.table):
        is_refused(lambda make=make: Rankings.from_table(make(columns)), "empty_input")


def test_categories_that_are_not_used_are_no_queries():
    rankings = Rankings.from_table(OK["F5 pandas, categories"](PLAIN))
    assert rankings.query_ids == ["q1", "q2"]
    assert rankings.evaluate("RR").counts.queries == 2
    qrels = OK["F5 pandas, categories"](only(PLAIN, JUDGED))
    assert rs.read_qrels(qrels).query_ids == ["q1", "q2"]


def test_a_lazy_frame_is_collected_where_it_stands():
    lazy = pl.LazyFrame(PLAIN)
    rankings = Rankings.from_table(lazy.filter(pl.col("qid") == "q1"))
    assert rankings.query_ids == ["q1"]
    with pytest.raises(FormatError, match="no such column"):
        Rankings.from_table(lazy.select("no such column"))


ATTRIBUTES = {
    "list": lambda: ["de", "de", None, "de", None],
    "objects": lambda: pd.Series(["de", "de", math.nan, "de", math.nan], dtype=object),
    "NA": lambda: pd.Series(["de", "de", pd.NA, "de", pd.NA], dtype="string"),
    "categories": lambda: pd.Categorical(["de", "de", None, "de", None], ["at", "de", "fr"]),
    "arrow": lambda: pa.array(["de", "de", None, "de", None]),
    "dictionary": lambda: pa.array(["de", "de", None, "de", None]).dictionary_encode(),
    "polars": lambda: pl.Series(["de", "de", None, "de", None]),
    "polars, categories": lambda: pl.Series(["de", "de", None, "de", None], dtype=pl.Categorical),
    "mask": lambda: np.ma.array(["de"] * 5, mask=[0, 0, 1, 0, 1]),
}


@pytest.mark.parametrize("form", ATTRIBUTES)
def test_queries_without_a_value_are_a_slice(form):
    rankings = Rankings.from_table(PLAIN | {"land": ATTRIBUTES[form]()}, attributes=["land"])
    slices = rankings.evaluate("RR", by="land").slices.to_dict()
    assert {name: row["queries"] for name, row in slices.items()} == {"de": 1, "<missing>": 1}


def test_slices_are_limited():
    for count, code in ((100_000, ""), (100_001, "slices")):
        column = np.arange(count)
        table = {"qid": column, "rel": np.ones(count), "score": column, "user": column.astype(str)}
        rankings = Rankings.from_table(table, attributes=["user"])
        if code:
            is_refused(lambda made=rankings: made.evaluate("RR", by="user"), code)
        else:
            assert len(rankings.evaluate("RR", by="user").slices.to_dict()) == count


def test_an_attribute_that_has_no_text_is_refused():
    """Times without a zone and with one are other values, and no zone is guessed."""
    for odd in ({1, 2}, iter("abcde"), pa.array([{"a": 1}] * 5), [1, "a", 2, 3, 4], [object()] * 5):
        table = PLAIN | {"land": odd}
        is_refused(
            lambda table=table: Rankings.from_table(table, attributes=["land"]), "attribute_type"
        )
    times = pd.to_datetime(["2026-01-01"] * 5)
    for column, text in ((times, "2026-01-01"), (times.tz_localize("UTC"), "2026-01-01")):
        made = Rankings.from_table(PLAIN | {"day": column}, attributes=["day"])
        assert made.attribute("day")[0].startswith(text)
    assert made.attribute("day")[0].endswith("Z")


@pytest.mark.parametrize(
    ("module", "hint"),
    [
        ("pyspark.sql.classic.dataframe", ".toPandas()"),
        ("pyspark.sql.connect.dataframe", ".toPandas()"),
        ("dask.dataframe.dask_expr._collection", ".compute()"),
        ("modin.pandas.dataframe", ".modin.to_pandas()"),
        ("cudf.core.dataframe", ".to_pandas()"),
        ("elsewhere", "frame"),
    ],
)
def test_a_frame_that_is_elsewhere_is_refused_with_what_brings_it_here(module, hint):
    columns = {"columns": ["qid", "rel", "score"], "__module__": module}
    frame = type("DataFrame", (), columns)()
    for call in (
        lambda: Rankings.from_table(frame),
        lambda: rs.evaluate(frame, {"q": {"a": 1.0}}, "RR"),
        lambda: rs.evaluate({"q": {"a": 1}}, frame, "RR"),
        lambda: rs.read_qrels(frame),
    ):
        error = is_refused(call, "input_type")
        assert "DataFrame" in error.message
        assert hint in error.hint


@pytest.mark.parametrize(
    "odd",
    [
        None,
        5,
        [1, 2],
        np.zeros((3, 4)),
        np.rec.fromarrays([[1], [1], [2.0]], names="qid,rel,score"),
        pd.Series([1, 2]),
        pl.Series([1, 2]),
        pa.array([1, 2]),
        pa.chunked_array([[1, 2]]),
        pa.schema([]),
        pl.col("qid"),
        pd.DataFrame(PLAIN).groupby("qid"),
        object(),
    ],
    ids=lambda odd: type(odd).__name__,
)
def test_what_is_no_table_is_refused(odd):
    error = is_refused(lambda: Rankings.from_table(odd), "input_type")
    assert type(odd).__name__ in error.message


def test_documents_given_twice_are_resolved_as_asked():
    table = {"qid": ["q"] * 3, "doc": ["a", "b", "a"], "rel": [0, 1, 2], "score": [1.0, 2.0, 3.0]}
    assert is_refused(lambda: Rankings.from_table(table), "duplicate_doc").line == 3
    first = Rankings.from_table(table, duplicates="first")
    largest = Rankings.from_table(table, duplicates="max")
    assert (first.scores.tolist(), first.relevance.tolist()) == ([2, 1], [1, 0])
    assert (largest.scores.tolist(), largest.relevance.tolist()) == ([3, 2], [2, 1])
    assert first.evaluate("RR").diagnostics == {"duplicates_resolved": 1}


def test_a_type_that_arrow_does_not_know_is_refused_where_it_is_needed():
    frame = pl.DataFrame(PLAIN).with_columns(pl.lit(1).cast(pl.Int128).alias("relevance"))
    assert "Int128" in is_refused(lambda: Rankings.from_table(frame), "rel_not_number").message
    graded = frame.with_columns(pl.col("score").alias("grade"))
    rankings = Rankings.from_table(graded, relevance="grade")
    assert rankings.relevance.tolist() == rankings.scores.tolist()


def test_many_threads_may_read_and_evaluate_tables_at_once():
    shared = Rankings.from_table(pd.DataFrame(PLAIN), ties="doc_id")
    barrier = threading.Barrier(8)
    forms = ["pandas", "polars", "arrow", "F6 polars, lazy"]

    def work(number):
        barrier.wait()
        for _ in range(20):
            assert joined(OK[forms[number % 4]](PLAIN)) == EXPECTED
            assert shared.evaluate(MEASURES).to_dict() == EXPECTED

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
