"""Tables that are read in pieces or shared out give what they give as a whole."""

from __future__ import annotations

import random
from functools import partial

import duckdb
import narwhals
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pytest
import rankscope as rs
from rankscope import Rankings
from rankscope._evaluate import columns
from rankscope.errors import FormatError, InputError

from tests.files.limited import describe
from tests.refusals import refused, refuses
from tests.tabular import enter, write_table

MEASURES = ["nDCG@5", "AP", "RR", "P@3", "Judged@3", "NumRel"]


def make_log(seed, queries=60):
    choose = random.Random(seed)
    rows = [
        {
            "search_group_id": f"q{query}",
            "item_id": f"d{doc}",
            "gains": choose.choice([0, 0, 1, 2, None]),
            "score": choose.choice([0.25, 0.5, choose.random()]),
            "country": ["de", "at", None][query % 3],
        }
        for query in range(queries)
        for doc in choose.sample(range(50), choose.randint(1, 12))
    ]
    return pd.DataFrame(rows)


FORMS = ["parquet", "csv", "jsonl", "arrow"]


@pytest.fixture(params=[7, 1 << 18])
def rows_at_once(request, monkeypatch):
    monkeypatch.setattr(columns, "AT_ONCE", request.param)


@pytest.mark.usefixtures("rows_at_once")
@pytest.mark.parametrize(
    ("form", "policy"),
    [
        *((form, None) for form in FORMS),
        *((FORMS[0], f"aggregate={name}") for name in ("ratio_of_sums", "median")),
        (FORMS[-1], "empty=skip"),
    ],
)
def test_a_file_gives_what_its_frame_gives(form, policy, tmp_path):
    log = make_log(1)
    measures = "nDCG@5" if policy == "aggregate=ratio_of_sums" else MEASURES
    rankings = rs.Rankings.from_table(log, attributes=["country"])
    expected = rankings.evaluate(measures, policy=policy, by="country", interval=0.9)
    path = write_table(log, tmp_path / f"log.{form}")
    found = rs.evaluate(path, measures, policy=policy, by="country", interval=0.9)
    assert describe(found) == describe(expected)


@pytest.mark.usefixtures("rows_at_once")
@pytest.mark.parametrize("form", FORMS)
def test_queries_that_come_back_are_read_into_memory(form, tmp_path):
    log = make_log(2).sample(frac=1, random_state=3)
    expected = rs.Rankings.from_table(log).evaluate(MEASURES)
    path = write_table(log, tmp_path / f"log.{form}")
    assert describe(rs.evaluate(path, MEASURES)) == describe(expected)
    with pytest.raises(rs.errors.FormatError) as caught:
        rs.evaluate(path, MEASURES, assume_grouped=True)
    assert (caught.value.code, caught.value.file) == ("query_returns", str(path))


@pytest.mark.usefixtures("rows_at_once")
@pytest.mark.parametrize("ties", ["average", "doc_id", "worst"])
def test_ties_and_weights_are_those_of_the_frame(ties, tmp_path):
    log = make_log(5)
    rankings = rs.Rankings.from_table(log, ties=ties)
    weights = {query: 1 + len(query) * 0.25 for query in rankings.query_ids}
    expected = rankings.evaluate("nDCG@5", weights=weights)
    found = rs.evaluate(
        write_table(log, tmp_path / "log.csv"), "nDCG@5", policy=f"ties={ties}", weights=weights
    )
    assert dict(found) == dict(expected)


def test_gains_by_a_function_need_all_grades_and_get_them(tmp_path):
    log = make_log(6)
    measure = rs.nDCG(gain=lambda grade: grade**2) @ 5
    expected = rs.Rankings.from_table(log).evaluate(measure)
    found = rs.evaluate(write_table(log, tmp_path / "log.parquet"), measure)
    assert list(found.values()) == list(expected.values())


@pytest.mark.usefixtures("rows_at_once")
@pytest.mark.parametrize(
    ("column", "value", "code"),
    [
        ("score", float("inf"), "score_overflow"),
        ("score", None, "missing_score"),
        ("search_group_id", None, "missing_id"),
        ("country", "nowhere", "attribute_conflict"),
    ],
)
def test_a_mistake_is_where_it_stands_in_the_file(column, value, code, tmp_path):
    log = make_log(7)
    sizes = log.groupby("search_group_id", sort=False).size()
    row = next(at for at in range(100, len(log)) if sizes[log.search_group_id[at]] > 1)
    log[column] = log[column].astype(object)
    log.loc[row, column] = value
    path = write_table(log, tmp_path / "log.csv")
    with pytest.raises(rs.InputError) as caught:
        rs.evaluate(path, MEASURES, by="country")
    assert (caught.value.code, caught.value.file) == (code, str(path))
    # The header is the first line; a conflict shows in this row or in the one after it.
    assert caught.value.line in ({row + 2, row + 3} if column == "country" else {row + 2})


