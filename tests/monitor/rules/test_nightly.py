"""A slice that no rule watches is found by the trace of the night."""

from __future__ import annotations

import math

import pytest

pytest.importorskip("sqlalchemy", reason="the store needs SQLAlchemy")

from rankscope.errors import UsageError
from rankscope.monitor.definition.configuration import BaselineChoice, Configuration
from rankscope.monitor.definition.definition import define
from rankscope.monitor.definition.slices import Slicing
from rankscope.monitor.events.limits import DAY, HOUR, MINUTE
from rankscope.monitor.events.times import to_datetime
from rankscope.monitor.incidents.advance import advance_rules, replay_rules
from rankscope.monitor.incidents.management import list_states, resolve_rule, set_rule
from rankscope.monitor.incidents.response import list_incidents, respond
from rankscope.monitor.rules.trace import (
    CHANGED,
    CLEAN_NIGHTS,
    DAYS,
    LEAST_FALSE_ALARMS,
    MOST_MODELS,
    Night,
    NightlyProgress,
    SliceNight,
    TraceRule,
    check_night,
)
from rankscope.monitor.store.sqlite.store import SQLiteStore
from rankscope.records import replace
from rankscope.trace.compute import TraceChoices

from tests.monitor.rules.world import make_scene
from tests.monitor.stories import search

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import Any

    from rankscope.monitor.definition.slices import Slice

DEFINITION = define(measures=["nDCG@5", "RR@5"], positive={"click": 1}, window=3600)
RULE = TraceRule(name="night", measure="nDCG@5", kind="trace", false_alarms=0.9)
COUNT = 600
START = 28 * DAY
EVENTS = [
    *search(1, COUNT, start=START - COUNT * MINUTE, versions={"3": 1}),
    *search(2, COUNT, start=START, versions={"4": 1}),
    *search(3, COUNT, start=START + 9 * DAY, versions={"5": 1}),
    *search(4, COUNT, start=START + 18 * DAY, versions={"5": 1}),
]


PERIOD = BaselineChoice(kind="period", since=to_datetime(0), until=to_datetime(START))
VERSION = BaselineChoice(kind="version")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SQLiteStore]:
    """Version 4 harms televisions; version 5 does not."""
    with SQLiteStore(tmp_path_factory.mktemp("night") / "events.db") as opened:
        opened.append("music", EVENTS)
        yield opened


def check(
    store: SQLiteStore,
    moment: int,
    held: tuple[SliceNight, ...] = (),
    choice: BaselineChoice = VERSION,
) -> Night:
    """What a night finds."""
    configuration = Configuration(definition=DEFINITION, baseline=choice)
    scene = make_scene(
        store, configuration=configuration, versions=store.versions("music"), now=moment
    )
    return check_night(scene, RULE, held, moment)


def list_verdicts(night: Night) -> list[str]:
    return [each.verdict for each in night.findings]


@pytest.mark.parametrize("choice", [VERSION, PERIOD], ids=lambda choice: choice.kind)
def test_the_slice_that_a_release_harmed_is_found(
    store: SQLiteStore, choice: BaselineChoice
) -> None:
    night = check(store, START + DAY, choice=choice)
    (found,) = night.findings
    # The slice is the stream, so that the next release doesn't open the same incident again.
    assert found.key == ("quality", "ranker", "", (("device", "tv"),))
    assert found.verdict == "bad"
    assert found.reason.startswith("device=tv: nDCG@5 has fallen from ")
    assert found.evidence["new_version"] == "version=4"
    assert found.evidence["level"] == 1 / RULE.run_length
    p_value = found.evidence["p_value"]
    assert isinstance(p_value, float)
    assert p_value <= 1 / RULE.run_length
    assert (night.models, night.problem) == (1, "")


def test_a_slice_recovers_after_some_nights_without_it(store: SQLiteStore) -> None:
    night = check(store, START + DAY, choice=PERIOD)
    verdicts = [list_verdicts(night)]
    for number in range(19, 19 + CLEAN_NIGHTS + 1):
        night = check(store, START + number * DAY, night.slices, PERIOD)
        verdicts.append(list_verdicts(night))
    assert verdicts == [["bad"], *[[]] * (CLEAN_NIGHTS - 1), ["good"], []]


def test_a_muted_slice_is_reported_again_once_it_has_recovered_or_fallen_further(
    store: SQLiteStore,
) -> None:
    night = check(store, START + DAY)
    (found,) = night.slices
    muted = (found.mute(),)
    again = check(store, START + DAY, muted)
    assert (again.findings, again.slices) == ((), (replace(muted[0], nights=1),))
    # A part of it, or what contains it, is the same slice.
    wider = (replace(found, slice=(*found.slice, ("country", "at"))).mute(),)
    assert check(store, START + DAY, wider).findings == ()
    # In the first week, the days before the fall leave those that are looked at.
    before = replace(found.mute(), muted=found.fall / CHANGED)
    assert check(store, START + DAY, (before,)).slices == (replace(found.mute(), nights=1),)
    further = replace(before, nights=DAYS)
    assert list_verdicts(check(store, START + DAY, (further,))) == ["bad"]
    held = muted
    for number in range(CLEAN_NIGHTS):
        night = check(store, START + (19 + number) * DAY, held, PERIOD)
        assert night.findings == ()
        held = night.slices
    assert held == ()
    assert list_verdicts(check(store, START + DAY, held)) == ["bad"]


