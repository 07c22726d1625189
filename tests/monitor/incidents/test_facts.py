"""What changed in the lists when values did: what did, and nothing that isn't known."""

from __future__ import annotations

import random
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("sqlalchemy", reason="the store needs SQLAlchemy")

from rankscope.monitor.ask.trace import Span
from rankscope.monitor.definition.configuration import BaselineChoice, Configuration
from rankscope.monitor.definition.definition import define
from rankscope.monitor.evaluate.refresh import find_slicing
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.events.times import to_datetime, to_micros
from rankscope.monitor.incidents.facts import MOST, find_facts
from rankscope.monitor.incidents.incident import Incident
from rankscope.monitor.monitor import Monitor
from rankscope.monitor.round import make_finder
from rankscope.monitor.rules.data.counts import Segment
from rankscope.monitor.signals.refresh import refresh_signals
from rankscope.records import replace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from typing import TypeAlias

    # What a version shows where it is broken, by the query and its usual documents.
    Break: TypeAlias = Callable[[int, list[str]], list[str]]

DAYS, CAME, A_DAY = 17, 15, 72
START = to_micros(datetime(2026, 11, 2, tzinfo=UTC))
RELEASE = START + CAME * DAY + 4 * HOUR
END = START + DAYS * DAY
TV = (("device", "tv"),)
WORKS = Configuration(
    definition=define(measures=["nDCG@4"], positive="click", window="1h"),
    attributes=("device",),
    baseline=BaselineChoice(kind="version"),
)


def show(break_lists: Break, *, has_keys: bool = True) -> Iterator[dict[str, Any]]:
    """Rankings of some weeks; version 4 breaks the lists of televisions, a third of all.

    In every version alike, two neighbors swap now and then, and a list lacks its last document.
    """
    draw = random.Random(1)
    for number in range(DAYS * A_DAY):
        time = START + number * DAY // A_DAY
        query = draw.randrange(8)
        device = "tv" if number % 3 == 0 else "phone"
        docs = [f"{query} {rank}" for rank in range(6)]
        at = draw.randrange(5)
        if draw.random() < 0.3:
            docs[at], docs[at + 1] = docs[at + 1], docs[at]
        docs = docs[: 5 + (draw.random() < 0.8)]
        relevant = {f"{query} 0": 2, f"{query} 3": 1}
        if time >= RELEASE and device == "tv":
            docs = break_lists(query, docs)
        yield {
            "ranking_id": str(number),
            "time": to_datetime(time).isoformat(),
            "model": "m",
            "version": "4" if time >= RELEASE else "3",
            "user_id": f"user {draw.randrange(40)}",
            "query_key": f"query {query}" if has_keys else None,
            "attributes": {"device": device},
            "doc_ids": docs,
            "relevance": [relevant.get(doc, 0) for doc in docs],
        }


def leave(_: int, docs: list[str]) -> list[str]:
    return docs


def reverse(_: int, docs: list[str]) -> list[str]:
    return docs[::-1]


def renew(_: int, docs: list[str]) -> list[str]:
    """Two of three documents are new."""
    return [doc if at % 3 == 0 else f"new {doc}" for at, doc in enumerate(docs)]


def lose(query: int, docs: list[str]) -> list[str]:
    """Half of the queries find nothing."""
    return [] if query % 2 else docs


def open_project(path: Path, break_lists: Break, **said: Any) -> Monitor:  # noqa: ANN401 - of `show`
    """A project whose signals are stored, and nothing else."""
    monitor = Monitor.open(str(path / "x.db"), now=lambda: to_datetime(END + 2 * HOUR))
    monitor.configure(WORKS)
    monitor.log_rankings(show(break_lists, **said))
    slicing = find_slicing(monitor.store, monitor.project, WORKS)
    refresh_signals(monitor.writer, monitor.project, WORKS, slicing, now=END + 2 * HOUR, threads=1)
    return monitor


def find(monitor: Monitor, stream: Segment, since: int = RELEASE, **said: Any) -> dict[str, Any]:  # noqa: ANN401 - of `find_facts`
    """The facts of a stream by signal, in their order."""
    given = {"since": since, "until": END} | said
    facts = find_facts(monitor.store, monitor.project, monitor.configuration, stream, **given)
    return {fact["signal"]: fact for fact in facts}


@pytest.fixture(scope="module")
def reversed_lists(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Monitor]:
    """Version 4 shows the lists of televisions in the opposite order."""
    with open_project(tmp_path_factory.mktemp("reversed"), reverse) as opened:
        yield opened


@pytest.fixture(scope="module")
def same(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Monitor]:
    """Version 4 shows what version 3 did."""
    with open_project(tmp_path_factory.mktemp("same"), leave) as opened:
        yield opened


def test_lists_in_another_order_are_named_with_their_numbers(reversed_lists: Monitor) -> None:
    facts = find(reversed_lists, Segment("m", "4", TV))
    assert [*facts] == ["reordered", "overlap"]
    told = facts["reordered"]
    # Of nearly all pairs, in a third of the rankings of the day on which the version came.
    assert told["after"] > 0.9
    assert told["before"] < 0.1
    assert told["rankings"] == A_DAY // 3 * 20 // 24
    assert (told["model"], told["version"], told["slice"]) == ("m", "4", dict(TV))
    assert told["since"] == "2026-11-17T04:00:00.000000Z"
    assert told["sentence"].startswith("9")
    assert "lists of version 4 with device=tv" in told["sentence"]


