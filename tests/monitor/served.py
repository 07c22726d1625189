"""A model whose new version serves beside the old one, for the tests of their comparison."""

from __future__ import annotations

import numpy as np
from rankscope.monitor.definition.configuration import BaselineChoice, Configuration
from rankscope.monitor.definition.definition import define
from rankscope.monitor.events.event import Items, Label, Ranking
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.events.times import to_datetime
from rankscope.monitor.monitor import Monitor

START = 1_788_220_800_000_000  # 2026-09-01
WINDOW = DAY
RELEASE = 8
FALL = 11
DAYS = 16
A_DAY = 400
CONFIGURATION = Configuration(
    definition=define(measures=("nDCG@5",), positive={"click": 1}, window="24h"),
    attributes=("device",),
    baseline=BaselineChoice(kind="version"),
)


def open_served(folder, *, fall=0.0, both=0.0):
    """Log the story into a store; the monitor's time is when all its values are final."""
    now = to_datetime(START + DAYS * DAY + WINDOW + HOUR)
    monitor = Monitor.open(str(folder / "served.db"), now=lambda: now)
    monitor.configure(CONFIGURATION)
    monitor.writer.append("default", make_served(fall=fall, both=both))
    return monitor


def make_served(start=START, *, fall=0.0, both=0.0):
    """Make days of version 3, beside which half of the users get version 4 from day 8 on.

    From day 11 on, so many more of the rankings of version 4, or of both, are bad.
    """
    draw = np.random.default_rng(1)
    events = []
    for at in range(DAYS * A_DAY):
        day, user = at // A_DAY, int(draw.integers(2000))
        query = int(draw.integers(50))
        time = start + at * (DAY // A_DAY)
        version = "4" if day >= RELEASE and user % 2 else "3"
        more = both + (fall if version == "4" else 0.0) if day >= FALL else 0.0
        is_bad = draw.random() < 0.1 + 0.6 * (query % 2) + more
        items = Items(("b", "a") if is_bad else ("a", "b"), (1, 2))
        told = f"q{query}", f"u{user}", "m", version
        device = ("device", "tv" if user % 5 else "phone")
        events += [
            Ranking(f"e{at}", f"r{at}", time, items, *told, attributes=(device,)),
            Label(f"l{at}", f"r{at}", "a", time + HOUR, ("click",)),
        ]
    return events
