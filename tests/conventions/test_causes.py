"""Numbers of another level, cutoff, set of queries or depth, and chance matches among them."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import pytest
import rankscope as rs
from rankscope import AP, P, nDCG
from rankscope.reconciliation.causes import list_cutoffs, list_levels

from tests.trec import write_qrels, write_run

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from rankscope.reconciliation.result import Cause

QUERIES = 40


def judgments() -> dict[str, dict[str, int]]:
    """Grades 0 to 3; every ninth query has no relevant document, and query 39 is not retrieved."""
    return {
        f"q{q}": {
            f"d{d}": 0 if q % 9 == 8 else (q * 7 + d * d * 3 + q * d) % 11 % 4 for d in range(40)
        }
        for q in range(QUERIES)
    }


def retrieved() -> dict[str, dict[str, float]]:
    """Lists of 30 documents; two queries of the run are not judged."""
    queries = [q for q in range(QUERIES + 2) if q not in {39, 17, 30}]
    return {f"q{q}": {f"d{(d * 11 + q) % 40}": 100.0 - d for d in range(30)} for q in queries}


QRELS, RUN = judgments(), retrieved()


def causes(measure: rs.Measure, value: float) -> Sequence[Cause]:
    """The causes found for a number of seven digits."""
    found = rs.reconcile(QRELS, RUN, measure, got=f"{value:.7f}")
    assert found.matches == ()
    return found.causes


def test_another_level_is_found_first_with_its_command() -> None:
    first = causes(AP, rs.evaluate(QRELS, RUN, AP(rel=2))[AP(rel=2)])[0]
    assert first.changes == ("documents are relevant from grade 2",)
    assert first.measure == "AP(rel=2)"
    assert first.command == "rankscope eval QRELS RUN -m 'AP(rel=2)'"
    assert first.by_chance < 0.01


def test_a_cutoff_under_the_name_of_another_is_found() -> None:
    first = causes(P @ 10, rs.evaluate(QRELS, RUN, P @ 15)[P @ 15])[0]
    assert first.changes == ("the cutoff is 15 instead of 10",)
    whole = causes(AP @ 10, rs.evaluate(QRELS, RUN, AP)[AP])[0]
    assert whole.changes == ("the measure has no cutoff, instead of 10",)


@pytest.mark.parametrize(
    ("count", "says"),
    [
        (QUERIES + 2, "the mean is over the 42 queries of the judgments or the run"),
        (QUERIES - 3 + 2, "the mean is over the 39 queries of the run, judged or not"),
        (QUERIES + 5, "the sum of 40 queries is divided by 45"),
    ],
)
def test_another_number_of_queries_is_found(count: int, says: str) -> None:
    total = rs.evaluate(QRELS, RUN, nDCG @ 10)[nDCG @ 10] * QUERIES
    found = causes(nDCG @ 10, total / count)
    assert (says,) in [each.changes for each in found]
    (each,) = (each for each in found if each.changes == (says,))
    assert (each.queries, each.command) == (count, "")


def test_a_run_that_was_cut_is_found() -> None:
    cut = {query: dict(list(docs.items())[:20]) for query, docs in RUN.items()}
    value = rs.evaluate(QRELS, cut, nDCG)[nDCG]
    assert causes(nDCG, value)[0].changes == ("the run ends after 20 documents for each query",)


def test_two_causes_together_are_found() -> None:
    measure = AP(rel=2) @ 20
    both = causes(AP, rs.evaluate(QRELS, RUN, measure)[measure])
    assert [set(each.changes) for each in both] == [
        {"documents are relevant from grade 2", "the cutoff is 20"}
    ]
    value = rs.evaluate(QRELS, RUN, AP(rel=2), policy="missing=skip")[AP(rel=2)]
    found = [each for each in causes(AP, value) if each.measure == "AP(rel=2)"]
    assert [each.changes[1] for each in found] == [
        "the mean is over the 37 judged queries of the run"
    ]
    assert found[0].command.endswith("-m 'AP(rel=2)' --policy missing=skip")


def test_simpler_causes_come_first_and_later_ones_tried_more() -> None:
    value = rs.evaluate(QRELS, RUN, AP(rel=2))[AP(rel=2)]
    found = rs.reconcile(QRELS, RUN, AP, got=f"{value:.3f}").causes
    tried = [each.tried for each in found]
    assert len(tried) > 1
    assert tried == sorted(tried)


def test_fewer_digits_match_more_often_by_chance() -> None:
    value = rs.evaluate(QRELS, RUN, AP(rel=2))[AP(rel=2)]
    chances = [
        found[0].by_chance
        for places in (3, 4, 6)
        if (found := rs.reconcile(QRELS, RUN, AP, got=f"{value:.{places}f}").causes)
    ]
    assert chances == sorted(chances, reverse=True)
    assert len(set(chances)) == len(chances)


def test_the_value_of_each_query_decides() -> None:
    measure = AP(rel=2)
    evaluation = rs.evaluate(QRELS, RUN, measure)
    values = dict(zip(evaluation.query_ids, evaluation.per_query(measure).tolist(), strict=True))
    printed = {query: f"{value:.4f}" for query, value in values.items()}
    found = rs.reconcile(QRELS, RUN, AP, got=printed)
    assert found.got == "the values of 40 queries"
    assert {each.measure for each in found.causes} == {"AP(rel=2)"}
    assert found.causes[0].by_chance == 0
    printed["q0"] = "0.9999"
    assert rs.reconcile(QRELS, RUN, AP, got=printed).causes == ()
    assert "rankscope" in rs.reconcile(QRELS, RUN, measure, got={"q0": values["q0"]}).matches


def test_no_value_of_any_query_is_refused() -> None:
    with pytest.raises(rs.UsageError) as caught:
        rs.reconcile(QRELS, RUN, AP, got={})
    assert caught.value.code == "bad_parameter"


def test_levels_and_cutoffs_are_those_that_the_measure_has() -> None:
    assert list_levels(AP, [0, 1, 2, 3]) == [2, 3]
    assert list_levels(AP(rel=2), [0, 1, 2, 3]) == [1, 3]
    assert list_levels(nDCG, [0, 1, 2, 3]) == []
    assert list_cutoffs(P @ 10)[:3] == [9, 11, 5]
    assert None not in list_cutoffs(P @ 10)
    assert list_cutoffs(nDCG @ 1)[:2] == [None, 2]
    assert 0 not in list_cutoffs(nDCG @ 1)
    assert list_cutoffs(rs.Rprec) == []


def test_a_table_has_causes_too() -> None:
    rows = [(q, d, RUN[q][d], QRELS[q].get(d)) for q in QRELS if q in RUN for d in RUN[q]]
    columns = zip(*rows, strict=True)
    table = dict(zip(("qid", "doc", "score", "label"), map(list, columns), strict=True))
    value = rs.evaluate(table, P @ 15)[P @ 15]
    found = rs.reconcile(table, P @ 10, got=f"{value:.7f}")
    assert found.causes[0].changes == ("the cutoff is 15 instead of 10",)
    assert found.causes[0].command == "rankscope eval TABLE -m P@15"


def test_a_printed_command_gives_the_number(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from rankscope.cli import main  # noqa: PLC0415 - of this test only

    qrels, run = write_qrels(tmp_path / "the qrels", QRELS), write_run(tmp_path / "run", RUN)
    value = rs.evaluate(qrels, run, AP(rel=3))[AP(rel=3)]
    found = rs.reconcile(qrels, run, AP, got=f"{value:.6f}")
    assert found.causes[0].command in str(found)
    program, *words = shlex.split(found.causes[0].command)
    assert program == "rankscope"
    assert main(words) == 0
    assert f"{value:.4f}" in capsys.readouterr().out
