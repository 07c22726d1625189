"""Numbers and integer ids of dicts mean the same in every type of Python and NumPy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import rankscope as rs
from hypothesis import given
from hypothesis import strategies as st

from tests.generated import examples

if TYPE_CHECKING:
    from collections.abc import Callable

MEASURES = ["nDCG", "AP", "RR", "P@2"]
TYPES = ("f8", "f4", "f2", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1")
NUMBERS: list[Callable[[Any], Any]] = [int, float, *(np.dtype(name).type for name in TYPES)]
INTEGERS = [kind for kind in NUMBERS if kind is int or issubclass(kind, np.integer)]  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", NUMBERS)
@examples(50)
@given(
    grades=st.lists(st.integers(0, 3), min_size=1, max_size=8),
    scores=st.lists(st.integers(0, 4), min_size=8, max_size=8),
)
def test_numbers_have_the_values_of_floats(
    kind: Callable[[Any], Any], grades: list[int], scores: list[int]
) -> None:
    docs = [f"d{at}" for at in range(8)]
    qrels = {"q": dict(zip(docs, map(float, grades), strict=False))}
    run = {"q": dict(zip(docs, map(float, scores), strict=True))}
    expected = rs.evaluate(qrels, run, MEASURES)
    typed = [{doc: kind(number) for doc, number in side["q"].items()} for side in (qrels, run)]
    found = rs.evaluate({"q": typed[0]}, {"q": typed[1]}, MEASURES)
    assert found.to_dict() == expected.to_dict()


@pytest.mark.parametrize("kind", INTEGERS)
@examples(50)
@given(
    judged=st.dictionaries(st.integers(0, 12), st.integers(0, 3), min_size=1),
    run=st.dictionaries(st.integers(0, 12), st.integers(0, 2), min_size=1),
)
def test_integer_ids_are_those_of_their_texts(
    kind: Callable[[Any], Any], judged: dict[int, int], run: dict[int, int]
) -> None:
    expected, found = (
        rs.evaluate(
            *({"q": {spell(doc): one for doc, one in side.items()}} for side in (judged, run)),
            MEASURES,
        )
        for spell in (str, kind)
    )
    assert found.to_dict() == expected.to_dict()
