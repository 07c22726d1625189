"""Rankings that come again in another hour count once, as if they had been sent twice."""

from __future__ import annotations

import random
from datetime import timedelta
from typing import Any

import pytest

pytest.importorskip("pyarrow", reason="a lake needs PyArrow")
pytest.importorskip("sqlalchemy", reason="the store needs SQLAlchemy")

from rankscope import UsageError
from rankscope.monitor import Monitor
from rankscope.monitor.events.event import Label, Ranking
from rankscope.monitor.events.limits import DAY, HOUR, MINUTE
from rankscope.records import replace

from tests.monitor.lake.lakes import write_lake
from tests.monitor.lake.test_lake import BEGIN, Log, configure, describe, make_events

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from rankscope.monitor.events.event import Event

COMPARED = ("cells", "days", "versions", "pending", "labels")
"""What does not name the hours whose rankings have all turned out to be repeated."""


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Log]:
    log = Log(tmp_path, configure())
    yield log
    log.close()


def shown_at(time: int, name: str = "r") -> Ranking:
    """A ranking at a time."""
    first = next(one for one in make_events(40) if isinstance(one, Ranking) and one.items.doc_ids)
    return replace(first, time=time, ranking_id=name, event_id=name)


def click(ranking: Ranking, after: int) -> Label:
    """A click on the first document of a ranking."""
    doc_id = ranking.items.doc_ids[0]
    time = ranking.time + after
    return Label(f"{ranking.ranking_id} {time}", ranking.ranking_id, doc_id, time, ("click",))


def compare(log: Log, *events: Event) -> dict[str, Any]:
    """Evaluate the lake, and compare it with a store that ingests events in their order."""
    log.lake.evaluate(is_replay=True)
    log.store.writer.append(
        "default", sorted(events, key=lambda one: (isinstance(one, Label), one.time))
    )
    log.store.evaluate(is_replay=True)
    lake, store = describe(log.lake), describe(log.store)
    for name in COMPARED:
        assert lake[name] == store[name], name
    assert count(log.lake) == count(log.store)
    return lake


def count(monitor: Monitor) -> dict[str, int]:
    """How many events were accepted and left out, by code."""
    counters = monitor.store.counters("default")
    return {code: number for code, number in counters.items() if number}


def test_a_ranking_that_comes_again_an_hour_later_counts_once(log: Log) -> None:
    first, again = shown_at(BEGIN + 5 * HOUR), shown_at(BEGIN + 6 * HOUR + MINUTE)
    other = shown_at(BEGIN + 6 * HOUR, "other")
    events: list[Event] = [first, again, other, click(first, 5 * MINUTE), click(again, MINUTE)]
    write_lake(log.folder, events)
    log.connect()
    found = compare(log, *events)
    assert found["counters"] == {"accepted": 4, "conflict": 1}
    kept = log.lake.store.find_ranking("default", "r")
    assert kept is not None
    assert kept.time == first.time
    assert len(log.lake.store.find_labels("default", "r")) == 2
    log.lake.store.verify()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("seed", "explodes"),
    [
        (0, False),
        (1, True),
        pytest.param(1, False, marks=pytest.mark.thorough(reason="another seed of the same")),
        pytest.param(0, True, marks=pytest.mark.thorough(reason="another seed of the same")),
    ],
)
def test_lakes_with_repeated_rankings_have_the_values_of_ingested_events(
    log: Log, seed: int, *, explodes: bool
) -> None:
    draw = random.Random(seed)
    events = [
        event
        for event in make_events(60, seed)
        if event.ranking_id != "nobody" and (isinstance(event, Label) or event.items.doc_ids)
    ]
    shown = [event for event in events if isinstance(event, Ranking)]
    # Some come again, once or twice, at most a day after the time before.
    repeated: list[Event] = []
    for one in draw.sample(shown, 25):
        time = one.time
        for _ in range(draw.randrange(1, 3)):
            time += draw.choice([0, HOUR, 5 * HOUR, 23 * HOUR])
            if time < BEGIN + 3 * DAY:
                repeated.append(replace(one, time=time))
    everything = [*events, *repeated]
    draw.shuffle(everything)
    # In two runs, so that repeated rankings come before the first, too.
    half = len(everything) // 2
    write_lake(log.folder, everything[:half], "part-1", explodes=explodes)
    log.connect()
    log.lake.evaluate(is_replay=True)
    write_lake(log.folder, everything[half:], "part-0", explodes=explodes)
    if explodes:
        # Rows of one ranking in two files of an hour are more documents, and not a repeated one.
        lake = log.lake.evaluate(is_replay=True)
        assert lake.scan is not None
    else:
        compare(log, *everything)
    # What was read step by step is what is read at once.
    fresh = Monitor.open(str(log.folder / "fresh.db"), now=lambda: log.now)
    with fresh:
        fresh.configure(configure())
        fresh.connect_lake(log.folder / "impressions", log.folder / "clicks")
        fresh.evaluate(is_replay=True)
        stepwise, at_once = describe(log.lake), describe(fresh)
        for name in COMPARED:
            assert stepwise[name] == at_once[name], name
        assert count(log.lake) == count(fresh)


