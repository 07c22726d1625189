"""Holds what the service says against what follows from the generated log alone."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np
from rankscope import Rankings
from rankscope.monitor.events.limits import HOUR
from rankscope.monitor.events.times import to_micros
from rankscope.monitor.monitor import Monitor

from dev.load.configuration import MEASURES, PROJECT
from dev.load.searches import DEVICES, DOCUMENTS, RANKS, Batch, make_batch

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray
    from rankscope.monitor.definition.slices import Slice


def verify(path: Path, batches: int, labelled: range) -> tuple[int, list[str]]:
    """Compare counts, and every hourly value of all rankings and of each device, to the last bit.

    The grades are those of the generator, and the engine evaluates them as lists: nothing of the
    monitor has a part in what is expected.

    Args:
        path: The store, which is evaluated.
        batches: How many batches were sent.
        labelled: Those whose labels were sent.

    Returns:
        How many values were compared, and what is wrong.
    """
    expected = Expected()
    for number in range(batches):
        expected.take(make_batch(number), is_labelled=number in labelled)
    with Monitor.open(f"sqlite:///{path}", PROJECT, writes=False) as monitor:
        stored = sum(version.rankings for version in monitor.store.versions(PROJECT))
        accepted = monitor.store.counters(PROJECT).get("accepted", 0)
        wrong = [
            f"expected {sent} {what}, found {found}"
            for what, sent, found in (
                ("rankings", expected.rankings, stored),
                ("events", expected.rankings + expected.labels, accepted),
            )
            if sent != found
        ]
        compared = 0
        for where in expected.slices():
            hours = expected.values(where)
            for at, measure in enumerate(MEASURES):
                series = monitor.series(measure.name, every="hour", slice=where)
                said = dict(zip(map(to_micros, series.times), series.values, strict=True))
                plain = {hour: values[at] for hour, values in hours.items()}
                compared += len(plain)
                wrong += [
                    f"expected {measure.name} {plain.get(hour)!r} of {where} at {hour}, "
                    f"found {said.get(hour)!r}"
                    for hour in plain.keys() | said.keys()
                    if not _is_same(plain.get(hour), said.get(hour))
                ]
    return compared, wrong


def _is_same(one: float | None, other: float | None) -> bool:
    """Say whether two values are one to the last bit; NaN is that of an hour without labels."""
    if one is None or other is None:
        return one is other
    return one == other or (math.isnan(one) and math.isnan(other))


class Expected:
    """What follows from batches.

    Attributes:
        rankings: How many rankings they have.
        labels: How many labels.
    """

    def __init__(self) -> None:
        self.rankings = 0
        self.labels = 0
        self._grades: dict[tuple[Slice, int], list[NDArray[np.float64]]] = defaultdict(list)

    def take(self, batch: Batch, *, is_labelled: bool) -> None:
        """Take a batch."""
        self.rankings += len(batch.ids)
        rows, hours = batch.grades(), batch.times // HOUR * HOUR
        if is_labelled:
            self.labels += len(batch.delays)
        else:
            rows = np.zeros_like(rows)
        for hour in np.unique(hours).tolist():
            here = hours == hour
            self._grades[(), hour].append(rows[here])
            for code, device in enumerate(DEVICES):
                is_theirs = here & (batch.common[:, 3] == code)
                if is_theirs.any():
                    self._grades[(("device", device),), hour].append(rows[is_theirs])

    def slices(self) -> list[Slice]:
        """List the slices."""
        return list(dict.fromkeys(where for where, _ in self._grades))

    def values(self, where: Slice) -> dict[int, list[float]]:
        """Return the values of a slice by hour, one a measure."""
        return {
            hour: _evaluate(np.concatenate(some))
            for (of, hour), some in self._grades.items()
            if of == where
        }


def _evaluate(grades: NDArray[np.float64]) -> list[float]:
    count = len(grades)
    lists = Rankings.from_groups(
        grades.ravel(), np.tile(-np.array(RANKS, dtype=float), count), [DOCUMENTS] * count
    )
    found = lists.evaluate(MEASURES, policy="empty=skip")
    return [found[measure] for measure in MEASURES]
