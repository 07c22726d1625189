"""Rules at the limits of what they read, compare and name."""

from __future__ import annotations

from statistics import NormalDist
from types import SimpleNamespace

import numpy as np
import pytest
from rankscope import UsageError
from rankscope.monitor.definition.slices import Slicing
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.events.times import to_datetime
from rankscope.monitor.incidents import management
from rankscope.monitor.rules.drop import check
from rankscope.monitor.rules.drop.check import Period, _add_hour
from rankscope.monitor.rules.drop.feed import feed
from rankscope.monitor.rules.drop.floors import Floor, Floors, _fit_length, _Wanted
from rankscope.monitor.rules.drop.mix import Cells
from rankscope.monitor.rules.drop.periods import PeriodReader
from rankscope.monitor.rules.drop.progress import RuleProgress
from rankscope.monitor.rules.drop.rule import DropRule
from rankscope.monitor.rules.drop.sample import Sample, _discount
from rankscope.monitor.rules.drop.state import decide
from rankscope.monitor.rules.drop.step import Step
from rankscope.monitor.rules.evidence import Evidence
from rankscope.monitor.rules.stream import ALL, Stream
from rankscope.monitor.rules.trace import nights as nightly
from rankscope.monitor.rules.trace.nights import SliceNight
from rankscope.monitor.rules.trace.rule import TraceRule
from rankscope.monitor.rules.trace.run import NightlyProgress, decide_night
from rankscope.monitor.store.records import Context, Version
from rankscope.records import replace

from tests.monitor.alerts.world import CONFIGURATION, make_scene

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

WEEK = 7 * DAY
START = 2857 * WEEK
RULE = DropRule(name="quality", measure="RR@3", slices=("device",), lanes=())
TRACE = TraceRule(name="nights", measure="RR@3", kind="trace", run_length=100.0)


def make_sample(contexts: int, *, times: int = START) -> Sample:
    """A ranking of each context, with the value 1."""
    count = np.arange(contexts)
    ones = np.ones(contexts)
    return Sample(
        contexts=count,
        times=np.full(contexts, times),
        clusters=count,
        is_labelled=ones > 0,
        labels=ones.astype(np.int64),
        gains=ones,
        discounts=ones,
        values={"RR@3": ones},
        grades={},
    )


def make_cells(count: int) -> Cells:
    """Contexts that differ by a device, each of which has a slice of its own."""
    values = [f"{number:03}" for number in range(count)]
    contexts = {
        number: Context("m", "1", "production", (("device", value),))
        for number, value in enumerate(values)
    }
    return Cells(contexts, Slicing((("device", tuple(values)),)))


@pytest.mark.parametrize("known", [398, 399, 400])
def test_a_rule_watches_400_streams(known: int) -> None:
    streams = tuple(
        Stream(model="m", version=ALL, slice=(("device", f"{number:03}"),))
        for number in range(known)
    )
    floors: Any = SimpleNamespace(
        reader=SimpleNamespace(cells=make_cells(1), scene=make_scene()),
        has_anchor=lambda _: False,
        find=lambda *_: Floor(lane=Evidence()),
    )
    step = Step(due=START + DAY, start=START, until=START + DAY)
    after = feed(
        RuleProgress(basis="", first=START, following=START, streams=streams),
        Period(RULE, step, make_sample(1), floors),
    )
    # All rankings of the version, and those of its only device.
    assert len(after.streams) == min(known + 2, 400)
    assert after.unwatched == max(known + 2 - 400, 0)


@pytest.mark.parametrize("count", [59, 60, 61])
def test_the_values_of_an_attribute_make_60_cells(count: int) -> None:
    found = make_cells(count).choose_mix(RULE, (), make_sample(count), np.arange(count))
    assert found == (("device",) if count <= 60 else ())


