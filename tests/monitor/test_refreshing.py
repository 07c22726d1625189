from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest
from rankscope.monitor.definition.configuration import Configuration
from rankscope.monitor.definition.definition import define
from rankscope.monitor.definition.slices import Slicing
from rankscope.monitor.doctor import recompute_windows
from rankscope.monitor.evaluate import refresh as refreshing
from rankscope.monitor.evaluate.days import Contexts
from rankscope.monitor.evaluate.stored_windows import unpack_ages, unpack_cell
from rankscope.monitor.evaluate.values import evaluate_chunks
from rankscope.monitor.evaluate.windows import sum_cells
from rankscope.monitor.events.event import Items, Label, Ranking
from rankscope.monitor.events.limits import DAY, HOUR, MINUTE
from rankscope.monitor.events.times import to_datetime
from rankscope.monitor.monitor import Monitor
from rankscope.monitor.round import evaluate_project

from tests.monitor.baselines import measure_rankings

CLICKS = define(
    measures=["nDCG@3", "RR@3"], positive={"click": 1, "buy": 3}, window=2 * 3600 + 1800
)
MUSIC = Configuration(definition=CLICKS, attributes=("device", "country"))
NOW = 40 * HOUR
ITEMS, PAIR = Items(("a", "b", "c"), (1, 2, 3)), Items(("a", "b"), (1, 2))


def make_events(seed, count=120):
    """Rankings of a day and a half, and labels up to hours later."""
    generator = random.Random(seed)
    events = []
    for number in range(count):
        time = generator.randrange(36 * 60) * MINUTE
        attributes = {"device": generator.choice(["tv", "phone"]), "country": "de"}
        if generator.random() < 0.3:
            del attributes["country"]
        name, version = f"r{number}", "3" if time < 20 * HOUR else "4"
        user, query = generator.choice(["u", "v", "w", ""]), generator.choice(["jazz", "rock"])
        environment = "validation" if generator.random() < 0.2 else "production"
        where = tuple(sorted(attributes.items()))
        told = query, user, "m", version, environment, where
        events.append(Ranking(f"e{number}", name, time, ITEMS, *told))
        for place in range(generator.randrange(3)):
            later = time + generator.randrange(4 * 60) * MINUTE
            label = generator.choice(["click", "buy", "seen"])
            doc = generator.choice("abcd")
            events.append(Label(f"l{number} {place}", name, doc, later, (label,)))
    return events


def open_monitor(folder, name, times):
    """A monitor whose clock is the last of some times."""
    monitor = Monitor.open(f"{folder}/{name}.db", now=lambda: to_datetime(times[-1]), threads=1)
    monitor.configure(MUSIC)
    return monitor


@pytest.fixture
def monitor(tmp_path):
    with open_monitor(tmp_path, "x", [NOW]) as opened:
        yield opened


def spell_out(monitor):
    digest = MUSIC.digest
    return (
        monitor.store.cells("default", digest),
        monitor.store.cells("default", digest, length=DAY),
        monitor.store.hours("default", digest),
        monitor.baseline(),
    )


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_windows_do_not_depend_on_when_they_were_refreshed(tmp_path, seed):
    generator = random.Random(seed)
    events = make_events(seed)
    times = [NOW]
    with (
        open_monitor(tmp_path, "once", times) as once,
        open_monitor(tmp_path, "often", times) as often,
    ):
        once.store.append("default", events)
        once.evaluate()
        shuffled = generator.sample(events, len(events))
        for start in range(0, len(shuffled), 40):
            # The clock may be behind the events, and is set back now and then.
            times.append(generator.randrange(NOW))
            often.store.append("default", shuffled[start : start + 40] + shuffled[:10])
            often.evaluate()
        times.append(NOW)
        assert often.evaluate().as_of == to_datetime(NOW)
        # Values that came first have slices in either store: there is room for all.
        assert spell_out(often) == spell_out(once)


def test_hours_that_wait_are_final_all_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr(refreshing, "FEW", 0)
    end = 8 * HOUR
    early = [event for event in make_events(5, 400) if event.time < end]
    events = sorted(early, key=lambda event: event.time)
    times = [NOW]
    with (
        open_monitor(tmp_path, "once", times) as once,
        open_monitor(tmp_path, "often", times) as often,
    ):
        once.store.append("default", events)
        once.evaluate()
        later = 0
        # As they come: each is stored when it happens, and looked at a quarter of an hour later.
        for now in (*range(0, end + 1, 15 * MINUTE), NOW):
            new = [event for event in events if 0 <= now - event.time < 15 * MINUTE]
            often.store.append("default", new)
            done = refreshing.refresh(
                often.writer, "default", MUSIC, now=now, threads=1, is_thorough=False
            )
            later += done.later
        assert later > 0
        assert done.later == 0
        assert spell_out(often) == spell_out(once)