def test_a_slice_is_stored_as_it_is(store: SQLiteStore) -> None:
    (found,) = check(store, START + DAY).slices
    progress = NightlyProgress(basis="b", first=0, following=DAY, slices=(found,), models=1)
    assert NightlyProgress.from_json(progress.to_json()) == progress
    muted = progress.restart([found.key], 0, is_all=False)
    assert muted.slices == (found.mute(),)
    assert progress.restart([], 0, is_all=False) == progress
    assert progress.restart([], 0, is_all=True) == muted


def test_a_night_without_rankings_says_nothing(store: SQLiteStore) -> None:
    night = check(store, START + DAY)
    later = check(store, START + 100 * DAY, night.slices)
    assert (later.findings, later.slices, later.models) == ((), night.slices, 0)


def test_a_night_without_a_baseline_says_so(store: SQLiteStore) -> None:
    unknown = BaselineChoice(kind="period", since=to_datetime(0), until=to_datetime(1))
    night = check(store, START + DAY, choice=unknown)
    assert (night.findings, night.models) == ((), 0)
    assert "ranker" in night.problem


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"measure": "RR@5"}, "measure: expected one whose losses add up to 1"),
        ({"measure": "empty"}, "measure: unknown measure 'empty'"),
        ({"slices": ("device",)}, "slices: expected a field of the kind trace"),
        ({"period": "hour"}, "period: expected a field of the kind trace"),
    ],
)
def test_what_a_trace_cannot_do_is_refused(given: dict[str, Any], message: str) -> None:
    configuration = Configuration(definition=DEFINITION, attributes=("device",))
    assert RULE.check(configuration) == RULE
    with pytest.raises(UsageError, match=message):
        RULE.replace(**given).check(configuration)


def test_the_rarest_p_value_can_be_reached_for_all_models() -> None:
    level = LEAST_FALSE_ALARMS / (90 * MOST_MODELS)
    TraceChoices(level=level, permutations=math.ceil(2 / level))


def test_a_rule_traces_each_night_and_keeps_a_resolved_slice_closed(tmp_path: Path) -> None:
    configuration = Configuration(definition=DEFINITION, baseline=PERIOD, grace="1h")
    rule = replace(RULE, since=to_datetime(START), remind=0.0)

    def pass_nights(count: int) -> tuple[int, list[str], str]:
        """Return how many nights were traced, the incidents, and the state of the rule."""
        now = START + count * DAY + 2 * HOUR
        slicing = Slicing(values=())
        done = advance_rules(store, "music", configuration, slicing, now=now, threads=1)
        (state,) = list_states(store, "music")
        found = list_incidents(store, "music", "all")
        return done.periods, [one.state for one in found], state.state

    def replay_first_night() -> list[tuple[str, Slice]]:
        """Return what a replay finds that ends with the first night."""
        now = START + DAY + 2 * HOUR
        done = replay_rules(store, "music", configuration, Slicing(values=()), now=now, threads=1)
        return [(one.rule, one.slice) for one in done.incidents]

    with SQLiteStore(tmp_path / "nights.db") as store:
        store.append("music", EVENTS)
        set_rule(store, "music", configuration, rule, now=START, actor="ada")
        assert replay_first_night() == [("night", (("device", "tv"),))]
        assert pass_nights(0) == (0, [], "INSUFFICIENT")
        assert pass_nights(1) == (1, ["open"], "ALERT")
        (incident,) = list_incidents(store, "music")
        assert (incident.model, incident.version) == ("ranker", "")
        assert incident.slice == (("device", "tv"),)
        now = START + DAY + 3 * HOUR
        respond(store, "music", incident.incident_id, "resolve", now=now, actor="ada")
        assert pass_nights(3) == (2, ["resolved"], "OK")
        # Version 5 is good again from the tenth day on, so that the slice recovers.
        assert pass_nights(11) == (8, ["resolved"], "OK")
        assert replay_first_night() == [("night", (("device", "tv"),))]
        (state,) = list_states(store, "music")
        assert state.reason.startswith("no slice of 1 model had fallen by ")
        (row,) = store.list_rules("music")
        assert NightlyProgress.from_json(row.progress).slices == ()
        # What is measured was changed, so that what was found is void.
        set_rule(
            store, "music", configuration, replace(rule, false_alarms=0.8), now=now, actor="ada"
        )
        assert pass_nights(1) == (1, ["open"], "ALERT")
        resolve_rule(store, "music", "night", now=now, actor="ada")
        assert pass_nights(2) == (1, ["resolved"], "OK")
