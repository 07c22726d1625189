from __future__ import annotations

import math
import random
from contextlib import ExitStack
from dataclasses import replace
from itertools import count, pairwise

import pytest
from rankscope.monitor.definition.configuration import Configuration
from rankscope.monitor.definition.definition import define
from rankscope.monitor.definition.slices import Slicing
from rankscope.monitor.evaluate.refresh import refresh
from rankscope.monitor.evaluate.stored_windows import unpack_cell
from rankscope.monitor.events.event import Items, Ranking
from rankscope.monitor.events.limits import DAY, HOUR, MINUTE
from rankscope.monitor.events.times import to_datetime
from rankscope.monitor.monitor import Monitor
from rankscope.monitor.signals import reference
from rankscope.monitor.signals import refresh as refreshing
from rankscope.monitor.signals.kinds import NAMES, digest
from rankscope.monitor.signals.refresh import find_known, read_signals

from tests.monitor.signals.plain import measure, place

CONFIGURATION = Configuration(
    definition=define(measures=["nDCG@3"], positive="click", window="1h"),
    attributes=("country", "device"),
    most=2,
)
END = 10 * DAY
NOW = END + 2 * HOUR


def make_rankings(seed, size=700, *, end=END):
    """Rankings of ten days and of a validation set, in the order in which they come."""
    generator = random.Random(seed)
    docs = [f"d{number}" for number in range(60)]
    # Values in the order of their first rankings; the third has no slice of its own.
    rankings = [
        Ranking(
            f"v{number}",
            f"v{number}",
            number % 2 * DAY,
            Items(tuple(generator.sample(docs, 3)), (1, 2, 3), (3.0, 2.0, float(number % 3))),
            model="m",
            version="3",
            environment="validation",
            attributes=(("country", "de"), ("device", "tv")),
        )
        for number in range(20)
    ]
    # From the first hour to the last, so that all days are over.
    times = [0, *sorted(generator.randrange(end) for _ in range(size)), end - 1]
    for number, time in enumerate(times):
        shown = generator.sample(docs, generator.choice([0, 1, 4, 12]))
        scores = [generator.choice([None, 1.0, 2.0, generator.random()]) for _ in shown]
        attributes = {
            "country": generator.choice(["de", "us", "fr"]),
            "device": generator.choice(["tv", "phone"]),
        }
        if time < 3 * DAY:
            attributes.pop("device")
        rankings.append(
            Ranking(
                f"e{number}",
                f"r{number}",
                time - time % MINUTE,
                Items(
                    tuple(shown),
                    tuple(at + 1 + (at > 2) for at in range(len(shown))),
                    tuple(scores) if generator.random() < 0.7 else (),
                ),
                query_key=generator.choice(["", "jazz", "rock", "pop"]),
                user_id=generator.choice(["", "u", "v", "w"]),
                model="n" if number % 5 == 4 else "m",
                version="3" if time < 6 * DAY else "4",
                environment="training" if number % 20 == 13 else "production",
                attributes=tuple(sorted(attributes.items())),
            )
        )
    return rankings


def rename(rankings, later=0):
    return [
        replace(
            one, event_id=f"x{one.event_id}", ranking_id=f"x{one.ranking_id}", time=one.time + later
        )
        for one in rankings
    ]


@pytest.fixture
def times():
    """The clock of monitors is the last of these."""
    return [NOW]


@pytest.fixture
def opener(tmp_path, times):
    numbers = count()
    with ExitStack() as opened:

        def open_monitor(events=()):
            path = f"{tmp_path}/{next(numbers)}.db"
            monitor = Monitor.open(path, now=lambda: to_datetime(times[-1]), threads=1)
            opened.enter_context(monitor).configure(CONFIGURATION)
            monitor.store.append("default", events)
            return monitor

        yield open_monitor


def spell_out(monitor, configuration=CONFIGURATION):
    return [
        monitor.store.cells("default", digest(configuration), length=length)
        for length in (HOUR, DAY)
    ]


def cells_of(monitor, length=HOUR):
    return [*read_signals(monitor.store, "default", monitor.configuration, length=length)]


def means_of(cell):
    return dict(zip(NAMES, cell.cell.means(), strict=True))


