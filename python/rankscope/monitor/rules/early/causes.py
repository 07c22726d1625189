"""The smallest stream that explains a change."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.rules.data.counts import Segment
from rankscope.monitor.rules.early.cells import choose_parts
from rankscope.monitor.rules.early.progress import Fact
from rankscope.monitor.rules.early.usual import DAYS, FEWEST

if TYPE_CHECKING:
    from rankscope.monitor.rules.early.check import Table


LEAST, MOST = 0.5, 0.75
"""A stream explains a change if it has this part of it, and this part but for chance."""
REST = 0.25
"""And if the others have changed by less than this part of its own change, but for chance."""
WAITED = 4 * FEWEST
"""With so many rankings, it isn't waited for more that tell which slice has a change."""
MOST_PARTS = 2000
OWN = frozenset({"unseen"})
"""A slice is compared with what itself has shown: its change is no part of that of all lists."""


def find_cause(table: Table, fact: Fact, moment: int) -> Fact | None:
    """Return the fact of the smallest stream that has most of a change.

    A version comes before its model. `None` where a few more rankings tell whether a slice has it.
    """
    number = [one.name for one in table.signals].index(fact.signal)
    until = -(-moment // DAY) * DAY
    since = until - (DAYS + 4) * DAY
    hours = table.cells.add_up(since, until, choose_parts, MOST_PARTS)
    places = {segment: at for at, segment in enumerate(hours.segments)}
    first, end = ((each - since) // HOUR for each in (fact.began, moment))
    sums = hours.sums[..., number]
    is_usual = ~table.calendar.mark(since + HOUR * np.arange(first))
    now, before = sums[:, first:end, :2].sum(axis=1), sums[:, :first][:, is_usual].sum(axis=1)

    def find_excess(segment: Segment) -> tuple[float, float, float]:
        """Return the rankings of a stream, how far their sum is from what is usual, and that."""
        count, total = now[places[segment]].tolist()
        versions = (segment, segment._replace(version=""), Segment(segment.model))
        known = (before[places[one]].tolist() for one in versions if one in places)
        usual = next((sums for sums in known if sums[0] >= max(count, 1.0)), (1.0, fact.before))
        return count, total - count * usual[1] / usual[0], usual[1] / usual[0]

    wide, whole = fact.segment, Segment(fact.segment.model)
    _, _, sizes, _, squares = before[places[whole]].tolist()
    variance = max(squares / sizes - fact.before**2, 0.0) if sizes else 0.0
    count, excess, _ = find_excess(wide)
    every, total, _ = find_excess(whole)
    # What also changed elsewhere, where too few rankings were judged, is a change of all.
    others = every - count
    is_own = fact.signal in OWN and bool(wide.slice)
    least = REST * abs(excess) * others / max(count, 1.0)
    if not is_own and abs(total - excess) > least + math.sqrt(variance * others):
        wide, count, excess = whole, every, total
    found = [((count, not wide.version, len(wide.slice)), wide)]
    for segment in places:
        if segment.model != wide.model or not _is_in(segment, wide):
            continue
        if is_own and segment.slice != wide.slice:
            continue
        mine, part, _ = find_excess(segment)
        others = count - mine
        chance = math.sqrt(variance * others)
        rest = abs(excess - part)
        is_alone = mine and rest <= REST * abs(part) * others / mine + chance
        is_most = rest <= (1 - MOST) * abs(excess) + chance
        if is_alone and is_most and part * excess >= LEAST * excess**2:
            if set(segment.slice) != set(wide.slice) and 0 < others < FEWEST:
                if count < WAITED:
                    return None
                continue  # too few others to tell that they have not changed
            found.append(((mine, not segment.version, len(segment.slice)), segment))
    segment = min(found)[1]
    if segment == fact.segment:
        return fact
    mine, part, usual = find_excess(segment)
    return replace(
        fact, segment=segment, before=usual, after=usual + part / mine, rankings=int(mine)
    )


def _is_in(segment: Segment, wide: Segment) -> bool:
    """Return whether a stream is a part of another one of its model."""
    return wide.version in {"", segment.version} and set(wide.slice) <= set(segment.slice)
