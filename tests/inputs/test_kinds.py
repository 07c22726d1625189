"""Every kind of input that the documentation lists is read, and in the way that it says."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

import numpy as np
import pytest
import rankscope as rs
from rankscope._inputs.numbers import to_numbers
from rankscope._inputs.tables import read_table

from tests.inputs.kinds import COPIED, IN_PLACE, KINDS, Kind

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


@pytest.mark.parametrize(
    "kind", [each for each in KINDS if each.place == "tables" and each.read == IN_PLACE]
)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # as above
def test_numbers_of_tables_are_read_in_place(kind: Kind) -> None:
    """Reading twice gives the same memory, which a copy could not."""
    table = make(kind, COLUMNS)
    first, second = (read_table(table, {}) for _ in range(2))
    assert np.shares_memory(first.scores, second.scores)


@pytest.mark.parametrize("kind", of_place("arrays"))
def test_arrays_are_read(kind: Kind) -> None:
    grades, scores = make(kind, GRADES), make(kind, SCORES)
    rankings = rs.Rankings.from_groups(grades, scores, [3])
    assert rankings.evaluate("nDCG")["nDCG"] == EXPECTED
    assert rs.Rankings.from_lists([grades]).evaluate("nDCG")["nDCG"] == EXPECTED


@pytest.mark.parametrize("kind", of_place("arrays"))
def test_arrays_are_copied_where_the_table_says_so(kind: Kind) -> None:
    held = make(kind, SCORES)
    first, second = (to_numbers(held, "scores", dimensions=(1,)) for _ in range(2))  # type: ignore[arg-type]
    assert kind.read in {IN_PLACE, COPIED}
    assert np.shares_memory(first, second) == (kind.read == IN_PLACE)


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