@pytest.mark.slow
def test_cells_are_the_means_of_what_rankings_say(opener):
    monitor = opener(events := make_rankings(1, 250))
    compute(monitor)
    assert {one.key.environment for one in cells_of(monitor)} == {"production"}
    shown = [one for one in events if one.environment == "production"]
    cells = [one for one in cells_of(monitor) if one.key.start >= 8 * DAY]
    kept = {
        "country": {value for one in cells for name, value in one.key.slice if name == "country"}
    }
    assert kept["country"] == {"de", "us", "<other>"} or "<other>" in kept["country"]
    covered = 0
    for key, cell, spread in cells:
        names = tuple(name for name, _ in key.slice)
        day = key.start - key.start % DAY

        def told(one, name):
            value = place(one, name)
            known = kept.get(name, {value})
            return "<missing>" if value is None else value if value in known else "<other>"

        def simplify(one):
            named = tuple((name, told(one, name)) for name, _ in one.attributes)
            return replace(one, attributes=named)

        theirs = [simplify(one) for one in shown if one.model == key.model]
        before = [one for one in theirs if day - 7 * DAY <= one.time < day]
        members = [
            one
            for one in theirs
            if key.start <= one.time < key.start + HOUR
            and one.version == key.version
            and all(place(one, name) == value for name, value in key.slice)
        ]
        rows = [measure(one, before, names) for one in members]
        assert cell.tally("rankings") == len(members) > 0
        assert cell.tally("missing") == sum(not one.items.doc_ids for one in members)
        assert cell.tally("documents") == sum(len(one.items) for one in members)
        for name, mean in zip(NAMES, cell.means(), strict=True):
            values = [row[name] for row in rows if not math.isnan(row[name])]
            wanted = sum(values) / len(values) if values else math.nan
            assert mean == pytest.approx(wanted, abs=1e-12, nan_ok=True), (key, name)
        assert len(spread) == (len(NAMES) if len(names) < 2 else 0)
        covered += len(members)
    expected = sum(one.time >= 8 * DAY for one in shown)
    assert covered == 4 * expected  # in all rankings, two attributes and their pair


def compute(monitor, now=None, threads=1):
    """Compute windows and signals as of some time, as a round does."""
    configuration = monitor.configuration
    now = monitor.clock() if now is None else now
    slicing = refresh(monitor.writer, "default", configuration, now=now, threads=1).slicing
    return refreshing.refresh_signals(
        monitor.writer, "default", configuration, slicing, now=now, threads=threads
    )


@pytest.mark.slow
def test_signals_do_not_depend_on_when_they_were_computed(opener):
    events = make_rankings(2, 250)
    once, often, outage = opener(events), opener(), opener()
    compute(once, NOW)
    sets = [one for one in events if one.environment == "validation"]
    others = [one for one in events if one.environment != "validation"]
    for monitor in (often, outage):
        monitor.store.append("default", sets)
    # As they come, and with a service that was away for two days and a half.
    moments = [*range(5 * HOUR, 8 * DAY, 23 * HOUR), *range(END - 8 * HOUR, NOW + 1, HOUR)]
    for before, now in pairwise([0, *moments]):
        new = [one for one in others if before <= one.time < now]
        for monitor in (often, outage):
            monitor.store.append("default", new)
        compute(often, now)
        if not 4 * DAY + 5 * HOUR < now < 6 * DAY + 17 * HOUR:
            compute(outage, now)
    assert spell_out(often) == spell_out(once)
    assert spell_out(outage) == spell_out(once)
    known = find_known(once.store, "default", CONFIGURATION)
    assert known == find_known(outage.store, "default", CONFIGURATION)
    assert known[1] == END


@pytest.mark.slow
def test_chunks_and_threads_make_no_difference(opener, monkeypatch):
    events = make_rankings(3, 60)
    whole, parts = opener(events), opener(events)
    assert compute(whole, NOW).is_new
    read = type(parts.store).read
    monkeypatch.setattr(
        type(parts.store),
        "read",
        lambda store, *given, **named: read(store, *given, **(named | {"size": 3})),
    )
    compute(parts, NOW, threads=3)
    assert spell_out(parts) == spell_out(whole)


