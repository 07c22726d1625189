"""Seven weeks of searches with two models, in which several things go wrong, some at once."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import UTC, datetime

from rankscope.monitor.events.event import Items, Label, Ranking
from rankscope.monitor.events.limits import DAY, HOUR, MINUTE

START = int(datetime(2026, 9, 1, tzinfo=UTC).timestamp()) * 1_000_000
"""A Tuesday; day 0 of the story is three weeks later."""
BEFORE = 21
DAYS = 30
DAY_0 = START + BEFORE * DAY

DOCS = tuple(f"doc {number}" for number in range(6))
CHANCES = (0.75, 0.5, 0.3, 0.15, 0.08, 0.03)
"""How likely a document is clicked, the best first; a click doesn't depend on the rank."""
DEVICES = {"phone": 0.5, "web": 0.3, "tv": 0.2}
COUNTRIES = {"de": 0.5, "us": 0.3, "jp": 0.2}
USERS = 400
HOURS = tuple(1 if hour < 7 else 3 if hour < 17 else 5 for hour in range(24))
"""How busy each hour of a day is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """Something that goes wrong from a day on, counted from day 0, until it is repaired."""

    name: str
    first: int
    end: int


TV = Fault(name="lambda ranks badly on tv", first=5, end=9)
PHONE = Fault(name="trees ranks badly on phone", first=7, end=12)
LABELS = Fault(name="half of the labels are lost", first=15, end=18)
RENAMED = Fault(name="tv is called television", first=20, end=DAYS)
SILENT = Fault(name="trees shows nothing", first=24, end=27)
FAULTS = (TV, PHONE, LABELS, RENAMED, SILENT)


def is_on(fault, time):
    return fault.first <= (time - DAY_0) / DAY < fault.end


def log_events(faults=FAULTS, *, a_day=300, seed=1):
    """Yield each ranking with its labels, by time; weekends have fewer, and are slightly worse."""
    draw = random.Random(seed)
    number = 0
    for day in range(BEFORE + DAYS):
        is_weekend = (day + 1) % 7 in {5, 6}
        size = round(a_day * (0.7 if is_weekend else 1.0) * draw.uniform(0.93, 1.07))
        hours = sorted(draw.choices(range(24), HOURS, k=size))
        for hour in hours:
            time = START + day * DAY + hour * HOUR + draw.randrange(60) * MINUTE
            number += 1
            yield _search(draw, f"search {number}", time, faults, is_weekend=is_weekend)


def _search(draw, name, time, faults, *, is_weekend):
    lasting = {fault for fault in faults if is_on(fault, time)}
    user = draw.randrange(USERS)
    model = "trees" if user % 5 < 2 and SILENT not in lasting else "lambda"
    (device,) = draw.choices([*DEVICES], [*DEVICES.values()])
    (country,) = draw.choices([*COUNTRIES], [*COUNTRIES.values()])
    is_bad = (TV in lasting and (model, device) == ("lambda", "tv")) or (
        PHONE in lasting and (model, device) == ("trees", "phone")
    )
    noise = 2.5 if is_weekend else 2.3
    order = sorted(range(len(DOCS)), key=lambda at: at + draw.gauss(0, noise))
    if is_bad:
        order.reverse()
    shown = "television" if device == "tv" and RENAMED in lasting else device
    items = Items(tuple(DOCS[at] for at in order), tuple(range(1, len(DOCS) + 1)))
    told = f"query {draw.randrange(150)}", f"user {user}", model, "1"
    where = (("country", country), ("device", shown))
    ranking = Ranking(name, name, time, items, *told, attributes=where)
    labels = []
    for at, chance in enumerate(CHANCES):
        later = time + round(draw.expovariate(1 / (90 * MINUTE)))
        is_lost = LABELS in lasting and draw.random() < 0.5
        if draw.random() < chance and not is_lost:
            labels.append(Label(f"{name} {at}", name, DOCS[at], later, labels=("click",)))
    return ranking, labels
