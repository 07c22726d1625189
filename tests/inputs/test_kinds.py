"""Every kind of input that the documentation lists is read, and in the way that it says."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import rankscope as rs
from hypothesis import given
from hypothesis import strategies as st
from rankscope._inputs.numbers import to_numbers

from tests.generated import examples
from tests.inputs.kinds import KINDS, Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


COLUMNS = {
    "query_id": ["q", "q", "q"],
    "doc_id": ["a", "b", "c"],
    "relevance": [0.0, 3.0, 1.0],
    "score": [3.5, 2.5, 1.5],
}
GRADES, SCORES = [0, 3, 1], [3, 2, 1]
EXPECTED = rs.ndcg_score([GRADES], [SCORES])


def of_place(place: str) -> list[object]:
    """Return the kinds of a place, skipped where their library isn't installed."""
    return [
        pytest.param(kind, id=f"{kind.package or 'Python'}: {kind.what}")
        for kind in KINDS
        if kind.place == place
    ]


def make(kind: Kind, given: object) -> object:
    """Make an input, or skip where its library isn't installed."""
    if kind.package:
        pytest.importorskip(kind.package.replace("-", "_"))
    return kind.make(given)


@pytest.mark.parametrize("kind", of_place("lists"))
def test_documents_by_query_are_read(kind: Kind) -> None:
    run = {"q": make(kind, ["a", "b", "c"])}
    assert rs.evaluate({"q": {"b"}}, run, "RR")["RR"] == 0.5
    if "score" not in kind.what:
        assert rs.evaluate({"q": make(kind, ["b"])}, {"q": ["a", "b"]}, "RR")["RR"] == 0.5


@pytest.mark.parametrize("kind", of_place("tables"))
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # Hugging Face's, of its own code
def test_tables_are_read(kind: Kind) -> None:
    assert rs.evaluate(make(kind, COLUMNS), "nDCG")["nDCG"] == EXPECTED
    if "mapping" in kind.what:
        return  # as judgments, it is recognized by its names: see test_names_of_columns.py
    judged = {name: COLUMNS[name] for name in ("query_id", "doc_id", "relevance")}
    run = {name: COLUMNS[name] for name in ("query_id", "doc_id", "score")}
    found = rs.evaluate(make(kind, judged), make(kind, run), "nDCG")  # type: ignore[arg-type]
    assert found["nDCG"] == EXPECTED


@pytest.mark.parametrize("kind", of_place("arrays"))
def test_arrays_are_read(kind: Kind) -> None:
    grades, scores = make(kind, GRADES), make(kind, SCORES)
    rankings = rs.Rankings.from_groups(grades, scores, [3])
    assert rankings.evaluate("nDCG")["nDCG"] == EXPECTED
    assert rs.Rankings.from_lists([grades]).evaluate("nDCG")["nDCG"] == EXPECTED


def short_floats() -> Sequence[object]:
    """Return arrays of numbers that NumPy has no type for, where their libraries are installed."""
    made: list[object] = []
    for name, kinds in {
        "torch": ["bfloat16", "float16", "float8_e4m3fn", "float8_e5m2"],
        "jax.numpy": ["bfloat16", "float16", "float8_e4m3fn", "int4", "uint4"],
    }.items():
        made += [pytest.param(name, kind, id=f"{name}.{kind}") for kind in kinds]
    return made


@pytest.mark.parametrize(("name", "kind"), short_floats())
def test_short_numbers_keep_their_values(name: str, kind: str) -> None:
    pytest.importorskip(name.partition(".")[0])
    library = import_module(name)
    dtype = getattr(library, kind)
    make = library.tensor if name == "torch" else library.array
    held = (
        make([0.5 if "float" in kind else 5, 3, 1]).astype(dtype)
        if name != "torch"
        else make([0.5, 3, 1]).to(dtype)
    )
    expected = [0.5 if "float" in kind else 5, 3, 1]
    assert to_numbers(held, "scores", dimensions=(1,)).tolist() == expected
    assert rs.ndcg([held], k=2) == rs.ndcg([expected], k=2)
    one = held[0]
    found = rs.evaluate({"q": {"d": one}}, {"q": {"d": one}}, "DCG@1")
    assert found["DCG@1"] == expected[0]


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
