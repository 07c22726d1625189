"""Users who are left out: all values are as if they had never been logged, and come back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from rankscope.errors import UsageError
from rankscope.monitor.ask.trace import Span
from rankscope.monitor.definition.configuration import BaselineChoice, Configuration
from rankscope.monitor.definition.definition import MOST_LEFT_OUT, Definition, define
from rankscope.monitor.definition.document import read_configuration, write_configuration
from rankscope.monitor.monitor import Monitor
from rankscope.monitor.rules.kinds import Rule

NIGHT = datetime(2026, 11, 2, tzinfo=UTC)
BOTS = ("bot 1", "bot <2>")
GRADES = {"a": 3, "b": 0, "c": 1, "d": 0}


def make_definition(*left_out: str) -> Definition:
    """What is measured, without some users."""
    return define(measures=["nDCG@3", "RR@3"], positive="click", window="1h", left_out=left_out)


def make_searches(day: int, *, has_bots: bool) -> list[dict[str, object]]:
    """The searches of a day; those of bots are the worst, and one hour has no others."""
    searches = []
    for number in range(60):
        user = f"user {number % 20}" if number % 3 else BOTS[number % 2]
        if user in BOTS and not has_bots:
            continue
        order = "dbca" if user in BOTS else "abcd" if number % 4 else "bacd"
        hour = 5 if user in BOTS else 6 + number % 10
        searches.append(
            {
                "ranking_id": f"{day} {number}",
                "user_id": user,
                "time": (NIGHT + timedelta(days=day, hours=hour, minutes=number)).isoformat(),
                "version": "3",
                "attributes": {"device": "tv" if number % 2 else "phone"},
                "doc_ids": list(order),
                "relevance": [GRADES[doc] for doc in order],
            }
        )
    return searches


def make_monitor(path: Path, definition: Definition, *, has_bots: bool) -> Monitor:
    """A monitor with ten days of searches."""
    monitor = Monitor.open(str(path), now=lambda: NIGHT + timedelta(days=11))
    since, until = NIGHT, NIGHT + timedelta(days=5)
    chosen = BaselineChoice(kind="period", since=since, until=until)
    monitor.configure(Configuration(definition=definition, attributes=("device",), baseline=chosen))
    monitor.set_rule(Rule(name="quality", measure="nDCG@3"))
    for day in range(10):
        monitor.log_rankings(make_searches(day, has_bots=has_bots))
    monitor.evaluate(is_replay=True)
    return monitor


def tell(monitor: Monitor) -> dict[str, object]:
    """All values of a monitor."""
    (rule,) = (one for one in monitor.check() if one.rule.name == "quality")
    traced = monitor.trace(
        Span(since=NIGHT, until=NIGHT + timedelta(days=5)),
        Span(since=NIGHT + timedelta(days=5), until=NIGHT + timedelta(days=10)),
    )
    return {
        "days": [
            (each.values, each.lower, each.rankings)
            for each in (monitor.series(name, every="day") for name in monitor.measures)
        ],
        "tv": monitor.series("nDCG@3", slice=(("device", "tv"),)).values,
        "baseline": monitor.baseline().means,
        "streams": [(one.value, one.log_evidence, one.floor) for one in rule.streams],
        "trace": traced.to_dict() | {"definition": ""},
    }


@pytest.mark.slow
def test_values_are_as_if_they_had_never_been_logged(tmp_path: Path) -> None:
    without = make_monitor(tmp_path / "a.db", make_definition(), has_bots=False)
    left = make_monitor(tmp_path / "b.db", make_definition(*BOTS), has_bots=True)
    assert tell(left) == tell(without)


@pytest.mark.slow
def test_it_is_undone(tmp_path: Path) -> None:
    monitor = make_monitor(tmp_path / "a.db", make_definition(), has_bots=True)
    before = monitor.series("nDCG@3", every="day").values
    for users in (BOTS, ()):
        configuration = monitor.configuration
        monitor.configure(
            Configuration(
                definition=make_definition(*users),
                attributes=configuration.attributes,
                baseline=configuration.baseline,
            )
        )
        monitor.evaluate()
        after = monitor.series("nDCG@3", every="day").values
        assert (after == before) is (users == ())


def test_users_are_part_of_a_definition() -> None:
    definition = make_definition("b", "a", "b")
    assert definition.left_out == ("a", "b")
    assert definition.hash != make_definition().hash
    assert Definition.from_json(definition.to_json()) == definition
    assert "left_out" not in make_definition().to_dict()
    configuration = Configuration(definition=definition)
    assert read_configuration(write_configuration(configuration)) == configuration
    for wrong in ([""], ["a\0"], ["\ud800"], [str(one) for one in range(MOST_LEFT_OUT + 1)]):
        with pytest.raises(UsageError):
            make_definition(*wrong)
