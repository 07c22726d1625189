from __future__ import annotations

import random
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest
from rankscope.monitor.ask.trace import Span
from rankscope.monitor.commands.incidents import describe_incident
from rankscope.monitor.definition.calendar import Calendar, Period
from rankscope.monitor.definition.configuration import BaselineChoice, Configuration
from rankscope.monitor.definition.definition import define
from rankscope.monitor.evaluate.refresh import find_slicing
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.events.times import to_datetime, to_micros
from rankscope.monitor.incidents.facts import (
    MOST,
    _find_earlier,
    find_changes,
    find_facts,
    find_facts_of_incident,
)
from rankscope.monitor.incidents.grouping import list_facts
from rankscope.monitor.monitor import Monitor
from rankscope.monitor.round import make_finder
from rankscope.monitor.rules.data.counts import Segment
from rankscope.monitor.rules.early.usual import Sums
from rankscope.monitor.signals.kinds import SIGNALS
from rankscope.monitor.signals.refresh import refresh_signals
from rankscope.monitor.store.folding import OTHER
from rankscope.monitor.store.records import Version

from tests.monitor.notify.notices import make_incident

DAYS, CAME, A_DAY = 17, 15, 96
START = to_micros(datetime(2026, 11, 2, tzinfo=UTC))
RELEASE = START + CAME * DAY + 4 * HOUR
END = START + DAYS * DAY
TV, PHONE, CAR, WATCH = ((("device", name),) for name in ("tv", "phone", "car", "watch"))
WORKS = Configuration(
    definition=define(measures=["nDCG@4"], positive="click", window="1h"),
    attributes=("device",),
    baseline=BaselineChoice(kind="version"),
)


def show():
    """Rankings of some weeks; version 4 breaks the lists of three of four devices.

    Televisions get them in the opposite order, phones get other documents for two of three, and
    cars nothing for half of the queries. In every version alike, two neighbors swap now and then,
    and a list lacks its last document. Queries on phones have no keys.
    """
    draw = random.Random(1)
    for number in range(DAYS * A_DAY):
        time = START + number * DAY // A_DAY
        query = draw.randrange(8)
        device = ("tv", "phone", "car", "watch")[number % 4]
        docs = [f"{query} {rank}" for rank in range(6)]
        at = draw.randrange(5)
        if draw.random() < 0.3:
            docs[at], docs[at + 1] = docs[at + 1], docs[at]
        docs = docs[: 5 + (draw.random() < 0.8)]
        relevant = {f"{query} 0": 2, f"{query} 3": 1}
        if time >= RELEASE:
            broken = {
                "tv": docs[::-1],
                "phone": [doc if at % 3 == 0 else f"new {doc}" for at, doc in enumerate(docs)],
                "car": [] if query % 2 else docs,
            }
            docs = broken.get(device, docs)
        yield {
            "ranking_id": str(number),
            "time": to_datetime(time).isoformat(),
            "model": "m",
            "version": "4" if time >= RELEASE else "3",
            "user_id": f"user {draw.randrange(40)}",
            "query_key": f"query {query}" if device != "phone" else None,
            "attributes": {"device": device},
            "doc_ids": docs,
            "relevance": [relevant.get(doc, 0) for doc in docs],
        }


@pytest.fixture(scope="module")
def monitor(tmp_path_factory):
    """A project whose signals are stored, and nothing else."""
    now = END + 2 * HOUR
    path = tmp_path_factory.mktemp("facts") / "x.db"
    with Monitor.open(str(path), now=lambda: to_datetime(now)) as opened:
        opened.configure(WORKS)
        opened.log_rankings(show())
        slicing = find_slicing(opened.store, opened.project, WORKS)
        refresh_signals(opened.writer, opened.project, WORKS, slicing, now=now, threads=1)
        yield opened


def find(monitor, stream, since=RELEASE, **said):
    given = {"since": since, "until": END} | said
    facts = find_facts(monitor.store, monitor.project, monitor.configuration, stream, **given)
    return {fact["signal"]: fact for fact in facts}