@pytest.mark.parametrize("count", [99, 100, 101])
def test_100_grades_are_counted(count: int) -> None:
    grades = np.arange(1.0, count + 1)
    each: Any = SimpleNamespace(
        chunk=SimpleNamespace(
            items=SimpleNamespace(offsets=np.array([0, count]), ranks=np.arange(1, count + 1)),
            times=[START],
        ),
        graded=SimpleNamespace(relevance=grades),
        values=SimpleNamespace(is_refused=np.array([False])),
    )
    *_, found = _discount(each, np.array([0]))
    assert found == dict.fromkeys(grades[:100].tolist(), 1)


@pytest.mark.parametrize(("back", "is_kept"), [(23, True), (24, False), (25, False)])
def test_the_gains_of_an_hour_are_those_of_the_day_before(back: int, *, is_kept: bool) -> None:
    old = START // HOUR - back, 5, 2.5
    step = Step(due=START, start=START, until=START + HOUR)
    new = START // HOUR, 2, 2.0
    found = _add_hour(Evidence(recent=(old,)), step, np.ones(2))
    assert found == ((old, new) if is_kept else (new,))


@pytest.mark.parametrize(
    ("rankings", "length"), [(599_999, 600_001), (600_000, 600_000), (600_001, 599_999)]
)
def test_a_baseline_of_production_has_about_600_000_rankings(rankings: int, length: int) -> None:
    # One ranking a microsecond.
    span = 600_000
    assert _fit_length(START, START + span - 1, rankings) == span * 600_000 // rankings
    assert _fit_length(START, START + span - 1, rankings) == length


def make_floors() -> Floors:
    """Floors without a store."""
    versions = [Version("m", "1", "production", START - 30 * WEEK, START, 100)]
    store: Any = SimpleNamespace(contexts=lambda _: {0: Context("m", "1", "production", ())})
    return Floors(PeriodReader(make_scene(store, versions=versions, now=START), ()))


@pytest.mark.parametrize("more", [-1, 0, 1])
def test_baselines_of_600_000_rankings_are_held(more: int) -> None:
    floors = make_floors()
    wanted = [_Wanted(at, at, None, ()) for at in range(2)]
    samples: Any = {
        (wanted[0], 0): SimpleNamespace(times=range(300_000)),
        (wanted[1], 0): SimpleNamespace(times=range(300_000 + more)),
    }
    floors._samples = samples
    floors._forget()
    assert len(floors._samples) == (2 if more <= 0 else 1)


def test_a_long_term_baseline_is_made_anew_every_week() -> None:
    names = []
    for start in (START, START + DAY, START + WEEK - DAY, START + WEEK):
        wanted = make_floors()._want_history("m", start, HOUR)
        assert isinstance(wanted, _Wanted)
        names.append(wanted.name)
    assert names[0] == names[1] == names[2] != names[3]


@pytest.mark.parametrize(
    ("sizes", "has_room"), [([299_999, 1], True), ([300_000, 0], True), ([300_000, 1], False)]
)
def test_periods_of_600_000_rankings_are_held_for_later_ages(
    sizes: list[int], *, has_room: bool
) -> None:
    reader = PeriodReader(make_scene(), ())
    held: Any = [SimpleNamespace(sample=SimpleNamespace(times=range(size))) for size in sizes]
    reader._held = held
    # Another one may be as large as the largest.
    assert reader._has_room(1) == has_room


def list_models(versions: list[Version]) -> list[str]:
    """The models that a night traces."""
    return [*nightly._list_models(versions, TRACE, START)]


@pytest.mark.parametrize("count", [19, 20, 21])
def test_20_models_are_traced_in_a_night(count: int) -> None:
    versions = [
        Version(f"{number:02}", "1", "production", START - DAY, START - 1, 100 - number)
        for number in range(count)
    ]
    assert list_models(versions) == [f"{number:02}" for number in range(min(count, 20))]


@pytest.mark.parametrize(("after", "is_traced"), [(-1, False), (0, True), (1, True)])
def test_a_model_is_traced_if_it_ranked_in_the_last_week(after: int, *, is_traced: bool) -> None:
    last = START - 7 * DAY + after
    assert list_models([Version("m", "1", "production", last, last, 1)]) == ["m"] * is_traced


