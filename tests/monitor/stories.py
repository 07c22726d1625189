"""Events of a release that swaps the first and the last document on one device."""

from __future__ import annotations

import random

import rankscope as rs
from rankscope.monitor.definition.definition import define
from rankscope.monitor.events.event import Items, Label, Ranking
from rankscope.monitor.events.limits import MINUTE

GRADES = {"a": 6.0, "b": 5.0, "c": 1.0, "d": 2.0, "e": 0.0}
SHOWN, SWAPPED = ("a", "b", "c", "d", "e"), ("e", "b", "c", "d", "a")
GOOD, BAD = (rs.ndcg([GRADES[doc] for doc in order], 5) for order in (SHOWN, SWAPPED))
RULE = define(measures=["nDCG@1", "nDCG@5", "RR@5"], positive={"click": 1}, window=3600)
COUNT = 900
WEEK = COUNT * MINUTE
"""So many searches, one a minute, are a week."""
DEVICES = ("desktop", "phone", "tv")


def search(seed, count, *, start=0, versions, environment="production", swapped="4"):
    """Searches on three devices, one a minute, each with a grade for all documents it showed.

    Users and queries are the same whatever the seed. On other devices than tv lists differ, in any
    version alike.
    """
    draw = random.Random(seed)
    events = []
    for number in range(count):
        device = draw.choice(DEVICES)
        (version,) = draw.choices([*versions], [*versions.values()])
        order = SHOWN
        if device != "tv":
            order = tuple(draw.sample(SHOWN, 5)) if draw.random() < 0.2 else SHOWN
        elif version == swapped:
            order = SWAPPED
        name = f"{environment} {seed} {number}"
        time = start + number * MINUTE
        query = f"query {draw.randrange(count // 3)}"
        user = f"user {draw.randrange(count // 4)}"
        where = (("country", draw.choice(["at", "de"])), ("device", device))
        items = Items(order, (1, 2, 3, 4, 5))
        events += [
            Ranking(name, name, time, items, query, user, "ranker", version, environment, where),
            *(Label(f"{name} {doc}", name, doc, time + 1, value=GRADES[doc]) for doc in GRADES),
        ]
    return events