def test_each_device_has_the_facts_of_what_was_broken_on_it(monitor):
    facts = find(monitor, Segment("m", "4", TV))
    assert [*facts] == ["overlap"]
    told = facts["overlap"]
    # Nearly reversed, in a fourth of the rankings of the rest of that day.
    assert told["after"] < 0.8
    assert told["before"] > 0.9
    assert told["rankings"] == A_DAY // 4 * 20 // 24
    assert (told["model"], told["version"], told["slice"]) == ("m", "4", dict(TV))
    assert told["since"] == "2026-11-17T04:00:00.000000Z"
    assert told["sentence"].startswith("Lists of version 4 with device=tv overlap ")
    assert "% with those of version 3 for the same queries; " in told["sentence"]
    facts = find(monitor, Segment("m", "4", PHONE))
    assert [*facts] == ["unseen"]
    assert facts["unseen"]["before"] == 0.0
    assert facts["unseen"]["after"] == pytest.approx(2 / 3, abs=0.05)
    facts = find(monitor, Segment("m", "4", CAR))
    assert next(iter(facts)) == "no_results"
    assert facts["no_results"]["before"] == 0.0
    assert facts["no_results"]["after"] == pytest.approx(0.5, abs=0.25)
    assert len(facts) == MOST
    assert find(monitor, Segment("m", "4", WATCH)) == {}
    # And nothing is before it did.
    assert find(monitor, Segment("m", "3", TV), RELEASE - 3 * DAY, until=RELEASE) == {}


OLD = Version("m", "3", "production", START, RELEASE + HOUR, 9)
NEW = Version("m", "4", "production", RELEASE, END, 9)
WEEK = RELEASE - RELEASE % DAY - 7 * DAY


@pytest.mark.parametrize(
    ("others", "named"),
    [
        ([], "3"),
        ([replace(OLD, version="2", last=WEEK - 1)], "3"),
        ([replace(OLD, version="2", last=WEEK)], ""),
        ([replace(OLD, model="n", version="2")], "3"),
        ([replace(OLD, environment="test", version="2")], "3"),
        ([replace(NEW, version="5", first=RELEASE)], "3"),
        ([replace(NEW, version="5", first=RELEASE - 1)], ""),
    ],
)
def test_the_only_version_of_the_days_before_is_named(others, named):
    assert _find_earlier([OLD, NEW, *others], Segment("m", "4", TV), RELEASE) == named


def test_no_version_is_named_that_isnt_known():
    assert _find_earlier([OLD, NEW], Segment("m", "", TV), RELEASE) == ""
    assert _find_earlier([NEW], Segment("m", "4", TV), RELEASE) == ""
    for version in ("", OTHER):
        known = replace(OLD, version=version)
        assert _find_earlier([known, NEW], Segment("m", "4", TV), RELEASE) == ""


def test_a_slice_without_signals_of_its_own_has_those_of_its_attributes(monitor):
    pair = (("country", "de"), ("device", "tv"))
    facts = find(monitor, Segment("m", "4", pair))
    assert facts == find(monitor, Segment("m", "4", TV))
    whole = find(monitor, Segment("m", "4", (("country", "de"),)))
    assert whole["overlap"]["slice"] == {}
    # What a trace combines as `<other>` isn't what signals do.
    assert find(monitor, Segment("m", "4", (("device", "<other>"),))) == whole


@pytest.mark.parametrize("off", [-1, 1])
def test_values_that_tell_a_day_too_early_or_too_late_when_they_fell_find_the_same(monitor, off):
    arrived = find(monitor, Segment("m", "4", TV), RELEASE + off * DAY)
    assert arrived == find(monitor, Segment("m", "4", TV))
    # Of all versions, nobody knows the moment.
    facts = find(monitor, Segment("m", "", TV), RELEASE + off * DAY)
    assert facts["overlap"]["after"] < 0.9


