"""Generates the story from a seed."""

from __future__ import annotations

from random import Random

from rankscope.demo.arrivals import send
from rankscope.demo.feedback import grade_tracks, write_judged
from rankscope.demo.searches import Listeners
from rankscope.demo.story import Story
from rankscope.errors import UsageError
from rankscope.monitor.events.limits import DAY, HOUR

SEED = 6
"""Where chance begins unless it is said otherwise."""

WELL = 21
"""Days of production before the day of the release."""

AFTER = 5
"""Days from that day on: what listeners do counts for two more, so that two are known for good."""

RELEASED = 9 * HOUR
"""The time of day of the release."""

VALIDATED = 7
"""Days from which the validation set is."""


def make_story(seed: int = SEED, *, end: int, daily: int = 500) -> Story:
    """Generate a story; equal arguments give equal stories."""
    if end % DAY or daily < 1:
        raise UsageError(
            f"expected an end at midnight, and searches, found {end} and {daily}",
            hint="leave out what was made before the midnight of today",
            code="bad_parameter",
        )
    chance = Random(seed)  # noqa: S311 - nothing is secret here
    listeners = Listeners(chance)
    start = end - (WELL + AFTER) * DAY
    release = end - AFTER * DAY + RELEASED
    before = start - VALIDATED * DAY
    validation = tuple(
        write_judged(search, dict(grade_tracks(search, chance)))
        for search in listeners.search(before, VALIDATED, daily // 2, None)
    )
    deliveries = [
        delivery
        for search in listeners.search(start, WELL + AFTER, daily, release)
        for delivery in send(search, chance)
        if delivery.arrives < end
    ]
    deliveries.sort(key=lambda each: each.arrives)
    return Story(
        seed=seed,
        start=start,
        release=release,
        end=end,
        validation=validation,
        deliveries=tuple(deliveries),
    )
