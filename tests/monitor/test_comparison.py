"""Two versions of a model over the time in which both serve."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest
from rankscope.errors import EmptyError, LimitError, UsageError
from rankscope.monitor.ask.shared_fall import add_comparison, compare_fall
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.events.times import to_datetime
from rankscope.monitor.monitor import Monitor
from rankscope.monitor.rules.kinds import Rule

from tests.monitor.served import DAYS, FALL, RELEASE, START, open_served

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankscope.monitor.ask.shared_fall import FallComparison

# What a swap of two documents loses, of which the first is relevant.
LOSS = 1 - 1 / math.log2(3)


@pytest.fixture(scope="module")
def worse(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Monitor]:
    with open_served(tmp_path_factory.mktemp("worse"), fall=0.3) as monitor:
        yield monitor


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Monitor]:
    with open_served(tmp_path_factory.mktemp("shared"), both=0.3) as monitor:
        yield monitor


def test_a_version_that_is_worse_is_found_beside_the_one_that_serves(worse: Monitor) -> None:
    found = worse.compare()
    assert (found.model, found.old, found.new) == ("m", "3", "4")
    assert [one.day for one in found.days] == [
        to_datetime(START + day * DAY) for day in range(RELEASE, DAYS)
    ]
    assert found.is_final
    assert found.verdict == "worse"
    difference = found.difference
    # Of the days with both versions, the fall lasts on those from day 11 on.
    true = -0.3 * LOSS * (DAYS - FALL) / (DAYS - RELEASE)
    assert difference.lower < true < difference.upper
    # Half of the variance is between the two kinds of queries, which were seen before.
    assert difference.explained > 0.25
    assert found.sentence.startswith("Version 4 is worse than version 3: nDCG@5 differs by −0.0")


def test_versions_that_fall_alike_are_no_different(shared: Monitor) -> None:
    found = shared.compare("nDCG@5", model="m", old="3", new="4")
    assert found.verdict == "no difference yet"
    assert found.difference.lower < 0 < found.difference.upper
    assert found.days_to_target == 0
    assert found.sentence.endswith(" If there is one, it is below 0.02.")


def test_the_days_are_foreseen_until_a_difference_of_002_could_be_found(shared: Monitor) -> None:
    now = START + (FALL + 1) * DAY
    early = Monitor(shared.store, clock=lambda: now).compare(until=to_datetime(now - DAY))
    days = early.days_to_target
    assert 0 < days < 30
    assert early.sentence.endswith(
        f"A difference of 0.02 could be found in about {days} more days."
    )
    later = shared.compare(until=to_datetime(now + (days - 1) * DAY)).difference
    assert later.upper - later.lower == pytest.approx(2 * 0.02, rel=0.25)


def test_the_old_version_can_be_the_later_one(worse: Monitor) -> None:
    there, back = worse.compare(old="3", new="4"), worse.compare(old="4", new="3")
    assert back.difference.value == pytest.approx(-there.difference.value)
    assert back.verdict == "better"


@pytest.mark.slow
def test_a_slice_and_a_span_are_compared_alone(worse: Monitor) -> None:
    whole = worse.compare()
    slice_ = worse.compare(slice=(("device", "phone"),))
    late = worse.compare(since=to_datetime(START + FALL * DAY))
    assert slice_.difference.rankings[1] < 0.3 * whole.difference.rankings[1]
    assert late.days[0].day == to_datetime(START + FALL * DAY)
    assert late.difference.lower < -0.3 * LOSS < late.difference.upper


def test_days_whose_labels_may_still_come_are_provisional(worse: Monitor) -> None:
    now = START + (RELEASE + 3) * DAY
    early = Monitor(worse.store, clock=lambda: now).compare()
    assert [one.is_final for one in early.days] == [True, True, False]
    assert early.newest == early.days[1]
    assert early.is_final
    now = START + (RELEASE + 1) * DAY
    first = Monitor(worse.store, clock=lambda: now).compare()
    assert not first.is_final
    assert first.sentence.startswith("Provisional: ")


@pytest.mark.parametrize(
    "asked", [{"model": "x"}, {"new": "5"}, {"old": "5"}, {"slice": (("app", "x"),)}]
)
def test_what_is_not_there_is_refused(asked: dict[str, str], worse: Monitor) -> None:
    with pytest.raises(UsageError):
        worse.compare(**asked)  # type: ignore[arg-type]  # one of several


def test_versions_that_did_not_serve_at_once_are_refused(worse: Monitor) -> None:
    with pytest.raises(EmptyError):
        worse.compare(until=to_datetime(START + RELEASE * DAY))
    with pytest.raises(EmptyError):
        worse.compare(new="3")


def test_too_many_rankings_are_refused(worse: Monitor) -> None:
    with pytest.raises(LimitError) as caught:
        worse.compare(most_rankings=100)
    assert caught.value.code == "comparison_rankings"
    assert "up to 10,000,000" in caught.value.hint


def judge(monitor: Monitor, *, fall: float = 0.3 * LOSS) -> FallComparison:
    found = compare_fall(
        monitor.store,
        "default",
        monitor.configuration,
        measure="nDCG@5",
        model="m",
        version="4",
        place=(),
        began=START + FALL * DAY,
        fall=fall,
        now=monitor.clock(),
    )
    assert found is not None
    return found


def test_a_fall_of_both_versions_is_not_blamed_on_the_release(shared: Monitor) -> None:
    found = judge(shared)
    assert found.conclusion == "alike"
    assert found.found.since == to_datetime(START + FALL * DAY)
    blamed = {"sentence": "version=4 fell.", "slice": {"version": "4"}, "new_version": "version=4"}
    cause = add_comparison(blamed, found)
    told = "ersion 3 fell like version 4, so the cause isn't the release"
    assert cause["sentence"] == f"V{told}."
    assert (cause["new_version"], cause["slice"]) == (None, {})
    within = add_comparison({"sentence": "device=tv fell.", "slice": {"device": "tv"}}, found)
    assert within["sentence"] == f"V{told}; device=tv fell."
    assert add_comparison(None, found)["comparison"]["conclusion"] == "alike"


def test_a_fall_of_one_version_is_its_own(worse: Monitor) -> None:
    found = judge(worse)
    assert found.conclusion == "alone"
    blamed = {"sentence": "version=4 fell.", "slice": {"version": "4"}, "new_version": "version=4"}
    cause = add_comparison(blamed, found)
    assert cause["sentence"] == "Only version 4 fell, and not version 3 beside it; version=4 fell."
    assert cause["new_version"] == "version=4"


def test_a_fall_that_is_smaller_than_the_interval_is_left_open(shared: Monitor) -> None:
    found = judge(shared, fall=0.001)
    assert found.conclusion == "unknown"
    cause = add_comparison({"sentence": "Everything fell.", "slice": {}}, found)
    left_open = "it isn't known yet whether version 3 beside it fell alike"
    assert cause["sentence"] == f"Everything fell; {left_open}."


def test_a_version_that_serves_alone_is_compared_with_none(worse: Monitor) -> None:
    assert (
        compare_fall(
            worse.store,
            "default",
            worse.configuration,
            measure="nDCG@5",
            model="m",
            version="3",
            place=(),
            began=START,
            fall=0.1,
            now=START + RELEASE * DAY,
        )
        is None
    )


@pytest.mark.slow
def test_the_incident_says_that_both_versions_fell_alike(shared: Monitor) -> None:
    shared.set_rule(Rule(name="quality", measure="nDCG@5"))
    # Two days after the fall its first days are final, and there is no need to trace it again.
    now = START + (FALL + 3) * DAY + 3 * HOUR
    Monitor(shared.writer, clock=lambda: now).evaluate(is_replay=True)
    found = [one for one in shared.incidents() if one.version == "4" and not one.slice]
    assert [one.kind for one in found] == ["quality"]
    assert found[0].cause["comparison"]["conclusion"] == "alike"
    assert str(found[0].cause["sentence"]).startswith("Version 3 fell like version 4")
