"""Runs of many rows are read a piece at a time, and give what they give as a whole."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
import rankscope as rs
from rankscope.errors import FormatError, InputError

from tests.refusals import refuses

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