def test_an_hour_is_computed_once_when_it_and_the_grace_are_over(opener, times):
    def show(name, time):
        return Ranking(name, name, time, Items(("a",), (1,)), model="m")

    monitor = opener([show("a", 10 * MINUTE), show("b", 3 * HOUR)])

    def count(now):
        times.append(now)
        compute(monitor)
        return [one.cell.tally("rankings") for one in cells_of(monitor) if not one.key.slice]

    assert count(2 * HOUR - 1) == []
    assert count(2 * HOUR) == [1]
    # Too late: the hour stays as it is. Its day has what the hour has.
    monitor.store.append("default", [show("c", 20 * MINUTE)])
    assert count(5 * HOUR - 1) == [1]
    assert count(5 * HOUR) == [1, 1]
    assert count(3 * HOUR) == [1, 1]
    [day] = [one for one in cells_of(monitor, DAY) if not one.key.slice]
    assert day.cell.tally("rankings") == 2
    # Nothing more was shown: hours that may still come in one piece are not computed without it.
    assert count(30 * DAY) == [1, 1]
    monitor.store.append("default", [show("d", 20 * DAY)])
    assert count(30 * DAY) == [1, 1, 1]


def test_a_round_without_new_hours_reads_and_writes_nothing(opener, monkeypatch):
    monitor = opener(make_rankings(4, 50))
    compute(monitor)

    def refuse(*_given, **_named):
        raise AssertionError

    for name in ("put_windows", "count_by_hour", "read", "versions", "contexts"):
        monkeypatch.setattr(type(monitor.store), name, refuse)
    done = refreshing.refresh_signals(
        monitor.writer, "default", CONFIGURATION, Slicing(), now=NOW + DAY
    )
    assert (done.hours, done.is_new) == (0, False)


def test_the_first_days_say_what_they_cannot_know(opener):
    monitor = opener(make_rankings(6, 600))
    compute(monitor)
    days = {
        one.key.start // DAY: means_of(one)
        for one in cells_of(monitor, DAY)
        if not one.key.slice and one.key.model == "m" and one.key.environment == "production"
    }
    for name in ("length", "score_rank", "overlap"):
        assert [math.isnan(days[day][name]) for day in (0, 1, 9)] == [True, False, False], name
    assert [day for day in days if not math.isnan(days[day]["unseen"])] == [7, 8, 9]
    assert not any(math.isnan(means["tied"]) for means in days.values())


@pytest.mark.slow
def test_signals_stay_when_events_are_deleted(opener, times):
    events = make_rankings(9, 80)
    first, last = (
        [one for one in events if (one.time < 8 * DAY + HOUR) == is_first]
        for is_first in (True, False)
    )
    times.append(8 * DAY + 2 * HOUR)
    plain, deleted = opener(first), opener(first)
    for monitor in (plain, deleted):
        compute(monitor)
    before = spell_out(plain)
    deleted.delete_before(to_datetime(7 * DAY))
    times.append(NOW)
    for monitor in (plain, deleted):
        monitor.store.append("default", last)
        compute(monitor)
    assert spell_out(deleted)[0][: len(before[0])] == before[0]
    # All days that are kept are what a day is compared with.
    [day] = [
        one
        for one in cells_of(deleted, DAY)
        if (one.key.start, one.key.model, one.key.slice) == (8 * DAY, "m", ())
        and one.key.environment == "production"
    ]
    assert not math.isnan(means_of(day)["unseen"])


def test_what_is_left_of_an_hour_has_no_signals(opener):
    monitor = opener(make_rankings(10, 120))
    monitor.store.delete_before("default", 9 * DAY + 30 * MINUTE)
    compute(monitor)
    assert min(one.key.start for one in cells_of(monitor)) >= 9 * DAY + HOUR


@pytest.mark.slow
def test_other_slices_keep_what_is_not_in_the_log_any_more(opener):
    monitor = opener(make_rankings(11, 80))
    monitor.evaluate()
    before, known = spell_out(monitor), find_known(monitor.store, "default", CONFIGURATION)
    monitor.delete_before(to_datetime(9 * DAY))
    fewer = replace(CONFIGURATION, attributes=("device",))
    monitor.configure(fewer)
    monitor.evaluate()
    assert find_known(monitor.store, "default", fewer) == known
    assert find_known(monitor.store, "default", CONFIGURATION) is None
    after = spell_out(monitor, fewer)
    kept = [
        [row for row in rows if row.start < 9 * DAY and "country" not in row.slice]
        for rows in before
    ]
    assert [[row for row in rows if row.start < 9 * DAY] for rows in after] == kept
    assert any(row.start >= 9 * DAY for row in after[0])
    # Other measures change nothing.
    other = replace(fewer, definition=define(measures="RR@3", positive="click", window="1h"))
    monitor.configure(other)
    monitor.evaluate()
    assert spell_out(monitor, other) == after


