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


@pytest.mark.parametrize("library", LIBRARIES)
def test_they_are_judgments_and_runs(library: str) -> None:
    make_qrels, make_run = LIBRARIES[library]
    measures = ["nDCG@10", "AP"]
    runs = {name: make_run(run) for name, run in RUNS.items()}
    expected = rs.evaluate(QRELS, RUNS, measures)
    for qrels in (make_qrels(QRELS), rs.read_qrels(make_qrels(QRELS))):
        one = rs.evaluate(qrels, make_run(RUNS["old"]), measures)
        assert one.to_dict() == expected["old"].to_dict()
        found = rs.evaluate(qrels, runs, measures)
        assert [of.to_dict() for of in found.values()] == [of.to_dict() for of in expected.values()]
    assert str(rs.compare(make_qrels(QRELS), runs, measures)) == str(
        rs.compare(QRELS, RUNS, measures)
    )


def test_a_class_of_another_module_is_not_taken_for_one_of_ranx() -> None:
    kind = of_ranx("Run")
    other = type("Run", (), {"to_dict": lambda _: RUNS["old"]})
    refused(lambda: rs.evaluate(QRELS, other(), "AP"), "input_type", "expected a path")
    assert kind is not other
