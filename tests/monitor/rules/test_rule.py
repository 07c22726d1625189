from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest
from rankscope import UsageError
from rankscope.monitor.definition.definition import define
from rankscope.monitor.events.limits import HOUR, MINUTE
from rankscope.monitor.rules.drop.rule import choose_ages, find_dimension
from rankscope.monitor.rules.kinds import Rule

from tests.monitor.rules.world import CLICKS, CONFIGURATION, make_rule
from tests.refusals import refuses, refuses_if

RULES = [
    make_rule(),
    make_rule(model="m", slices=("device",), period="hour", channels=("log",)),
    Rule(
        name="arrivals",
        kind="data",
        severity="critical",
        channels=(),
        remind=0.0,
        watches=("volume", "labels"),
    ),
    make_rule(measure="empty", slices=("device:country",)),
    make_rule(tolerance=0.1, is_relative=True),
]


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_a_rule_comes_back_from_its_json(rule):
    assert Rule.from_json(rule.to_json()) == rule
    assert Rule.from_dict(json.loads(json.dumps(rule.to_dict()))) == rule


REFUSED = {
    "name": ["", "a/b", "a\\b", "new", "..", " a", "a\nb", "\x1b[31m", "a\u202eb", "\ud800", 7],
    "measure": ["", ["RR@3"]],
    "kind": ["fall", []],
    "model": [3, "\ud800", "a\0"],
    "slices": [["\ud800"], "device", ["device", "device"], [1], [""]],
    "period": ["week"],
    "tolerance": [-0.1, float("nan"), float("inf"), "0.1", True],
    "false_alarms": [0.0, 1.0, float("nan")],
    "webhook": ["yes"],
    "severity": ["bad"],
    "channels": ["log", ["log", "log"], [""]],
    "remind": [float("nan"), True],
    "is_relative": [1],
    "wbehook": [True],
    "rule": [None],
}


@pytest.mark.parametrize(
    ("field", "value"), [(field, value) for field, values in REFUSED.items() for value in values]
)
def test_what_is_no_rule_is_refused_by_its_field(field, value):
    given = {"name": "quality", "measure": "RR@3", field: value}
    with pytest.raises(UsageError) as refused:
        Rule.from_dict(given)
    assert refused.value.code == "bad_rule"
    assert refused.value.message.startswith(field)


@pytest.mark.parametrize("given", [None, [], "x", {}, {"name": "a"}, {"measure": "RR@3"}])
def test_what_lacks_a_name_or_a_measure_is_refused(given):
    with refuses(UsageError, "bad_rule"):
        Rule.from_dict(given)


def test_a_share_is_below_1():
    with pytest.raises(UsageError):
        make_rule(is_relative=True, tolerance=1.0)


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"measure": "nDCG@7"}, "measure"),
        ({"measure": "no such"}, "measure"),
        ({"slices": ("country",)}, "slices"),
        ({"slices": ("device:country",)}, "slices"),
        ({"slices": ("device:device",)}, "slices"),
    ],
)
def test_what_is_not_measured_is_refused(changes, field):
    with pytest.raises(UsageError) as refused:
        make_rule(**changes).check(CONFIGURATION)
    assert refused.value.message.startswith(field)


PAIRED = replace(CONFIGURATION, attributes=("device", "country", "plan"))


@pytest.mark.parametrize("name", ["device:country", "country:device"])
def test_a_pair_has_one_name(name):
    checked = make_rule(slices=("plan", name)).check(PAIRED)
    assert checked.slices == ("plan", "device:country")


def test_a_pair_that_is_not_sliced_together_is_refused_with_those_that_are():
    configuration = replace(PAIRED, pairs=(("plan", "device"),))
    with pytest.raises(UsageError) as refused:
        make_rule(slices=("device:country",)).check(configuration)
    assert "plan:device" in refused.value.message
    assert "pair" in str(refused.value.hint)


def test_an_attribute_may_have_a_colon_in_its_name():
    configuration = replace(CONFIGURATION, attributes=("client:app", "os"))
    assert find_dimension("client:app", configuration.attributes) == ("client:app",)
    checked = make_rule(slices=("client:app:os", "client:app")).check(configuration)
    assert checked.slices == ("client:app:os", "client:app")


def test_a_measure_has_one_name_a_direction_and_values_from_0_to_1():
    assert make_rule(measure="empty").check(CONFIGURATION).is_rise_bad
    assert not make_rule().check(CONFIGURATION).is_rise_bad
    assert make_rule(measure="mrr@3").check(CONFIGURATION).measure == "RR@3"
    gains = define(measures="DCG@3", positive="click", window=CLICKS.window)
    configuration = replace(CONFIGURATION, definition=gains)
    with refuses(UsageError, "bad_rule"):
        make_rule(measure="DCG@3").check(configuration)


@pytest.mark.parametrize(
    ("change", "is_other"),
    [
        ({"channels": ("log",)}, False),
        ({"severity": "critical"}, False),
        ({"remind": 1.0}, False),
        ({"name": "other"}, False),
        ({"tolerance": 0.5}, True),
        ({"measure": "nDCG@3"}, True),
        ({"slices": ("device",)}, True),
        ({"period": "hour"}, True),
        ({"false_alarms": 0.25}, True),
    ],
)
def test_what_is_measured_is_told_from_what_is_not(change, is_other):
    assert (make_rule().replace(**change).digest != make_rule().digest) is is_other


@pytest.mark.parametrize(
    ("field", "at", "above"),
    [
        ("name", "x" * 100, "x" * 101),
        ("name", "é" * 50, "é" * 50 + "x"),
        ("channels", tuple(map(str, range(20))), tuple(map(str, range(21)))),
        ("channels", ("x" * 100,), ("x" * 101,)),
        ("remind", 8760.0, 8760.001),
        ("remind", 0.0, -0.001),
        ("false_alarms", 5e-324, 0.0),
        ("false_alarms", math.nextafter(1.0, 0.0), 1.0),
    ],
)
def test_what_a_rule_takes_has_limits(field, at, above):
    for value in (at, above):
        with refuses_if(value == above, UsageError):
            assert Rule.from_dict({"name": "quality", "measure": "nDCG@5", field: value})


def test_a_chance_of_5_percent_in_90_days_is_one_false_alarm_in_1_800_days():
    assert make_rule(false_alarms=0.05).run_length == 90 / 0.05


def test_early_values_are_those_of_the_last_two_ages_in_a_quarter_of_the_window():
    ages = (15 * MINUTE, HOUR, 4 * HOUR)
    for at, age in enumerate(ages):
        assert choose_ages(4 * age - 1) == ages[max(at - 2, 0) : at]
        assert choose_ages(4 * age) == ages[max(at - 1, 0) : at + 1]
