"""Many rows are shared out or read a piece at a time, and give what they give as a whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest
import rankscope as rs
from rankscope import Rankings
from rankscope.errors import FormatError, InputError

from tests.refusals import refuses

if TYPE_CHECKING:
    from numpy.typing import NDArray


ROWS = 240_000
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


def draw(queries: str, grades: str, *, sort: bool = False) -> dict[str, NDArray[np.generic]]:
    rng = np.random.default_rng(5)
    query = rng.choice(QUERIES[queries], ROWS)
    query[-5:] = QUERIES[queries].max() + np.arange(5)  # seen by the last thread only
    scores = rng.permutation(ROWS) / 8
    return {
        "query": np.sort(query) if sort else query,
        "score": rng.choice(scores[: ROWS // 2], ROWS),  # every other one is there again
        "relevance": rng.choice(GRADES[grades], ROWS),
    }


def order(columns: dict[str, NDArray[np.generic]]) -> tuple[list[str], NDArray[np.intp]]:
    """The queries in first-seen order, and all rows by query, score and place."""
    values, first, code = np.unique(columns["query"], return_index=True, return_inverse=True)
    ranks = np.argsort(np.argsort(first))
    names = [str(value) for value in values[np.argsort(first)].tolist()]
    return names, np.lexsort((-columns["score"].astype(float), ranks[code]))


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("grades", GRADES)
@pytest.mark.parametrize("queries", QUERIES)
def test_columns_are_those_of_the_sorted_rows(
    queries: str, grades: str, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rankscope.settings.reading.count_threads", lambda _: threads)
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
def test_the_first_mistake_is_named_whoever_finds_it(
    column: str, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rankscope.settings.reading.count_threads", lambda _: threads)
    columns = draw("wide", "fractions")
    columns[column][[ROWS // 2 + 3, ROWS - 1]] = np.inf
    with pytest.raises(rs.FormatError) as caught:
        Rankings.from_table(pa.table(columns))
    assert caught.value.line == ROWS // 2 + 4


PIECE = 1 << 17
"""So many rows are read at once (`ROWS` in src/python/pieces.rs)."""
MEASURES = ["nDCG@10", "AP", "RR"]


def make_run(lengths: list[int]) -> pa.Table:
    """Return lists of so many documents, worst first, with texts of different lengths."""
    queries = np.repeat(np.arange(len(lengths)), lengths)
    docs = [f"d{'ü' * (row % 7)}{row}" for row in range(len(queries))]
    scores = np.random.default_rng(5).permutation(len(queries)) / 8.0
    texts = pa.array([f"q{query}" for query in queries])
    return pa.table({"query_id": texts, "doc_id": docs, "score": scores})


def judge(run: pa.Table) -> dict[str, dict[str, int]]:
    """Return grades for every third document, of all queries but the last."""
    judged: dict[str, dict[str, int]] = {}
    ids = zip(run["query_id"].to_pylist(), run["doc_id"].to_pylist(), strict=True)
    for row, (query, doc) in enumerate(ids):
        if row % 3 == 0:
            judged.setdefault(query, {})[doc] = row % 4
    judged.popitem()
    return judged


def replace(run: pa.Table, column: str, row: int, value: object) -> pa.Table:
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
def test_a_mistake_in_a_later_piece_has_its_row(
    column: str, value: object, *, is_twice: bool
) -> None:
    run = make_run([1000] * 140)
    if is_twice:
        run = replace(run, column, LATE - 1, value)
    with pytest.raises(InputError) as few:
        rs.evaluate(judge(run), replace(run, column, LATE, value).slice(LATE - 700, 1000), MEASURES)
    with refuses(InputError, few.value.code) as many:
        rs.evaluate(judge(run), replace(run, column, LATE, value), MEASURES)
    assert (many.value.line, few.value.line) == (LATE + 1, 701)


@pytest.mark.parametrize("offset", [-1, 1 << 30])
@pytest.mark.parametrize("row", [3, PIECE - 1, PIECE, PIECE + 700, 139_999])
def test_offsets_outside_of_the_text_are_refused(row: int, offset: int) -> None:
    run = make_run([1000] * 140)
    (docs,) = run["doc_id"].chunks
    _, starts, texts = docs.buffers()
    wrong = np.frombuffer(starts, dtype=np.int32).copy()
    wrong[row] = offset
    damaged = pa.StringArray.from_buffers(len(docs), pa.py_buffer(wrong), texts)
    with refuses(FormatError, "column_damaged"):
        rs.evaluate(judge(run), run.set_column(1, "doc_id", damaged), MEASURES)