def test_a_repeated_ranking_counts_once_the_first_is_gone(log: Log) -> None:
    first, again = shown_at(BEGIN + 5 * HOUR), shown_at(BEGIN + 7 * HOUR)
    [file] = write_lake(log.folder, [first], "first")
    write_lake(log.folder, [again, shown_at(BEGIN, "other"), click(again, MINUTE)])
    log.connect()
    log.lake.evaluate()
    assert log.lake.store.counters("default") == {"accepted": 3, "conflict": 1}
    file.unlink()
    log.lake.evaluate()
    assert count(log.lake) == {"accepted": 3}
    kept = log.lake.store.find_ranking("default", "r")
    assert kept is not None
    assert kept.time == again.time


def test_ids_of_events_are_compared_with_those_of_other_hours(log: Log) -> None:
    first = replace(shown_at(BEGIN + HOUR), event_id="event")
    events = [first, replace(shown_at(BEGIN + 3 * HOUR, "other"), event_id="event")]
    write_lake(log.folder, events)
    log.lake.connect_lake(log.folder / "impressions")
    compare(log, *events)
    assert count(log.lake) == {"accepted": 1, "conflict": 1}


def test_a_rejected_row_is_not_the_first_of_its_ranking(log: Log) -> None:
    first = shown_at(BEGIN + HOUR)
    ranks = (1,) * len(first.items.ranks)
    bad = replace(first, items=replace(first.items, ranks=ranks))
    write_lake(log.folder, [bad, shown_at(BEGIN + HOUR, "other"), shown_at(BEGIN + 2 * HOUR)])
    log.lake.connect_lake(log.folder / "impressions")
    log.lake.evaluate()
    kept = log.lake.store.find_ranking("default", "r")
    assert kept is not None
    assert kept.time == BEGIN + 2 * HOUR


@pytest.mark.parametrize(("within", "counts"), [("0s", 2), ("2h", 2), ("3h", 1), ("24h", 1)])
def test_hours_further_apart_are_not_compared(log: Log, within: str, counts: int) -> None:
    write_lake(log.folder, [shown_at(BEGIN + HOUR), shown_at(BEGIN + 4 * HOUR)])
    log.lake.connect_lake(log.folder / "impressions", duplicates_within=within)
    log.lake.evaluate()
    assert sum(hour.rankings for hour in log.lake.store.lake_hours("default")) == counts
    # A change of the option reads the files again.
    log.lake.connect_lake(log.folder / "impressions", duplicates_within="3h")
    log.lake.evaluate()
    assert sum(hour.rankings for hour in log.lake.store.lake_hours("default")) == 1


def test_a_negative_time_between_duplicates_is_refused(log: Log) -> None:
    (log.folder / "impressions").mkdir()
    with pytest.raises(UsageError):
        log.lake.connect_lake(log.folder / "impressions", duplicates_within=timedelta(hours=-1))
