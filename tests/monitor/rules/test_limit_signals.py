"""Limit rules on signals: they read stored hours, need no labels, and a few lists are no alert."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from rankscope import UsageError
from rankscope.monitor.definition.configuration import Configuration
from rankscope.monitor.definition.definition import define
from rankscope.monitor.monitor import Monitor
from rankscope.monitor.rules.kinds import Rule
from rankscope.monitor.rules.limit import bound_mean

FIRST = datetime(2026, 11, 1, tzinfo=UTC)
CONFIGURATION = Configuration(definition=define(positive="click", window="30d"), baseline=None)


def show(hours: int, number: int, docs: str = "abcd", model: str = "m") -> dict[str, Any]:
    """A ranking in an hour, of a user of its own."""
    time = FIRST + timedelta(hours=hours, seconds=number)
    return {
        "ranking_id": f"{hours} {number} {model}",
        "time": time.isoformat(),
        "user_id": f"u{hours} {number}",
        "model": model,
        "doc_ids": list(docs),
    }


def watch(
    path: Path, rankings: list[dict[str, Any]], now: datetime, **said: object
) -> tuple[str, str, list[str]]:
    """What a rule says of some rankings: its state, why, and the reasons of its incidents."""
    clock = [FIRST + timedelta(hours=1)]
    with Monitor.open(str(path / "x.db"), now=lambda: clock[-1]) as monitor:
        monitor.configure(CONFIGURATION)
        rule: dict[str, Any] = {"measure": "length", "below": 0.75, "hours": 1}
        monitor.set_rule(Rule(name="short", kind="limit", **rule | said))
        clock.append(now)
        monitor.log_rankings(rankings)
        monitor.evaluate()
        state = next(each for each in monitor.check() if each.rule.name == "short")
        found = [each.reason for each in monitor.incidents("all", rule="short")]
        return state.state, state.reason, found


YESTERDAY = [show(hour, number) for hour in range(1, 24) for number in range(20)]
LATE = FIRST + timedelta(days=1, hours=2)


def test_lists_that_are_cut_alert_as_soon_as_their_hour_is_stored(tmp_path: Path) -> None:
    cut = [show(24, number, "ab") for number in range(200)]
    # The attribution window lasts for weeks: no label is waited for.
    state, reason, found = watch(tmp_path, YESTERDAY + cut, LATE)
    assert (state, found) == ("ALERT", [reason])
    assert reason.startswith("the signal length is 50% (")
    assert reason.endswith("over 200 rankings of the last hour, below the limit of 75%")


@pytest.mark.parametrize(
    ("docs", "count", "state", "said"),
    [
        ("ab", 5, "OK", "too close to the limit of 75% to tell"),
        ("abcd", 200, "OK", "within the limit of 75%"),
        ("abc", 2000, "OK", "within the limit of 75%"),
    ],
)
def test_a_few_lists_and_a_value_at_the_limit_are_no_alert(
    tmp_path: Path, docs: str, count: int, state: str, said: str
) -> None:
    known = [show(24, number, docs) for number in range(count)]
    told, reason, found = watch(tmp_path, YESTERDAY + known, LATE)
    if docs == "abc":  # the interval has the limit in its middle
        said = "too close to the limit of 75% to tell"
    assert (told, found) == (state, [])
    assert reason.endswith(said)


def test_only_the_model_of_the_rule_counts(tmp_path: Path) -> None:
    theirs = [show(hour, number, model="n") for hour in range(1, 24) for number in range(5)]
    cut = [show(24, number, "ab", model="n") for number in range(200)]
    good = [show(24, number) for number in range(200)]
    state, reason, _ = watch(tmp_path, YESTERDAY + theirs + cut + good, LATE, model="m")
    assert (state, reason.partition(" over ")[2][:3]) == ("OK", "200")


def test_what_is_not_known_is_no_verdict(tmp_path: Path) -> None:
    state, reason, found = watch(tmp_path, YESTERDAY, LATE, measure="tied", above=0.5, below=None)
    assert (state, found) == ("NO_DATA", [])
    assert "no value" in reason


def test_fields_that_do_not_fit_a_signal_are_refused() -> None:
    for said in ({"below": 1.5}, {"below": -0.1}, {"below": 0.5, "rankings": 100}):
        with pytest.raises(UsageError):
            Rule(name="short", kind="limit", measure="length", **said)
    with pytest.raises(UsageError, match="lenght"):
        Rule(name="x", kind="limit", measure="lenght", below=0.5).check(CONFIGURATION)


def test_the_interval_is_wide_for_few_users_and_covers_what_it_should() -> None:
    # Equal values say nothing of how much they vary: of 3 users the interval is everything.
    three = bound_mean((3.0, 3.0, 0.9, 0.27), 0.3, 3)
    assert (three.lower, three.upper) == (0.0, 1.0)
    # 7 ln(80) / (3 (n - 1)) remains of a variance of 0.
    many = bound_mean((1001.0, 1001.0, 300.3, 90.09), 0.3, 1001)
    assert many.upper - many.value == pytest.approx(7 * 4.382026634673881 / 3000, abs=1e-6)
    # One user with all rankings is one user.
    one = bound_mean((1.0, 10_000.0, 30.0, 0.09 * 10_000), 0.3, 100)
    assert math.isnan(one.lower)
    assert bound_mean((0.0, 0.0, 0.0, 0.0), 0.0, 0) is None
