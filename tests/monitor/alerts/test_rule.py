"""Rules: what they may say, and what is refused."""

from __future__ import annotations

import json

import pytest
from rankscope import UsageError
from rankscope.monitor.alerts.rule import Rule, check_rule
from rankscope.monitor.definition.definition import define
from rankscope.monitor.events.limits import DAY
from rankscope.monitor.events.times import to_datetime
from rankscope.records import replace

from tests.monitor.alerts.world import CLICKS, CONFIGURATION, make_rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

RULES = [
    make_rule(),
    make_rule(since=None, model="m", slices=("device",), period="hour", webhook=False),
    make_rule(kind="threshold", tolerance=0.1, is_relative=True, needs="value", fewest=2),
]


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_a_rule_comes_back_from_its_json(rule: Rule) -> None:
    assert Rule.from_json(rule.to_json()) == rule
    assert Rule.from_dict(json.loads(json.dumps(rule.to_dict()))) == rule


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", ""),
        ("name", "a/b"),
        ("name", "a\\b"),
        ("name", "new"),
        ("name", ".."),
        ("name", " a"),
        ("name", "a\nb"),
        ("name", "\x1b[31m"),
        ("name", "a\u202eb"),
        ("name", "a" * 101),
        ("name", "\ud800"),
        ("name", 7),
        ("measure", ""),
        ("measure", ["RR@3"]),
        ("kind", "fall"),
        ("kind", []),
        ("model", 3),
        ("model", "\ud800"),
        ("model", "a\0"),
        ("slices", ["\ud800"]),
        ("slices", "device"),
        ("slices", ["device", "device"]),
        ("slices", [1]),
        ("slices", [""]),
        ("period", "week"),
        ("tolerance", -0.1),
        ("tolerance", float("nan")),
        ("tolerance", float("inf")),
        ("tolerance", "0.1"),
        ("tolerance", True),
        ("run_length", 1),
        ("run_length", float("inf")),
        ("fewest", 1),
        ("fewest", 2.5),
        ("needs", "all"),
        ("since", "yesterday"),
        ("since", "2026-11-21T00:00:00"),
        ("webhook", "yes"),
        ("is_relative", 1),
        ("wbehook", True),
        ("rule", None),
    ],
)
def test_what_is_no_rule_is_refused_by_its_field(field: str, value: object) -> None:
    given: dict[str, Any] = {"name": "quality", "measure": "RR@3", field: value}
    with pytest.raises(UsageError) as refused:
        Rule.from_dict(given)
    assert refused.value.code == "bad_rule"
    assert refused.value.message.startswith(field)


@pytest.mark.parametrize("given", [None, [], "x", {}, {"name": "a"}, {"measure": "RR@3"}])
def test_what_lacks_a_name_or_a_measure_is_refused(given: object) -> None:
    with pytest.raises(UsageError) as refused:
        Rule.from_dict(given)  # type: ignore[arg-type]  # what is no object is refused, too
    assert refused.value.code == "bad_rule"


def test_a_share_is_below_1() -> None:
    with pytest.raises(UsageError):
        make_rule(is_relative=True, tolerance=1.0)


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"measure": "nDCG@7"}, "measure"),
        ({"measure": "no such"}, "measure"),
        ({"slices": ("country",)}, "slices"),
    ],
)
def test_what_is_not_measured_is_refused(changes: dict[str, Any], field: str) -> None:
    with pytest.raises(UsageError) as refused:
        check_rule(make_rule(**changes), CONFIGURATION)
    assert refused.value.message.startswith(field)


def test_a_measure_has_one_name() -> None:
    assert check_rule(make_rule(measure="mrr@3"), CONFIGURATION).measure == "RR@3"


def test_a_drop_is_of_values_from_0_to_1() -> None:
    gains = define(measures="DCG@3", positive="click", window=CLICKS.window)
    configuration = replace(CONFIGURATION, definition=gains)
    with pytest.raises(UsageError) as refused:
        check_rule(make_rule(measure="DCG@3"), configuration)
    assert refused.value.code == "bad_rule"
    assert check_rule(make_rule(measure="DCG@3", kind="threshold"), configuration)


@pytest.mark.parametrize(
    ("change", "is_other"),
    [
        ({"webhook": False}, False),
        ({"name": "other"}, False),
        ({"tolerance": 0.5}, True),
        ({"measure": "nDCG@3"}, True),
        ({"slices": ("device",)}, True),
        ({"period": "hour"}, True),
        ({"since": to_datetime(DAY)}, True),
        ({"run_length": 7.0}, True),
    ],
)
def test_what_is_measured_is_told_from_what_is_not(change: dict[str, Any], is_other: bool) -> None:
    assert (replace(make_rule(), **change).digest != make_rule().digest) is is_other