def test_new_documents_are_named_and_nothing_of_lists_whose_queries_have_no_keys(
    tmp_path: Path,
) -> None:
    with open_project(tmp_path, renew, has_keys=False) as monitor:
        facts = find(monitor, Segment("m", "4", TV))
    assert [*facts] == ["unseen"]
    assert facts["unseen"]["before"] == 0.0
    assert facts["unseen"]["after"] == pytest.approx(2 / 3, abs=0.05)


def test_queries_that_find_nothing_are_named_first(tmp_path: Path) -> None:
    with open_project(tmp_path, lose) as monitor:
        facts = find(monitor, Segment("m", "4", TV))
    assert next(iter(facts)) == "no_results"
    assert facts["no_results"]["after"] == pytest.approx(0.5, abs=0.25)
    assert len(facts) <= MOST


def test_what_did_not_change_is_not_named(reversed_lists: Monitor) -> None:
    assert find(reversed_lists, Segment("m", "4", (("device", "phone"),))) == {}
    # And nothing is before it did.
    assert find(reversed_lists, Segment("m", "3", TV), RELEASE - 3 * DAY, until=RELEASE) == {}


def test_a_slice_without_signals_of_its_own_has_those_of_its_attributes(
    reversed_lists: Monitor,
) -> None:
    pair = (("country", "de"), ("device", "tv"))
    facts = find(reversed_lists, Segment("m", "4", pair))
    assert facts == find(reversed_lists, Segment("m", "4", TV))
    whole = find(reversed_lists, Segment("m", "4", (("country", "de"),)))
    assert whole["reordered"]["slice"] == {}


@pytest.mark.parametrize("off", [-1, 1])
def test_values_that_tell_a_day_too_early_or_too_late_when_they_fell_find_the_same(
    reversed_lists: Monitor, off: int
) -> None:
    arrived = find(reversed_lists, Segment("m", "4", TV), RELEASE + off * DAY)
    assert arrived == find(reversed_lists, Segment("m", "4", TV))
    # Of all versions, nobody knows the moment.
    facts = find(reversed_lists, Segment("m", "", TV), RELEASE + off * DAY)
    assert "reordered" in facts
    assert facts["reordered"]["after"] > 0.4


def test_where_nothing_changed_nothing_is_named(same: Monitor) -> None:
    streams = [Segment("m", "", place) for place in ((), TV, (("device", "phone"),))]
    moments = range(START + 9 * DAY, END - DAY, 13 * HOUR)
    named = [bool(find(same, stream, at)) for stream in streams for at in moments]
    named += [bool(find(same, Segment("m", "4", TV))), bool(find(same, Segment("m", "4")))]
    assert len(named) > 40
    assert sum(named) <= 0.05 * len(named)


def test_nothing_is_said_of_what_is_not_known(reversed_lists: Monitor, tmp_path: Path) -> None:
    none = {"model": "other"}
    assert find(reversed_lists, Segment(none["model"], "4", TV)) == {}
    assert find(reversed_lists, Segment("m", "5", TV)) == {}
    # The hour is not over, and too few days are before it.
    assert find(reversed_lists, Segment("m", "4", TV), until=RELEASE + HOUR // 2) == {}
    assert find(reversed_lists, Segment("m", "3", TV), START + 5 * DAY) == {}
    with Monitor.open(str(tmp_path / "x.db")) as opened:
        opened.configure(WORKS)
        assert find(opened, Segment("m", "4", TV)) == {}


def test_a_trace_tells_them_of_its_cause(reversed_lists: Monitor) -> None:
    found = reversed_lists.trace(Span(version="3"), Span(version="4"))
    assert found.causes[0].name == "device=tv, version=4"
    assert {fact["signal"]: fact for fact in found.facts} == find(
        reversed_lists, Segment("", "4", TV)
    )
    text = str(found).splitlines()
    at = text.index("What else changed at the same time, which doesn't prove a cause:")
    told = found.facts[0]
    assert text[at + 1] == f"{told['sentence']} (20 rankings since 2026-11-17 04:00 UTC)"
    assert found.to_dict()["facts"] == list(found.facts)


def test_a_trace_without_a_change_tells_none(same: Monitor) -> None:
    found = same.trace(Span(version="3"), Span(version="4"))
    assert found.facts == ()
    assert "at the same time" not in str(found)


def test_versions_are_compared_as_of_when_the_second_one_came(reversed_lists: Monitor) -> None:
    last = Span(to_datetime(RELEASE + DAY // 2), version="4")
    assert (
        reversed_lists.trace(Span(version="3"), last).facts
        == reversed_lists.trace(Span(version="3"), Span(version="4")).facts
    )


def test_an_incident_tells_them_with_its_cause_or_without_one(reversed_lists: Monitor) -> None:
    find_cause = make_finder(reversed_lists.store, reversed_lists.project, WORKS, 1)
    now = to_datetime(END + 2 * HOUR)
    incident = Incident(
        incident_id="i",
        project=reversed_lists.project,
        rule="quality",
        kind="quality",
        measure="nDCG@4",
        model="m",
        version="4",
        opened=now,
        began=to_datetime(RELEASE),
        updated=now,
    )
    cause = find_cause(incident, now)
    assert cause is not None
    assert cause["slice"] == {"device": "tv", "version": "4"}
    told = find(reversed_lists, Segment("m", "4", TV))
    assert cause["facts"] == list(told.values())
    # Version 3 has no version before it to compare with, so that nothing is traced.
    assert find_cause(replace(incident, version="3"), now) is None
    alone = find_cause(replace(incident, version="<all>", slice=TV, began=now), now)
    assert alone is None
