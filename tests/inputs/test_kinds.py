"""Every kind of input that the documentation lists is read, and in the way that it says."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

import pytest
import rankscope as rs
from rankscope._inputs.numbers import to_numbers

from tests.inputs.kinds import KINDS, Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

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