def test_gain_tables_are_checked_in_every_batch(tmp_path, monkeypatch):
    monkeypatch.setattr(columns, "AT_ONCE", 5)
    path = write_table(make_log(8), tmp_path / "log.csv")
    refused(lambda: rs.evaluate(path, rs.nDCG(gain=[0, 1]) @ 5), "gain_missing")


def test_progress_is_told_in_bytes(tmp_path):
    path = write_table(make_log(9), tmp_path / "log.csv")
    seen = []
    rs.evaluate(path, "RR", progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (path.stat().st_size, path.stat().st_size)


def test_labels_are_grades(tmp_path):
    log = b"qid,events,score\n1,click|view,0.1\n1,,0.9\n2,buy,0.5\n1,buy|click,0.7\n"
    positive = {"click": 1, "buy": 5}
    path = tmp_path / "log.csv"
    path.write_bytes(log)
    rankings = rs.Rankings.from_table(path, labels="events", positive=positive, separator="|")
    assert rankings.relevance.tolist() == [0, 6, 1, 5]
    for table in (path, rs.File(log, "csv"), pd.read_csv(path)):
        evaluation = rs.evaluate(table, MEASURES, labels="events", positive=positive, separator="|")
        found = {str(query): values for query, values in evaluation.to_dict().items()}
        assert found == rankings.evaluate(MEASURES).to_dict()  # a file has text


@pytest.mark.parametrize(
    "settings",
    [
        {"positive": "click"},
        {"unlabelled": None},
        {"labels": "events", "positive": "click", "assume_grouped": True},
        {"labels": "events", "positive": "click", "relevance": "score"},
    ],
)
def test_labels_that_do_not_fit_are_refused(settings):
    log = rs.File(b"qid,events,score\n1,click,0.1\n", "csv")
    with pytest.raises(rs.UsageError):
        rs.evaluate(log, "RR", **settings)


ROWS = 12_000
OF_BATCHES = ["nDCG@10", "AP"]


def make_table(*, grouped):
    """Return 600 queries with 20 documents, 4 MB in memory."""
    rng = np.random.default_rng(2)
    rows = np.arange(ROWS) if grouped else rng.permutation(ROWS)
    return pa.table(
        {
            "query_id": rows // 20,
            "doc_id": pa.array([f"d{row}" for row in rows]),
            "relevance": rows * 7 % 4,
            "score": rows * 37 % 101 / 8,
            "country": pa.array(np.array(["de", "fr"])[rows // 20 % 2]),
            "unneeded": pa.array([{"a": 1}] * ROWS),
        }
    )


MAKE = {
    "polars": lambda table, _: pl.from_arrow(table).lazy(),
    "narwhals": lambda table, _: narwhals.from_native(pl.from_arrow(table)).lazy(),
    "reader": lambda table, _: table.to_reader(max_chunksize=1000),
    "duckdb": partial(enter, "duckdb"),
    "dataset": lambda table, folder: ds.dataset(enter("parquet", table, folder)),
}


@pytest.mark.parametrize("memory", ["1MiB", "1GiB", None])
@pytest.mark.parametrize("grouped", [True, False], ids=["grouped", "scattered"])
@pytest.mark.parametrize("library", MAKE)
def test_tables_and_runs_are_evaluated_as_in_memory(library, memory, tmp_path, *, grouped):
    table = make_table(grouped=grouped)
    expected = describe(rs.evaluate(table, OF_BATCHES, by="country"))
    given = MAKE[library](table, tmp_path)
    assert describe(rs.evaluate(given, OF_BATCHES, by="country", memory=memory)) == expected
    qrels, run = rs.read_qrels(table), table.drop(["relevance"])
    expected = describe(rs.evaluate(qrels, run, OF_BATCHES))
    given = MAKE[library](run, tmp_path)
    assert describe(rs.evaluate(qrels, given, OF_BATCHES, memory=memory)) == expected


@pytest.mark.parametrize("library", MAKE)
def test_a_wrong_row_is_named(library, tmp_path):
    table = replace(make_table(grouped=True), "score", 10_007, None)
    with pytest.raises(rs.errors.FormatError) as caught:
        rs.evaluate(MAKE[library](table, tmp_path), "RR")
    assert caught.value.line == 10_008


def test_what_a_library_can_not_compute_is_an_error():
    late = duckdb.sql(
        "select range // 5 as query_id, range as doc_id, 1 as relevance, "
        "case when range = 300000 then error('no such thing') else range end as score "
        "from range(400000)"
    )
    caught = refused(lambda: rs.evaluate(late, "RR"), "input_type")
    assert "no such thing" in str(caught)


MANY = 240_000
"""More than are left to one thread."""

QUERIES = {
    "close": np.arange(-500, 2500),
    "wide": np.arange(3000) * 3_000_000_019 - 2**40,
    "few": np.array([7]),
}
GRADES = {
    "levels": np.array([0, 1, 2, 3]),
    "many levels": np.arange(255),
    "negative": np.array([-1, 0, 2]),
    "fractions": np.array([0.0, 0.5, 2.0]),
    "unjudged": np.array([np.nan, 0.0, 1.0]),
    "large": np.array([0, 255, 1000]),
}


def draw(queries, grades, *, sort=False):
    rng = np.random.default_rng(5)
    query = rng.choice(QUERIES[queries], MANY)
    query[-5:] = QUERIES[queries].max() + np.arange(5)  # seen by the last thread only
    scores = rng.permutation(MANY) / 8
    return {
        "query": np.sort(query) if sort else query,
        "score": rng.choice(scores[: MANY // 2], MANY),  # every other one is there again
        "relevance": rng.choice(GRADES[grades], MANY),
    }


def order(columns):
    """The queries in first-seen order, and all rows by query, score and place."""
    values, first, code = np.unique(columns["query"], return_index=True, return_inverse=True)
    ranks = np.argsort(np.argsort(first))
    names = [str(value) for value in values[np.argsort(first)].tolist()]
    return names, np.lexsort((-columns["score"].astype(float), ranks[code]))


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("grades", GRADES)
@pytest.mark.parametrize("queries", QUERIES)
def test_columns_are_those_of_the_sorted_rows(queries, grades, threads, monkeypatch):
    monkeypatch.setattr("rankscope._settings.count_threads", lambda _: threads)
    columns = draw(queries, grades, sort=threads == 5)
    rankings = Rankings.from_table(pa.table(columns), ties="input")
    names, rows = order(columns)
    assert rankings.query_texts == names
    np.testing.assert_array_equal(rankings.relevance, columns["relevance"][rows])
    np.testing.assert_array_equal(rankings.scores, columns["score"][rows])
    best = np.sort(columns["relevance"][~np.isnan(columns["relevance"].astype(float))])[-1]
    assert rankings.evaluate("DCG@1", threads=threads).counts.queries == len(names)
    assert rankings.ideal.max() == best


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("column", ["score", "relevance"])
def test_the_first_mistake_is_named_for_any_number_of_threads(column, threads, monkeypatch):
    monkeypatch.setattr("rankscope._settings.count_threads", lambda _: threads)
    columns = draw("wide", "fractions")
    columns[column][[MANY // 2 + 3, MANY - 1]] = np.inf
    with pytest.raises(rs.errors.FormatError) as caught:
        Rankings.from_table(pa.table(columns))
    assert caught.value.line == MANY // 2 + 4


PIECE = 1 << 17
"""So many rows are read at once (`MANY` in crates/python/src/pieces.rs)."""
SHARED = ["nDCG@10", "AP", "RR"]


def make_run(lengths):
    """Return lists of so many documents, worst first, with texts of different lengths."""
    queries = np.repeat(np.arange(len(lengths)), lengths)
    docs = [f"d{'ü' * (row % 7)}{row}" for row in range(len(queries))]
    scores = np.random.default_rng(5).permutation(len(queries)) / 8.0
    texts = pa.array([f"q{query}" for query in queries])
    return pa.table({"query_id": texts, "doc_id": docs, "score": scores})


def judge(run):
    """Return grades for every third document, of all queries but the last."""
    judged = {}
    ids = zip(run["query_id"].to_pylist(), run["doc_id"].to_pylist(), strict=True)
    for row, (query, doc) in enumerate(ids):
        if row % 3 == 0:
            judged.setdefault(query, {})[doc] = row % 4
    judged.popitem()
    return judged


def replace(run, column, row, value):
    """Return a run with another value in a row."""
    values = run[column].to_pylist()
    values[row] = value
    return run.set_column(run.column_names.index(column), column, pa.array(values))


LATE = PIECE + 700
MISTAKES = {
    "a score": ("score", float("nan"), False),
    "an empty document": ("doc_id", "", False),
    "a document again": ("doc_id", "d0again", True),
}


@pytest.mark.parametrize(("column", "value", "is_twice"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_in_a_later_piece_has_its_row(column, value, *, is_twice):
    run = make_run([1000] * 140)
    if is_twice:
        run = replace(run, column, LATE - 1, value)
    with pytest.raises(InputError) as few:
        rs.evaluate(judge(run), replace(run, column, LATE, value).slice(LATE - 700, 1000), SHARED)
    with refuses(InputError, few.value.code) as many:
        rs.evaluate(judge(run), replace(run, column, LATE, value), SHARED)
    assert (many.value.line, few.value.line) == (LATE + 1, 701)


@pytest.mark.parametrize("offset", [-1, 1 << 30])
@pytest.mark.parametrize("row", [3, PIECE - 1, PIECE, PIECE + 700, 139_999])
def test_offsets_outside_of_the_text_are_refused(row, offset):
    run = make_run([1000] * 140)
    (docs,) = run["doc_id"].chunks
    _, starts, texts = docs.buffers()
    wrong = np.frombuffer(starts, dtype=np.int32).copy()
    wrong[row] = offset
    damaged = pa.StringArray.from_buffers(len(docs), pa.py_buffer(wrong), texts)
    with refuses(FormatError, "column_damaged"):
        rs.evaluate(judge(run), run.set_column(1, "doc_id", damaged), SHARED)
