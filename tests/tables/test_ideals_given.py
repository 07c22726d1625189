"""An ideal that is given beside a list has the grades of the list, or is refused where it shows."""

from __future__ import annotations

import math

import pytest
import rankscope as rs
from rankscope import Rankings, nDCG

from tests.refusals import refused, refuses

LOG2_3 = math.log2(3)


@pytest.mark.parametrize(
    ("rel", "ideal", "k"),
    [([1, 2], [1, 1], None), ([2], [1], 1), ([3, 3], [3], 2), ([0, 0, 1], [0], None)],
)
def test_an_ideal_that_its_list_beats_is_refused(
    rel: list[int], ideal: list[int], k: int | None
) -> None:
    measure = nDCG if k is None else nDCG @ k
    for location, call in (
        ("ideal", lambda: rs.ndcg(rel, k, ideal=ideal)),
        ("ideal:2", lambda: rs.ndcg([[1], rel], k, ideal=[[1], ideal])),
        ("ideal:2", lambda: Rankings.from_lists([[1], rel], ideal=[[1], ideal]).evaluate(measure)),
    ):
        with pytest.raises(rs.InputError) as caught:
            call()
        assert (caught.value.code, caught.value.location) == ("ideal_mismatch", location)


@pytest.mark.parametrize("measure", ["AP", "R@2", "AP@2", "nDCG(gain='exp2')"])
def test_no_measure_of_at_most_1_has_more_by_an_ideal(measure: str) -> None:
    rankings = Rankings.from_lists([[1, 1]], ideal=[[1]])
    with refuses(rs.InputError, "ideal_mismatch", match="a list that is better"):
        rankings.evaluate(measure)


def test_an_ideal_may_be_shorter_than_a_list_that_does_not_beat_it() -> None:
    assert rs.ndcg([3, 1, 2, 0], 2, ideal=[3, 2]) == (3 + 1 / LOG2_3) / (3 + 2 / LOG2_3)
    assert rs.ndcg([2, 1], ideal=[3]) == (2 + 1 / LOG2_3) / 3
    assert rs.ndcg([1, 2], 1, ideal=[2]) == 1 / 2
    assert rs.ndcg([0, 0], ideal=[0]) == 0
    assert rs.ndcg([0, 1], 1, ideal=[0]) == 0
    assert rs.ndcg([-1, 0], ideal=[0], negative="gain") == 0


@pytest.mark.parametrize("gain", [lambda grade: grade, [0, 1, 2, 3]], ids=["function", "table"])
def test_a_grade_that_the_ideal_lacks_has_its_gain(gain: object) -> None:
    settings = {"gain": gain}
    assert rs.ndcg([2, 1], ideal=[3], **settings) == (2 + 1 / LOG2_3) / 3
    assert rs.explain([2, 1], ideal=[3], **settings).value == (2 + 1 / LOG2_3) / 3


def test_documents_that_are_not_relevant_need_not_be_in_the_ideal() -> None:
    rankings = Rankings.from_lists([[1, 0, 1]], ideal=[[1, 1, 1]])
    found = rankings.evaluate(["AP", "IPrec@0.5", "P@3", "RR"])
    assert [*found.values()] == [(1 + 2 / 3) / 3, 2 / 3, 2 / 3, 1]


def test_a_grade_of_a_list_without_a_gain_is_refused_whatever_the_ideal() -> None:
    for call in (rs.ndcg, rs.explain):
        with refuses(rs.RankscopeError, "gain_missing", match="found none for 2"):
            call([2, 1], ideal=[3], gain={1: 1, 3: 3})
    refused(lambda: rs.ndcg([-2, 1], ideal=[3], negative="error"), "negative_gain")


def test_what_is_above_1_by_its_definition_is_no_mistake() -> None:
    graded = Rankings.from_lists([[3, 3]], ideal=[[3, 3]])
    assert graded.evaluate(nDCG(ideal="slots") @ 2)[nDCG(ideal="slots") @ 2] == pytest.approx(3)
    rising = nDCG(discount=[1, 2]) @ 2
    assert Rankings.from_lists([[1, 2]], ideal=[[2, 1]]).evaluate(rising)[rising] == 5 / 4
    unjudged = Rankings.from_lists([[math.nan, 1]], ideal=[[1]])
    value = unjudged.evaluate(nDCG, policy="unjudged=2")[nDCG]
    assert value == pytest.approx(2 + 1 / LOG2_3)
