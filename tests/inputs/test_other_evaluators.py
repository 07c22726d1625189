"""Judgments and runs of other libraries for evaluation are taken as they are."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any

import ir_measures
import pytest
import rankscope as rs

from tests.refusals import refused

if TYPE_CHECKING:
    from collections.abc import Callable

QRELS = {"q1": {"a": 2, "b": 0, "c": 1}, "q2": {"x": 1}}
RUNS = {
    "old": {"q1": {"b": 0.9, "a": 0.8, "z": 0.7}, "q2": {"x": 0.5}},
    "new": {"q1": {"a": 0.9, "c": 0.8}, "q2": {"y": 0.6, "x": 0.5}},
}


def of_ranx(name: str) -> Callable[[Any], Any]:
    """Return a class of ranx, or one with the same methods in a module of the same name."""
    ranx: Any = ModuleType("ranx.data_structures")
    try:
        import ranx  # noqa: PLC0415 - it is in `make test-integrations`
    except ModuleNotFoundError:

        class OfRanx:
            """What is read of the classes of ranx."""

            def __init__(self, given: dict[str, dict[str, float]]) -> None:
                self.given = given

            def keys(self) -> Any:  # noqa: ANN401 - a view
                return self.given.keys()

            def __len__(self) -> int:
                return len(self.given)

            def __getitem__(self, query: str) -> dict[str, float]:
                return self.given[query]

            def to_dict(self) -> dict[str, dict[str, float]]:
                return {query: dict(documents) for query, documents in self.given.items()}

        OfRanx.__module__ = ranx.__name__
        return OfRanx
    return getattr(ranx, name)


def rows_of(kind: Callable[..., Any]) -> Callable[[dict[str, dict[str, float]]], list[Any]]:
    """Return what makes rows of dictionaries."""
    return lambda given: [
        kind(query, doc, value)
        for query, documents in given.items()
        for doc, value in documents.items()
    ]


LIBRARIES = {
    "ranx": (of_ranx("Qrels"), of_ranx("Run")),
    "ir_measures": (rows_of(ir_measures.Qrel), rows_of(ir_measures.ScoredDoc)),
}


@pytest.fixture(params=LIBRARIES)
def library(request: pytest.FixtureRequest) -> tuple[Callable[[Any], Any], Callable[[Any], Any]]:
    return LIBRARIES[request.param]


def test_evaluate_takes_them(library: tuple[Callable[[Any], Any], Callable[[Any], Any]]) -> None:
    make_qrels, make_run = library
    expected = rs.evaluate(QRELS, RUNS["old"], ["nDCG@10", "AP"])
    found = rs.evaluate(make_qrels(QRELS), make_run(RUNS["old"]), ["nDCG@10", "AP"])
    assert found.to_dict() == expected.to_dict()
    once = rs.read_qrels(make_qrels(QRELS))
    assert rs.evaluate(once, RUNS["old"], ["nDCG@10", "AP"]).to_dict() == expected.to_dict()


def test_evaluate_takes_several_of_them(
    library: tuple[Callable[[Any], Any], Callable[[Any], Any]],
) -> None:
    make_qrels, make_run = library
    runs = {name: make_run(run) for name, run in RUNS.items()}
    found = rs.evaluate(make_qrels(QRELS), runs, "AP")
    expected = rs.evaluate(QRELS, RUNS, "AP")
    assert {name: found[name].to_dict() for name in runs} == {
        name: expected[name].to_dict() for name in runs
    }


def test_compare_takes_them(library: tuple[Callable[[Any], Any], Callable[[Any], Any]]) -> None:
    make_qrels, make_run = library
    runs = {name: make_run(run) for name, run in RUNS.items()}
    found = rs.compare(make_qrels(QRELS), runs, ["nDCG@10", "AP"])
    expected = rs.compare(QRELS, RUNS, ["nDCG@10", "AP"])
    assert found.to_dict() == expected.to_dict()
    assert str(found) == str(expected)


def test_a_class_of_another_module_is_not_taken_for_one_of_ranx() -> None:
    kind = of_ranx("Run")
    other = type("Run", (), {"to_dict": lambda _: RUNS["old"]})
    refused(lambda: rs.evaluate(QRELS, other(), "AP"), "input_type", "expected a path")
    assert kind is not other