def draw_quiet(random, *, days=37, a_day=120):
    """The sums of signals of lists in which nothing changes: users differ, and so do days.

    The effect of a day is like that of the day before; values are shares, or 0 and 1.
    """
    hours = np.repeat(np.arange(days), a_day) * 24 + random.integers(0, 24, days * a_day)
    user = (80 * random.random(len(hours)) ** 2).astype(int)
    groups, of = np.unique(hours * 80 + user, return_inverse=True)
    count = np.bincount(of).astype(float)
    rows = []
    for number in range(len(SIGNALS)):
        effects = random.normal(0, 0.15, days)
        for day in range(1, days):
            effects[day] = 0.8 * effects[day - 1] + 0.6 * effects[day]
        logit = random.uniform(-4, 2) + effects[hours // 24] + random.normal(0, 0.5, 80)[user]
        mean = 1 / (1 + np.exp(-logit))
        is_binary = number % 3 == 0
        values = (
            random.random(len(hours)) < mean if is_binary else random.beta(4 * mean, 4 - 4 * mean)
        )
        total = np.bincount(of, values)
        moments = (count, total, count**2, total * count, total**2)
        rows.append([np.bincount(groups // 80, each, days * 24) for each in moments])
    return Sums(*np.array(rows).transpose(1, 0, 2))


def test_days_without_a_fault_have_hardly_any_fact():
    random = np.random.default_rng(20261128)
    named = []
    for _ in range(60):
        stream = draw_quiet(random)
        for is_exact in (True, False):
            found = find_changes(stream, stream, 33 * 24 + 9, 72, is_exact=is_exact)
            assert found is not None
            named.append(bool(found))
    assert sum(named) <= 0.05 * len(named)
    # The same, but for one signal, which falls by half.
    fallen = draw_quiet(random)
    may_fall = [at for at, one in enumerate(SIGNALS) if one.suspicious != "rise"]
    hit = max(may_fall, key=lambda at: fallen.total[at].sum())
    fallen.total[hit, 33 * 24 + 9 :] *= 0.5
    [told, *_] = find_changes(fallen, fallen, 33 * 24 + 9, 72, is_exact=True) or [{}]
    assert told["signal"] == SIGNALS[hit].name


def test_days_of_the_calendar_tell_nothing(monitor):
    def find_with(first):
        works = replace(WORKS, calendar=Calendar((Period(name="Fair", first=first),)))
        stream, span = Segment("m", "4", TV), {"since": RELEASE, "until": END}
        return find_facts(monitor.store, monitor.project, works, stream, **span)

    assert find_with("2026-11-17") == find_with("2026-11-10") == ()
    assert find_with("2026-10-20") == tuple(find(monitor, Segment("m", "4", TV)).values())


def test_nothing_is_said_of_what_is_not_known(monitor, tmp_path):
    assert find(monitor, Segment("other", "4", TV)) == {}
    assert find(monitor, Segment("m", "5", TV)) == {}
    # The hour is not over, and too few days are before it.
    assert find(monitor, Segment("m", "4", TV), until=RELEASE + HOUR // 2) == {}
    assert find(monitor, Segment("m", "3", TV), START + 5 * DAY) == {}
    with Monitor.open(str(tmp_path / "x.db")) as opened:
        opened.configure(WORKS)
        assert find(opened, Segment("m", "4", TV)) == {}


def test_a_trace_tells_them_of_its_cause_whatever_span_is_asked_for(monitor):
    found = monitor.trace(Span(version="3"), Span(version="4"))
    cause = found.causes[0]
    assert cause.name == "device=tv, version=4"
    assert list(found.facts) == [*find(monitor, Segment("", "4", TV)).values()]
    text = str(found).splitlines()
    at = text.index("What else changed at the same time, which doesn't prove a cause:")
    told = found.facts[0]
    assert text[at + 1] == f"{told['sentence']} (20 rankings from 2026-11-17 04:00 UTC)"
    assert found.to_dict()["facts"] == list(found.facts)
    last = Span(to_datetime(RELEASE + DAY // 2), version="4")
    told = monitor.trace(Span(version="3"), last)
    assert told.causes[0].name == "device=tv, version=4"
    assert told.facts == monitor.trace(Span(version="3"), Span(version="4")).facts
    half = to_datetime(RELEASE - 3 * DAY)
    found = monitor.trace(Span(until=half), Span(half, to_datetime(RELEASE)))
    assert found.facts == ()
    assert "at the same time" not in str(found)


def test_an_incident_tells_them_with_its_cause_or_without_one(monitor):
    find_cause = make_finder(monitor.store, monitor.project, WORKS, 1)
    now = to_datetime(END + 2 * HOUR)
    said = {"project": monitor.project, "measure": "nDCG@4", "model": "m", "version": "4"}
    incident = make_incident(**said, slice=(), began=to_datetime(RELEASE), updated=now)
    cause = find_cause(incident, now)
    assert cause["slice"] == {"device": "tv", "version": "4"}
    told = [*find(monitor, Segment("m", "4", TV)).values()]
    assert cause["facts"] == told
    assert list_facts(cause) == told
    said = " ".join(describe_incident(replace(incident, cause=cause).to_dict()).split())
    assert all(f"Changed at the same time: {fact['sentence']}" in said for fact in told)
    # Version 3 has none before it to compare with, and lists that are as usual.
    assert find_cause(replace(incident, version="3"), now) is None
    untraced = make_finder(monitor.store, monitor.project, replace(WORKS, baseline=None), 1)
    alone = untraced(replace(incident, slice=TV), now)
    assert alone == {"sentence": "", "slice": {}, "facts": told}
    # The release isn't to blame where another version fell alike: then it is about all of them.
    versions = {"comparison": {"conclusion": "alike"}, "slice": {"device": "tv"}}
    everything = find_facts_of_incident(
        monitor.store, monitor.project, WORKS, incident, versions, now=END
    )
    assert {fact["version"] for fact in everything} == {""}