def test_what_waits_is_summed_though_nothing_more_comes(monitor, monkeypatch):
    monkeypatch.setattr(refreshing, "FEW", 0)
    shown = Ranking("e", "r", 0, PAIR, model="m")
    click = Label("l", "r", "b", 1, ("click",))

    def evaluate(now):
        done = evaluate_project(monitor.store, "default", now=now, threads=1, is_thorough=False)
        counted = [
            unpack_cell(row).cell.tally("labelled")
            for row in monitor.store.cells("default", MUSIC.digest)
            if row.slice == "[]"
        ]
        return done.hours, done.later, sum(counted)

    monitor.store.append("default", [shown])
    assert evaluate(80 * MINUTE) == (1, 0, 0)
    monitor.store.append("default", [click])
    # An eighth of its age is 11 minutes and a quarter.
    assert evaluate(90 * MINUTE) == (0, 1, 0)
    assert evaluate(91 * MINUTE) == (0, 1, 0)
    assert evaluate(92 * MINUTE) == (1, 0, 1)
    assert evaluate(93 * MINUTE) == (0, 0, 1)


def test_stored_cells_are_the_windows_of_the_events(monitor):
    monitor.store.append("default", make_events(7))
    monitor.evaluate()
    contexts = monitor.store.contexts("default")
    progress = monitor.store.progress("default", MUSIC.digest)
    chunks = monitor.store.read("default")
    evaluated = [*evaluate_chunks(chunks, CLICKS, now=NOW, threads=1)]
    cells = sum_cells(evaluated, contexts, Slicing.from_json(progress.slicing))
    stored = [unpack_cell(row) for row in monitor.store.cells("default", MUSIC.digest)]
    hours = monitor.store.hours("default", MUSIC.digest)
    closed = {key: cell for key, cell in cells.items() if key.start + 4 * HOUR <= NOW}
    assert {one.key: one.cell for one in stored if one.key in closed} == closed
    for name in ("late", "unshown"):
        expected = sum(int(getattr(each.graded, name).sum()) for each in evaluated)
        assert sum(getattr(hour, name) for hour in hours) == expected > 0
    assert {sum(unpack_ages(hour)) for hour in hours} != {0}


def test_an_hour_is_final_once_its_last_attribution_window_is_closed(tmp_path):
    times = [0]
    with open_monitor(tmp_path, "x", times) as monitor:
        shown = [Ranking(f"e{at}", f"r{at}", at * MINUTE, PAIR) for at in (0, 59)]
        monitor.store.append("default", shown)

        def look(now):
            times.append(now)
            monitor.evaluate()
            return monitor.series("nDCG@3")

        window = CLICKS.window * 1_000_000
        assert look(window + HOUR - 1).is_final == (False,)
        assert look(window + HOUR).is_final == (True,)
        # What is not labelled by then is not relevant.
        assert look(window + HOUR).empty == (2,)


@pytest.mark.parametrize("measure", ["nDCG@3", "RR@3"])
def test_intervals_are_cluster_robust(monitor, measure):
    generator = random.Random(3)
    events = []
    for number in range(60):
        user = f"u{generator.randrange(9)}"
        events += [
            Ranking(f"e{number}", f"r{number}", number * MINUTE, ITEMS, user_id=user),
            Label(f"l{number}", f"r{number}", generator.choice("abc"), number * MINUTE, ("click",)),
        ]
    monitor.store.append("default", events)
    monitor.evaluate()
    series = monitor.series(measure)
    means = measure_rankings(monitor.store, CLICKS, "production", now=NOW, until=HOUR).means
    baseline = means[measure]
    assert series.values == (baseline.value,)
    assert np.allclose((*series.lower, *series.upper), (baseline.lower, baseline.upper), atol=1e-12)


def test_a_set_is_measured_with_its_slices(monitor):
    events = make_events(5)
    monitor.store.append("default", events)
    monitor.evaluate()
    found = monitor.baseline()
    expected = measure_rankings(monitor.store, CLICKS, "validation")
    assert replace(found, slices={}) == expected
    tv = found.slices[("device", "tv"),]
    table = monitor.slices("nDCG@3").to_dict()
    assert table["device=tv"]["baseline"] == tv[0]
    # A label of the set changes it, and another does not.
    validation = next(
        one for one in events if isinstance(one, Ranking) and one.environment == "validation"
    )
    later = Label("new", validation.ranking_id, "a", validation.time + DAY, ("buy",))
    monitor.store.append("default", [later])
    monitor.evaluate()
    assert monitor.baseline() == replace(
        measure_rankings(monitor.store, CLICKS, "validation"),
        slices=monitor.baseline().slices,
    )


