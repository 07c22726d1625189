"""Judgments on a scale that makes every judged document relevant are noted, wherever they come."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import pytest
import rankscope as rs
from rankscope import AP, P, nDCG

from tests.cli.command import run

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

STARS = {"q1": {"d1": 5, "d2": 1}, "q2": {"d3": 1, "d4": 3}}
SHOWN = {"q1": {"d2": 2.0, "d1": 1.0}, "q2": {"d3": 2.0, "d4": 1.0}}
ROWS = [(q, d, grade, SHOWN[q][d]) for q, docs in STARS.items() for d, grade in docs.items()]
TABLE = pd.DataFrame(ROWS, columns=["query_id", "doc_id", "relevance", "score"])
JUDGES = pd.concat([TABLE.assign(judge=judge) for judge in ("a", "b")]).drop(columns="score")

WAYS: dict[str, Callable[[Path], object]] = {
    "evaluate": lambda _: rs.evaluate(STARS, SHOWN, "P@2"),
    "several runs": lambda _: rs.evaluate(STARS, {"a": SHOWN, "b": SHOWN}, "P@2")["a"],
    "a convention": lambda _: rs.evaluate(STARS, SHOWN, "P@2", convention="ranx"),
    "samples": lambda _: rs.evaluate_samples(STARS, [SHOWN, SHOWN], "EEL"),
    "compare": lambda _: rs.compare(STARS, {"a": SHOWN, "b": SHOWN}, "P@2"),
    "a table": lambda _: rs.evaluate(TABLE, "P@2"),
    "a stream": lambda path: rs.evaluate(write(TABLE, path), "P@2"),
    "scattered rows": lambda path: rs.evaluate(write(TABLE.iloc[[0, 2, 1, 3]], path), "P@2"),
    "rankings": lambda _: rs.Rankings.from_table(TABLE).evaluate("P@2"),
    "arrays": lambda _: rs.Rankings.from_arrays([[5, 1]], [[1.0, 2.0]]).evaluate("P@2"),
}


def write(table: pd.DataFrame, path: Path) -> str:
    table.to_csv(path / "log.csv", index=False)
    return str(path / "log.csv")


def notes_of(found: object) -> list[str]:
    return [str(note) for note in found.notes if note.code == "all_relevant"]  # type: ignore[attr-defined]


@pytest.mark.parametrize("way", WAYS)
def test_a_scale_from_1_on_is_noted_for_binary_measures(way: str, tmp_path: Path) -> None:
    (note,) = notes_of(WAYS[way](tmp_path))
    name = "EEL" if way == "samples" else "P@2"
    example = "EEL(rel=4)" if way == "samples" else "P(rel=4)@2"
    assert note == (
        f"grades are from 1 to 5, so every judged document is relevant for {name}; "
        f"set rel, as in {example} [all_relevant]"
    )


def test_the_measures_of_one_result_are_one_note() -> None:
    (note,) = notes_of(rs.evaluate(STARS, SHOWN, [nDCG, AP, P(rel=2) @ 2, P @ 2]))
    assert "relevant for AP, P@2; set rel, as in AP(rel=4)" in note


@pytest.mark.parametrize("measure", [P(rel=4) @ 2, P(rel=0.5) @ 2, nDCG @ 10])
def test_a_measure_with_rel_or_gains_has_no_such_note(measure: rs.Measure) -> None:
    assert notes_of(rs.evaluate(STARS, SHOWN, measure)) == []


@pytest.mark.parametrize("grades", [(0, 1, 2), (0, 5), (1, 1), (1, 2), (-1, 3), (0.5, 3)])
def test_usual_grades_have_no_such_note(grades: Sequence[float]) -> None:
    qrels = {"q1": {f"d{at}": grade for at, grade in enumerate(grades)}}
    assert notes_of(rs.evaluate(qrels, SHOWN, "P@2")) == []


@pytest.mark.parametrize(("highest", "rel"), [(3, 3), (4, 3), (5, 4), (10, 6)])
def test_the_example_is_the_upper_half_of_the_scale(highest: int, rel: int) -> None:
    qrels = {"q1": {"d1": 1, "d2": highest}}
    (note,) = notes_of(rs.evaluate(qrels, SHOWN, "RR"))
    assert f"from 1 to {highest}," in note
    assert f"RR(rel={rel})" in note


def test_grades_of_judges_are_noted() -> None:
    (note,) = notes_of(rs.evaluate_judges(JUDGES, SHOWN, "P@2", judge="judge"))
    assert "P(rel=4)@2" in note


def test_the_program_notes_it(tmp_path: Path) -> None:
    (tmp_path / "qrels.txt").write_text("q1 0 d1 5\nq1 0 d2 1\n")
    (tmp_path / "run.txt").write_text("q1 Q0 d2 1 2 r\nq1 Q0 d1 2 1 r\n")
    done = run("eval", "qrels.txt", "run.txt", "-m", "P@2", folder=str(tmp_path))
    assert b"P(rel=4)@2 [all_relevant]" in done.stderr


def test_a_measure_that_uses_grades_in_place_of_rel_is_not_noted() -> None:
    assert not notes_of(rs.evaluate(STARS, SHOWN, "RBP(graded=True,max_grade=5)"))
    assert notes_of(rs.evaluate(STARS, SHOWN, "RBP"))
