"""Input that somebody changes while it is evaluated."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import rankscope as rs

if TYPE_CHECKING:
    from collections.abc import Callable

QUERIES = 6_000
DOCS = 64
"""Together, more numbers than the core holds before it calls a measure in Python (2^18), which it
therefore does while lists remain to be read."""
RUN = {f"q{query}": {f"d{doc}": float(doc) for doc in range(DOCS)} for query in range(QUERIES)}
FEW = dict(list(RUN.items())[:100])
"""Rows are read before anything is evaluated, however many they are."""
QRELS = {query: {f"d{DOCS - 1}": 1} for query in RUN}

Given = dict[str, Any] | list[Any]

CONTAINERS: dict[str, Callable[[], tuple[Given, Given]]] = {
    "dicts of dicts": lambda: (
        {query: dict(docs) for query, docs in QRELS.items()},
        {query: dict(docs) for query, docs in RUN.items()},
    ),
    "dicts of lists": lambda: (
        {query: list(docs) for query, docs in QRELS.items()},
        {query: [f"d{doc}" for doc in reversed(range(DOCS))] for query in RUN},
    ),
    "lists of rows": lambda: (
        [[query, doc, grade] for query, docs in FEW.items() for doc, grade in QRELS[query].items()],
        [[query, doc, score] for query, docs in FEW.items() for doc, score in docs.items()],
    ),
}


def clear(given: Given) -> None:
    for inner in list(given.values() if isinstance(given, dict) else given):
        inner.clear()
    given.clear()


@pytest.mark.parametrize("name", CONTAINERS)
def test_a_measure_in_python_may_clear_what_is_evaluated(name: str) -> None:
    qrels, run = CONTAINERS[name]()
    calls = 0

    def clear_and_look(grades: np.ndarray, _ideal: np.ndarray) -> float:
        nonlocal calls
        calls += 1
        clear(qrels)
        clear(run)
        return float(grades[0])

    measure = rs.measure("ClearAndLook", clear_and_look, better="higher")
    found = rs.evaluate(qrels, run, ["P@1", measure])
    assert (found["P@1"], found[measure]) == (1.0, 1.0)
    assert calls == (len(FEW) if name == "lists of rows" else QUERIES)
    assert not qrels
    assert not run


ROWS = 20_000
GROUPS = 200


def table_of(columns: dict[str, np.ndarray], kind: str) -> Any:  # noqa: ANN401 - of several libraries
    """The columns as a table that shares their memory."""
    if kind == "pandas":
        return pd.DataFrame(columns, copy=False)
    if kind == "Arrow":
        return pa.table(
            {
                name: pa.Array.from_buffers(
                    pa.from_numpy_dtype(column.dtype),
                    len(column),
                    [None, pa.py_buffer(column)],
                )
                for name, column in columns.items()
            }
        )
    return columns


CALLS: dict[str, Callable[[Any], Any]] = {
    "evaluate": lambda table: rs.evaluate(table, table, ["RR", "nDCG@10"]),
    "evaluate_table": lambda table: rs.evaluate(table, ["RR", "nDCG@10"]),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("kind", ["NumPy", "pandas", "Arrow"])
@pytest.mark.parametrize("number", [np.float64, np.float32, np.int32])
def test_a_table_may_be_written_to_while_it_is_read(call: str, kind: str, number: type) -> None:
    """A value is between 0 and 1, whichever numbers it is computed of, or the rows are refused."""
    documents = np.arange(ROWS)
    columns = {
        "query_id": documents // (ROWS // GROUPS),
        "doc_id": documents.copy(),
        "relevance": np.ones(ROWS, number),
        "score": np.ones(ROWS, number),
    }
    table = table_of(columns, kind)
    is_over = threading.Event()

    def write() -> None:
        generator = np.random.default_rng(8)
        queries = columns["query_id"].copy()
        while not is_over.is_set():
            columns["query_id"][:] = generator.permutation(queries)
            columns["doc_id"][:] = documents * generator.choice([1, 1 << 40])
            columns["relevance"][:] = generator.integers(0, 400, ROWS)
            columns["score"][:] = generator.integers(-5, 5, ROWS)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(4):
            try:
                found = CALLS[call](table)
            except rs.errors.RankscopeError as error:
                assert error.code  # noqa: PT017 - either outcome is right
                continue
            assert 0 <= found["RR"] <= 1
            assert 0 <= found["nDCG@10"] <= 1 + 1e-12
    finally:
        is_over.set()
        writer.join()