def test_a_long_log_is_computed_for_its_last_weeks(opener, monkeypatch):
    monkeypatch.setattr(refreshing, "FIRST_DAYS", 3)
    events = make_rankings(12, 500)
    monitor = opener(events)
    compute(monitor)
    known = find_known(monitor.store, "default", CONFIGURATION)
    assert 7 * DAY <= known[0] < 7 * DAY + 3 * HOUR
    assert min(one.key.start for one in cells_of(monitor)) == known[0]
    # Compared with what was shown before, which is there.
    assert not any(
        math.isnan(means_of(one)["unseen"])
        for one in cells_of(monitor, DAY)
        if one.key.start >= 8 * DAY and one.key.slice == () and one.key.environment == "production"
    )
    monkeypatch.setattr(refreshing, "FIRST_RANKINGS", 20)
    short = opener(events)
    compute(short)
    total = sum(one.cell.tally("rankings") for one in cells_of(short) if not one.key.slice)
    assert 15 <= total <= 20


def test_a_reference_has_the_newest_rankings(opener, monkeypatch):
    events = make_rankings(13, 500)
    monitor = opener(events)
    contexts = monitor.store.contexts("default")
    codes = refreshing.ContextCodes(contexts, Slicing())
    shown = [
        one for one in events if one.environment == "production" and 2 * DAY <= one.time < 9 * DAY
    ]
    for most, documents in ((40, 10**6), (10**6, 100), (2, 2)):
        monkeypatch.setattr(reference, "MOST_RANKINGS", most)
        monkeypatch.setattr(reference, "MOST_DOCUMENTS", documents)
        counts = reference.list_hours(monitor.store, "default", codes, 2 * DAY, 9 * DAY)
        collected = reference.collect_lists(monitor.store, "default", codes, counts)
        for model, (lists, is_cut) in collected.items():
            theirs = [one for one in shown if one.model == model]
            kept = []
            for one in sorted(theirs, key=lambda one: (one.time, one.ranking_id), reverse=True):
                if len(kept) == most // 2 or sum(kept) + len(one.items) > documents // 2:
                    break
                kept.append(len(one.items))
            assert lists.sizes.tolist() == kept[::-1], (model, most)
            assert is_cut


def test_scores_as_large_as_numbers_are(opener):
    huge = 1.7e308
    lists = [(huge, -huge), (huge, huge), (huge, -huge)]
    shown = [
        Ranking(f"e{n}", f"r{n}", n * DAY, Items(("a", "b"), (1, 2), scores), query_key="q")
        for n, scores in enumerate(lists)
    ]
    monitor = opener(shown)
    compute(monitor)
    [_, day, _] = [one for one in cells_of(monitor, DAY) if not one.key.slice]
    means = means_of(day)
    assert means["score_rank"] == 0.75
    assert means["overlap"] == pytest.approx(1)


def test_versions_are_folded_as_in_windows(opener):
    shown = [
        Ranking(f"e{n}", f"r{n}", n, Items(("a", "b"), (1, 2)), model="m", version=f"{n % 130}")
        for n in range(200)
    ]
    monitor = opener([*shown, *rename(shown, DAY)])
    compute(monitor)
    for length in (HOUR, DAY):
        found = [one.key for one in cells_of(monitor, length)]
        rows = monitor.store.cells("default", CONFIGURATION.digest, length=length)
        assert {key.version for key in found} >= {"0", "<other>"}
        if length == HOUR:
            windows = {unpack_cell(row).key._replace(is_mature=True) for row in rows}
            assert set(found) == windows
        other = [one for one in cells_of(monitor, length) if one.key.version == "<other>"]
        assert {one.cell.tally("rankings") for one in other} == {60}
