"""Whatever is passed, the error is one of rankscope's."""

from __future__ import annotations

import fractions
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import rankscope as rs

if TYPE_CHECKING:
    from collections.abc import Callable

QRELS, RUN = {"q": {"a": 1, "b": 0}}, {"q": {"a": 1.0, "b": 2.0}}
TABLE = {"query_id": [1], "doc_id": [1], "relevance": [1], "score": [1.0]}


class Refusing:
    """An array whose library can't give it to NumPy."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def __array__(self, dtype: object = None, *, copy: bool | None = None) -> np.ndarray:
        raise self._error


class RefusingDLPack:
    """An array whose library can't give its memory."""

    def __dlpack__(self, **settings: object) -> object:
        raise BufferError(settings)

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0


class OutOfMemory:
    """A table that does not fit into memory."""

    def __arrow_c_array__(self, requested_schema: object = None) -> object:
        raise pa.ArrowMemoryError("realloc")


NESTED: list[object] = []
NESTED.append(NESTED)

ODD: dict[str, Callable[[], object]] = {
    "nothing": lambda: None,
    "a number": lambda: 1.5,
    "a fraction": lambda: fractions.Fraction(1, 2),
    "a huge number": lambda: 10**400,
    "text": lambda: "x",
    "half a character": lambda: "\ud800",
    "bytes": lambda: b"x",
    "a set": lambda: {1},
    "a list in itself": lambda: NESTED,
    "a mapping of nothing": lambda: {"q": None},
    "a mapping of lists in lists": lambda: {"q": [[1]]},
    "an object": object,
    "a function": lambda: len,
    "an iterator": lambda: iter([1]),
    "an array of no dimension": lambda: np.array(1),
    "an array of three": lambda: np.zeros((2, 2, 2)),
    "an array of nothing": lambda: np.zeros((0, 3)),
    "complex numbers": lambda: np.array([1j]),
    "dates": lambda: np.array(["2026-01-01"], dtype="datetime64[D]"),
    "a frame of nothing": pd.DataFrame,
    "a frame of lists": lambda: pd.DataFrame({"user_id": [1], "item_id": [["a"]]}),
    "a column of pandas": lambda: pd.Series([1, 2]),
    "a frame of Polars": lambda: pl.DataFrame({"a": [[1]]}),
    "a column of Polars": lambda: pl.Series([None]),
    "a table of Arrow": lambda: pa.table({"query_id": [b"\xff"], "doc_id": [1], "rel": [1]}),
    "a buffer that is refused": lambda: Refusing(BufferError("BF16")),
    "a number that overflows": lambda: Refusing(OverflowError("too large")),
    "DLPack that is refused": RefusingDLPack,
    "a table out of memory": OutOfMemory,
}
WAYS: dict[str, Callable[[object], object]] = {
    "qrels": lambda odd: rs.evaluate(odd, RUN, "AP"),  # type: ignore[call-overload]
    "run": lambda odd: rs.evaluate(QRELS, odd, "AP"),  # type: ignore[call-overload]
    "measures": lambda odd: rs.evaluate(QRELS, RUN, odd),  # type: ignore[call-overload]
    "one table": lambda odd: rs.evaluate(odd, "AP"),  # type: ignore[call-overload]
    "columns": lambda odd: rs.evaluate(QRELS, RUN, "AP", query=odd),  # type: ignore[call-overload]
    "weights": lambda odd: rs.evaluate(QRELS, RUN, "AP", weights=odd),  # type: ignore[call-overload]
    "cluster": lambda odd: rs.evaluate(QRELS, RUN, "AP", interval=0.9, cluster=odd),  # type: ignore[call-overload]
    "table": lambda odd: rs.evaluate(odd, "AP"),
    "by": lambda odd: rs.evaluate(TABLE, "AP", by=odd),  # type: ignore[arg-type]
    "from_lists": lambda odd: rs.Rankings.from_lists(odd, ideal=None),  # type: ignore[arg-type]
    "grades": lambda odd: rs.Rankings.from_groups(odd, [1, 2], [2]),  # type: ignore[arg-type]
    "scores": lambda odd: rs.Rankings.from_groups([1, 0], odd, [2]),  # type: ignore[arg-type]
    "sizes": lambda odd: rs.Rankings.from_groups([1, 0], [1, 2], odd),  # type: ignore[arg-type]
    "ndcg": lambda odd: rs.ndcg(odd, k=1),  # type: ignore[arg-type]
    "ndcg_score": lambda odd: rs.ndcg_score(odd, [[1, 2]]),  # type: ignore[arg-type]
    "agreement": lambda odd: rs.agreement(RUN, odd),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("odd", ODD)
def test_an_odd_input_gives_a_result_or_a_typed_error(odd: str, way: str) -> None:
    try:
        WAYS[way](ODD[odd]())
    except rs.errors.RankscopeError as error:
        said = error.hint, error.code
    else:
        said = ("no error", "")  # an odd input can be a legal one in some ways
    assert said[0]