def test_another_definition_begins_anew(monitor):
    monitor.store.append("default", make_events(2))
    monitor.evaluate()
    before = MUSIC.digest
    changed = replace(MUSIC, definition=replace(CLICKS, window=1800))
    monitor.configure(changed, actor="me")
    assert len(monitor.series("nDCG@3")) == 0
    assert monitor.evaluate().hours > 30
    assert len(monitor.series("nDCG@3")) > 30
    assert monitor.store.cells("default", before) == []
    actions = [entry.action for entry in monitor.store.audit("default")]
    assert actions == ["configuration.set", *["rule.create"] * 2, "configuration.set"]


@pytest.mark.parametrize("hours", [1, 4])
def test_windows_of_deleted_events_stay_whatever_comes_for_them(tmp_path, hours):
    times = [4 * HOUR]
    with open_monitor(tmp_path, "x", times) as monitor:

        def look():
            monitor.evaluate()
            return monitor.store.cells("default", MUSIC.digest, None, hours * HOUR)

        monitor.store.append("default", make_events(3))
        before = look()
        assert {row.is_mature for row in before} == ({True} if hours == 1 else {True, False})
        # The façade refuses to delete what is not final; the clock may have been wrong.
        assert monitor.store.delete_before("default", hours * HOUR).rankings > 0
        times.append(NOW)
        late = Ranking("late", "late", 5, PAIR, user_id="u")
        monitor.store.append("default", [late, Label("l", "late", "b", 6, ("click",))])
        assert look() == before
        assert monitor.series("nDCG@3", every="day").times == (to_datetime(0), to_datetime(DAY))


def test_measures_keep_their_days_without_events_when_others_come_and_go(tmp_path):
    """The cut is within the first day, whose other hours are summed again."""
    others = define(
        measures=["P@2", "nDCG@3"], positive={"click": 1, "buy": 3}, window=CLICKS.window
    )
    changed = Configuration(definition=others, attributes=("device",))

    def look(monitor, measure):
        places = ((), (("device", "tv"),))
        return {
            (every, place): monitor.series(measure, every=every, slice=place)
            for every in ("hour", "day")
            for place in places
        }

    with open_monitor(tmp_path, "whole", [NOW]) as whole:
        whole.store.append("default", make_events(3))
        whole.configure(changed)
        whole.evaluate()
        expected = look(whole, "P@2")
    with open_monitor(tmp_path, "x", [NOW]) as monitor:
        monitor.store.append("default", make_events(3))
        monitor.evaluate()
        before, delays = look(monitor, "nDCG@3"), monitor.maturity()
        assert monitor.delete_before(to_datetime(12 * HOUR)).rankings > 0
        monitor.configure(changed)
        monitor.evaluate()
        # Some values are NaN.
        assert repr(look(monitor, "nDCG@3")) == repr(before)
        assert monitor.maturity() == delays
        for (every, place), series in look(monitor, "P@2").items():
            other = expected[every, place]
            assert (series.times, series.rankings) == (other.times, other.rankings)
            for at, time in enumerate(series.times):
                if time < to_datetime(12 * HOUR) and every == "hour":
                    assert (series.defined[at], repr(series.values[at])) == (0, "nan")
                elif time >= to_datetime(12 * HOUR):
                    assert repr(series.values[at]) == repr(other.values[at])
                    assert repr(series.lower[at]) == repr(other.lower[at])
        assert recompute_windows(monitor.store, "default", changed, is_complete=True).wrong == ()
        monitor.verify()
        # With other weights, all values are others.
        heavier = define(measures=["nDCG@3"], positive={"click": 2, "buy": 3}, window=CLICKS.window)
        monitor.configure(replace(changed, definition=heavier))
        monitor.evaluate()
        assert monitor.series("nDCG@3").times[0] >= to_datetime(12 * HOUR)


def test_what_comes_while_rankings_are_read_is_known_when_it_is_met(monitor):
    contexts = Contexts(monitor.store, "default")
    monitor.store.append("default", [Ranking("e", "r", 0, Items((), ()), model="new")])
    (chunk,) = monitor.store.read("default")
    assert contexts[int(chunk.contexts[0])].model == "new"
    with pytest.raises(KeyError):
        contexts[-1]