def test_a_night_looks_at_a_week_and_100_000_rankings(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, Any] = {}

    def trace(*said: Any, **named: Any) -> None:  # noqa: ANN401 - what it is called with
        asked.update(named, after=said[4])

    monkeypatch.setattr(nightly, "trace_spans", trace)
    versions = [Version("m", "1", "production", START - 60 * DAY, START, 1)]
    scene = make_scene(versions=versions)
    nightly._trace(scene, TRACE, "m", "1", moment=START, level=0.01)
    assert asked["sample"] == 100_000
    assert asked["after"].since == to_datetime(START - 7 * DAY)


@pytest.mark.parametrize("count", [2, 3, 4])
def test_three_streams_are_named(count: int) -> None:
    streams = [
        Stream(
            model="m",
            version=str(number),
            state="STALE",
            reason="no rankings",
            last=to_datetime(START),
        )
        for number in range(count)
    ]
    progress = RuleProgress(basis="", first=START, following=START, streams=tuple(streams))
    told = [f"model=m, version={number}: no rankings" for number in range(min(count, 3))]
    more = ["and 1 more"] if count == 4 else []
    assert decide(RULE, progress, [], START).reason == "; ".join([*told, *more])
    alerts = tuple(replace(one, state="ALERT") for one in streams)
    found = decide(RULE, replace(progress, streams=alerts), [], START)
    assert found.state == "ALERT"
    assert found.reason.count("version=") == min(count, 3)
    assert found.reason.endswith("; and 1 more") == (count == 4)


@pytest.mark.parametrize("count", [2, 3, 4])
def test_three_slices_of_a_night_are_named(count: int) -> None:
    slices = tuple(
        SliceNight(model="m", slice=(), fall=0.1, reason=f"slice {number}")
        for number in range(count)
    )
    progress = NightlyProgress(basis="", first=START, following=START + DAY, slices=slices)
    assert decide_night(progress).reason == "; ".join(
        f"slice {number}" for number in range(min(count, 3))
    )


@pytest.mark.parametrize("count", [999, 1000, 1001])
def test_a_project_has_at_most_1_000_rules(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def write(*said: Any, **_: Any) -> None:  # noqa: ANN401 - what it is called with
        said[3](None)

    monkeypatch.setattr(management, "_write", write)
    store: Any = SimpleNamespace(last_seq=0, list_rules=lambda _: [None] * count)
    if count < 1000:
        management.set_rule(store, "music", CONFIGURATION, RULE, now=START, actor="ada")
        return
    with pytest.raises(UsageError, match="at most 1000 rules"):
        management.set_rule(store, "music", CONFIGURATION, RULE, now=START, actor="ada")


def test_the_value_of_a_period_has_the_interval_of_95_in_100(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gaps = SimpleNamespace(gap=[0.1], value=0.5, error=0.1, floor=0.4, expected=0.6)
    monkeypatch.setattr(check, "judge_lane", lambda *_, **__: SimpleNamespace(gaps=gaps, judged=""))
    detector = SimpleNamespace(periods=1, starts=(1,))
    monkeypatch.setattr(check, "advance", lambda *_: detector)
    monkeypatch.setattr(check, "_count_users", lambda _: 1)
    usual: Any = SimpleNamespace(discount=None)
    seen: Any = SimpleNamespace(value=[0.5])
    step = Step(due=START + HOUR, start=START, until=START + HOUR)
    period = Period(RULE, step, make_sample(1), make_floors())
    lane = Evidence(usual=usual)
    found = check._detect(lane, period, np.arange(1), seen, is_usual=True).value
    assert found is not None
    half = NormalDist().inv_cdf((1 + 0.95) / 2) * 0.1
    assert found.level == 0.95
    # Up to the rounding of the quantile.
    assert (found.lower, found.upper) == pytest.approx((0.5 - half, 0.5 + half), rel=1e-12)
