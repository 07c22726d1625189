"""Whether later labels confirmed warnings, and how good warnings were."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from rankscope.monitor.evaluate.stored_windows import StoredCell, unpack_cells
from rankscope.monitor.evaluate.values import name_columns
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.rules.early.cells import Cells, choose_parts, get_rows
from rankscope.monitor.rules.early.progress import EarlyWarning
from rankscope.monitor.rules.early.usual import DAYS, FEWEST_DAYS, HOURS, Sums, add_up, judge
from rankscope.monitor.rules.run import Scene

WAIT = DAY
"""The labels of so much time after a warning confirm it, or don't."""
FELL = 0.05
"""A warning isn't confirmed if a fall as large as this is excluded."""
WIDE = 2.0
"""Half of the width of an interval, in standard errors."""


def find_end(warning: EarlyWarning) -> int:
    """Return the end of the time whose labels tell whether a warning was right."""
    end = warning.found + WAIT
    return min(end, warning.until) if warning.until and not warning.is_accepted else end


def judge_warning(scene: Scene, warning: EarlyWarning, moment: int) -> EarlyWarning:
    """Return a warning with what labels say of it: its quality beside that of the days before."""
    definition = scene.configuration.definition
    measure = definition.measures[0]
    column = [*name_columns(definition)].index(measure.name)
    digest = scene.configuration.digest

    def read(since: int, until: int) -> Iterable[StoredCell]:
        return unpack_cells(scene.store.cells(scene.project, digest, since, until))

    cells = Cells(read, [column], [0])
    end = find_end(warning)
    hours = max((end - warning.began) // HOUR, 1)
    until = -(-end // DAY) * DAY
    since = warning.began // DAY * DAY - (DAYS + 4) * DAY
    summed = cells.add_up(since, until, choose_parts)
    places = {segment: at for at, segment in enumerate(summed.segments)}
    known = replace(warning, outcome="unknown", judged=moment)
    at = places.get(warning.segment)
    model = places.get(warning.segment._replace(version=""))
    if at is None or model is None:
        return replace(known, told="No ranking has a final value.")
    starts = since + HOUR * np.arange(summed.sums.shape[1])
    is_usual = ~scene.configuration.calendar.mark(starts)
    rows = get_rows(summed.sums * is_usual[:, None, None])
    own = Sums(*(each[[at]] for each in rows))
    first = np.flatnonzero(own.rankings[0])[:1]
    is_new = not ((warning.began - since) // HOUR - first >= FEWEST_DAYS * HOURS).any()
    before = Sums(*(each[[model]] for each in rows)) if is_new else own
    judged = judge(
        add_up(own),
        np.array([(end - since) // HOUR]),
        spans=(hours,),
        before=add_up(before),
        is_share=measure.row.value_range == (0.0, 1.0),
    )
    numbers = (judged.value, judged.usual, judged.spread)
    value, usual, spread = (float(each[0, 0, 0]) for each in numbers)
    if judged.days[0, 0, 0] < FEWEST_DAYS or not np.isfinite(value - usual + spread):
        return replace(known, told="There are too few final values to compare.")
    change, half = value - usual, WIDE * spread
    said = f"{measure.name} was {value:.4f}; {usual:.4f} is usual"
    if change + half < 0:
        return replace(known, outcome="confirmed", told=f"Labels confirm it: {said}.")
    if change - half > -FELL:
        return replace(known, outcome="not confirmed", told=f"Labels don't confirm it: {said}.")
    return replace(known, told=f"Labels don't tell: {said}, give or take {half:.4f}.")
