"""Faults of whole rankings, from the log of a service to its warnings."""

from __future__ import annotations

import tempfile
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

import numpy as np
from rankscope.monitor import Configuration, Monitor, define
from rankscope.monitor.rules.kinds import DEFAULTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

SEED = 20261129
START = datetime(2026, 6, 1, tzinfo=UTC)
DAYS, DAY, HOUR = 24, 22, 9
"""The fault begins on a day at an hour."""
WATCHED = 8
"""How many days before are checked, so that the rule knows how surprising usual days are."""
SHAPE = np.array([1.0] * 7 + [3.0] * 10 + [5.0] * 7) / 72
LOCALES, SHARES = ("de", "fr", "us", "jp"), (0.4, 0.3, 0.2, 0.1)
CANDIDATES, SHOWN, QUERIES, DOCUMENTS = 40, 10, 150, 600
TURNOVER = 0.03


class Fault(NamedTuple):
    """What goes wrong.

    Args:
        name: What it is called.
        affected: The locale that has it; empty for all.
        within: How many of the affected rankings a warning may take.
    """

    name: str
    affected: str = ""
    within: int = 150


FAULTS = (
    Fault("constant scores"),
    Fault("a lost feature: half of the lists reordered"),
    Fault("an index without 20% of its documents", within=450),
    Fault("one locale shows another's documents", "us"),
    Fault("lists in reverse order, scores as usual"),
    Fault("lists by ascending score"),
)
NOTHING = Fault("nothing")


class Warned(NamedTuple):
    """What came of a fault.

    Args:
        rankings: How many affected rankings there were until the warning; `None` for no warning.
        signal: The signal that it names.
        is_named: Whether it names the stream that is affected, and nothing else.
        before: How many warnings there were before.
    """

    rankings: int | None
    signal: str
    is_named: bool
    before: int


def draw(
    fault: Fault, random: np.random.Generator, a_day: int, days: int = DAYS
) -> Iterator[dict[str, Any]]:
    """Draw the rankings of some weeks: retrieval from a catalogue of which 3 % is new every day."""
    number = FAULTS.index(fault) if fault in FAULTS else -1
    scores = {each: random.normal(0, 1, (QUERIES, CANDIDATES)) for each in LOCALES}
    found = {each: random.integers(0, DOCUMENTS, (QUERIES, CANDIDATES)) for each in LOCALES}
    names = {each: np.array([f"{each}-{at}" for at in range(DOCUMENTS)]) for each in LOCALES}
    lost = {each: random.random(DOCUMENTS) < 0.2 for each in LOCALES}
    often = 1 / np.arange(1, QUERIES + 1) ** 0.9
    users = 3 * a_day
    weight = random.pareto(2.0, users) + 1
    home = random.choice(LOCALES, users, p=SHARES)
    for day in range(days):
        for each in LOCALES:
            new = random.random(DOCUMENTS) < TURNOVER
            fresh = np.array([f"{each}-{at}-{day}" for at in range(DOCUMENTS)])
            names[each] = np.where(new, fresh, names[each])
            drawn = random.normal(0, 1, scores[each].shape)
            scores[each] = np.where(new[found[each]], drawn, scores[each])
        count = random.poisson(a_day)
        times = np.sort(random.choice(24, count, p=SHAPE) + random.random(count))
        for time in times.tolist():
            user = random.choice(users, p=weight / weight.sum())
            query = random.choice(QUERIES, p=often / often.sum())
            is_on = day * 24 + time >= DAY * 24 + HOUR
            locale = source = str(home[user])
            if is_on and number == 3 and locale == fault.affected:
                source = "de"
            base, documents = scores[source][query], found[source][query]
            score = base + random.normal(0, 0.1, CANDIDATES)
            if is_on and number == 1 and random.random() < 0.5:
                score = 0.3 * base + random.normal(0, 1, CANDIDATES)
            order = np.argsort(-score)
            if is_on and number == 2:
                order = order[~lost[source][documents[order]]]
            listed = list(dict.fromkeys(names[source][documents[order]].tolist()))[:SHOWN]
            shown = np.sort(score)[::-1][: len(listed)]
            if is_on and number == 2:
                shown = score[order][: len(listed)]
            if is_on and number == 0:
                shown = np.zeros(len(listed))
            if is_on and number in {4, 5}:
                listed = listed[::-1]
                shown = shown if number == 4 else shown[::-1]
            yield {
                "time": (START + timedelta(days=day, hours=time)).isoformat(),
                "model": "search",
                "version": "3",
                "user_id": f"u{user}",
                "query_key": f"{locale} {query}",
                "attributes": {"locale": locale},
                "doc_ids": listed,
                "scores": shown.tolist(),
            }


def warn(fault: Fault, run: int, a_day: int = 200, days: int = DAYS) -> Warned:
    """Log the rankings, compute their signals, and check the rule as of every hour."""
    random = np.random.default_rng([SEED, FAULTS.index(fault) if fault in FAULTS else 99, run])
    events = [
        {"ranking_id": f"r{at}"} | each for at, each in enumerate(draw(fault, random, a_day, days))
    ]
    now = START + timedelta(days=days, hours=2)
    music = define(measures=["nDCG@5"], positive="click", window="24h")
    with (
        tempfile.TemporaryDirectory() as folder,
        Monitor.open(f"{folder}/a.db", now=lambda: now) as monitor,
    ):
        monitor.configure(Configuration(definition=music, attributes=("locale",), baseline=None))
        monitor.log_rankings(events)
        monitor.evaluate()
        monitor.remove_rule("data")
        monitor.set_rule(DEFAULTS["early"].replace(since=START + timedelta(days=DAY - WATCHED)))
        opened = [each for each in monitor.replay().incidents if each.rule == "early"]
    began = START + timedelta(days=DAY, hours=HOUR)
    grace = timedelta(hours=1)
    after = [each for each in opened if each.opened - grace > began]
    if fault == NOTHING or not after:
        return Warned(None, "", is_named=False, before=len(opened) - len(after))
    first = min(after, key=lambda each: each.opened)
    affected = [
        each
        for each in events
        if fault.affected in {"", each["attributes"]["locale"]}
        and began <= datetime.fromisoformat(each["time"]) < first.opened - grace
    ]
    named = (("locale", fault.affected),) if fault.affected else ()
    return Warned(
        len(affected),
        str(first.evidence["signal"]),
        is_named=first.slice == named and first.version == "3",
        before=len(opened) - len(after),
    )
