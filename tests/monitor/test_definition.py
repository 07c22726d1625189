"""Definitions: one text and one digest for what is one, and refusals of what cannot be summed."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest
from rankscope import AP, ERR, GMAP, MeasureError, NumRet, Policy, UsageError, nDCG
from rankscope.monitor.definition.definition import Definition, check_comparable, define

from tests.refusals import refuses

CLICKS: dict[str, Any] = {"positive": "click", "window": 3600}


def test_the_digest_is_that_of_the_text() -> None:
    definition = define(**CLICKS)
    assert definition.hash == hashlib.sha256(definition.to_json().encode()).hexdigest()
    assert json.loads(definition.to_json()) == definition.to_dict()


@pytest.mark.parametrize(
    "said",
    [
        {"positive": {"click": 1.0}},
        {"positive": ["click"]},
        {"measures": ["nDCG@1", "nDCG@5", "ndcg_cut_10"]},
        {"policy": "empty=skip"},
        {"policy": Policy(ties="input", empty="skip")},
        {"unlabelled": 0},
    ],
)
def test_what_means_the_same_has_one_digest(said: dict[str, Any]) -> None:
    assert define(**CLICKS | said).hash == define(**CLICKS).hash


@pytest.mark.parametrize(
    "said",
    [
        {"positive": {"click": 2}},
        {"positive": ["click", "buy"]},
        {"measures": ["nDCG@1"]},
        {"measures": [nDCG(gain="exp2") @ 1, nDCG @ 5, nDCG @ 10]},
        {"policy": "empty=zero"},
        {"unlabelled": None},
        {"combine": "max"},
        {"repeats": "once"},
        {"window": 3601},
        {"max_grade": 99},
    ],
)
def test_whatever_changes_a_value_changes_the_digest_and_is_not_compared(
    said: dict[str, Any],
) -> None:
    one, other = define(**CLICKS), define(**CLICKS | said)
    assert one.hash != other.hash
    assert Definition.from_json(other.to_json()) == other
    with refuses(UsageError, "other_definition"):
        check_comparable(one, other)


def test_values_of_one_measure_compare_whatever_is_measured_beside_it() -> None:
    few, many = define(**CLICKS, measures="nDCG@5"), define(**CLICKS)
    check_comparable(few.only("nDCG@5"), many.only("nDCG@5"))
    with refuses(UsageError, "bad_definition"):
        many.only("nDCG@7")


REFUSED: dict[str, list[object]] = {
    "measures": [
        *(nDCG, nDCG @ 1001, AP, GMAP, NumRet, ERR @ 10),
        nDCG(judged_only=True) @ 10,
        nDCG(gain=[0, 1, 3]) @ 10,
        nDCG(gain=lambda grade: grade) @ 10,
        nDCG(discount=lambda rank: 1 / rank) @ 10,
    ],
    "positive": ["\ud800", {"click": 1, "a\0": 2}, "a" * 129],
    "window": [0, 0.5, True],
    "max_grade": [0, float("inf"), float("nan")],
    "policy": [
        *("empty=error", "empty=nan", "ties=average", "unjudged=remove", "unjudged=0.5"),
        *("negative=error", "missing_gain=0", "aggregate=median"),
    ],
}


@pytest.mark.parametrize(
    "said", [{field: value} for field, values in REFUSED.items() for value in values]
)
def test_what_cannot_be_summed_over_events_to_come_is_refused(said: dict[str, Any]) -> None:
    with refuses(UsageError, "bad_definition"):
        define(**CLICKS | said)


def test_a_table_of_discounts_reaches_the_cutoff() -> None:
    short = nDCG(discount=[1, 0.5]) @ 3
    with pytest.raises(MeasureError):
        define(**CLICKS, measures=short)
    assert define(**CLICKS, measures=nDCG(discount=[1, 0.5, 0.25]) @ 3).depth == 3


def test_cutoffs_up_to_1_000_and_grades_up_to_that_of_the_measure_may_be_defined() -> None:
    assert define(**CLICKS, measures=nDCG @ 1000).depth == 1000
    assert define(**CLICKS, measures=ERR @ 10, max_grade=4).depth == 10


@pytest.mark.parametrize("text", ["", "[]", "{}", "null", '{"rule": 1}'])
def test_what_is_no_definition_is_refused(text: str) -> None:
    with refuses(UsageError, "bad_definition"):
        Definition.from_json(text)


def test_a_definition_of_another_rule_is_refused() -> None:
    later = define(**CLICKS).to_dict() | {"rule": 2}
    with refuses(UsageError, "other_definition"):
        Definition.from_json(json.dumps(later))
