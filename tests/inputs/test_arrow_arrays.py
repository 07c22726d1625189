"""Arrays of Arrow become those of NumPy and back as PyArrow's own ways do it, which load pandas."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from rankscope._inputs.arrow import fill_nulls, fill_texts, of_array, to_array

pa = pytest.importorskip("pyarrow")

NUMBERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
NUMBERS += ["float32", "float64"]


def arrange(values: list[Any], kind: str) -> list[Any]:
    """The same values as an array, as the middle of one, and in chunks."""
    whole = pa.array(values, kind)
    padded = pa.array([None, *values, None], kind)
    pieces = pa.chunked_array([whole.slice(0, 1), whole.slice(1)], kind)
    return [whole, padded.slice(1, len(values)), pieces]


@pytest.mark.parametrize("kind", [*NUMBERS, "bool"])
@pytest.mark.parametrize("values", [[], [1], [1, 0, 1] * 7], ids=["none", "one", "many"])
def test_numbers_are_those_of_pyarrow(kind: str, values: list[int]) -> None:
    for array in arrange(list(map(bool, values)) if kind == "bool" else values, kind):
        found = to_array(array)
        assert found.tolist() == array.to_pylist()
        assert found.dtype == np.dtype(kind)


@pytest.mark.parametrize("kind", NUMBERS)
@pytest.mark.parametrize(
    "values", [[], [1, 0], [None], [None] * 9, [None, 1, None, 0, 1, None, 1, 1, 1, None]]
)
def test_nulls_are_filled_as_by_pyarrow(kind: str, values: list[int | None]) -> None:
    for filler in (0, 1):
        for array in arrange(values, kind):
            found = fill_nulls(array, filler)
            assert found.tolist() == array.fill_null(filler).to_pylist()
            assert found.dtype == np.dtype(kind)


def test_a_null_can_be_filled_with_nan() -> None:
    assert np.array_equal(
        fill_nulls(pa.array([0.5, None, 2.0]), np.nan), [0.5, np.nan, 2.0], equal_nan=True
    )


@pytest.mark.parametrize("text", ["", "none", "é\0"])
def test_missing_texts_are_filled_as_by_pyarrow(text: str) -> None:
    for array in arrange(["a", None, "", "b", None], "large_string"):
        assert fill_texts(array, text).equals(array.fill_null(text))


@pytest.mark.parametrize("kind", NUMBERS)
def test_numbers_of_numpy_are_those_of_pyarrow(kind: str) -> None:
    numbers = np.arange(9).astype(kind)
    for array in (numbers, numbers[::2], numbers[3:], numbers[:0]):
        assert of_array(array).equals(pa.array(array))
