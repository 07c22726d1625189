"""Confirms falls with users as units, when the evidence suffices and at no other time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rankscope import _core
from rankscope.errors import InputError
from rankscope.monitor.evaluate.clusters import number_clusters
from rankscope.monitor.evaluate.grades import read_integers
from rankscope.monitor.evaluate.values import leave_out
from rankscope.monitor.events.limits import DAY
from rankscope.monitor.events.times import count_micros, to_micros
from rankscope.monitor.rules.drop.check import Period
from rankscope.monitor.rules.drop.floors import turn
from rankscope.monitor.rules.drop.sample import Sample, collect_samples
from rankscope.monitor.rules.stream import Evidence, Stream
from rankscope.monitor.sequential.identities import (
    NEWCOMERS,
    NOBODY,
    Totals,
    Verdict,
    add_days,
    confirm_fall,
    expect,
    sign_users,
)
from rankscope.monitor.store.folding import OTHER

LONGEST = 28 * DAY
"""A fall is confirmed by its last days, so many at most."""
ALIKE = "not all users fell"
"""What a warning begins with that says who makes a fall."""


@dataclass(frozen=True, slots=True)
class Confirmation:
    """Looks at the users of a fall that the evidence of a period suffices for.

    Args:
        period: The period.
    """

    period: Period

    def judge(self, stream: Stream, lane: Evidence) -> Verdict | None:
        """Return whether a fall is one of all users; `None` where that can't be told.

        It can't where no users are known, as of the sum of many versions, where a fall goes on
        from the version before, where ranks of labels are judged instead of values, and in a period
        of the calendar, which is compared with other days.
        """
        step, usual, detector = self.period.step, lane.usual, lane.detector
        if count_micros(lane.age) != step.age:
            # It is looked at with the next period of its age.
            return Verdict(state="few", fall=math.nan, error=math.nan)
        is_own = OTHER not in {stream.model, stream.version} and stream.inherited is None
        if detector is None or usual is None or not is_own or lane.judged != "value":
            return None
        if self.period.floors.refer(step) is not None:
            return None
        began = dict(lane.moments).get(detector.since or 0)
        since = step.start if began is None else to_micros(began)
        floors = self.period.floors
        length = min(LONGEST, floors.find_length(stream.model))
        since = max(min(since, step.start), step.until - length)
        numbers = floors.find_own_contexts(stream.key)
        sample = self._read(numbers, since)
        before = floors.find_baseline_of(stream, step, since)
        try:
            now = self._add(stream, lane, sample)
            then = self._add(stream, lane, sample.between(0, 0) if before is None else before)
        except InputError:
            return None
        return confirm_fall(then, now, self._sign(numbers, since, now))

    def _read(self, numbers: Sequence[int], since: int) -> Sample:
        step, reader = self.period.step, self.period.floors.reader
        scene = reader.scene
        (sample,) = collect_samples(
            scene.store.read(scene.project, since, step.until),
            numbers,
            [reader.view(step.age, step.until + reader.wait(step.age))],
            threads=scene.threads,
        )
        return sample.without(scene.configuration.calendar.mark(sample.times))

    def _add(self, stream: Stream, lane: Evidence, sample: Sample) -> Totals:
        rule, reader = self.period.rule, self.period.floors.reader
        if lane.usual is None:
            raise TypeError("expected a lane that has a baseline")
        asked = set(stream.slice)
        rows = sample.find(
            [
                number
                for number in np.unique(sample.contexts).tolist()
                if asked.issubset(reader.contexts[number].attributes)
            ]
        )
        values = turn(rule, sample.values[rule.measure][rows])
        seen = reader.cells.observe(values, sample, rows, lane.mix)
        gap = expect(lane.usual.value, seen) - seen.value
        return add_days(seen.cluster, seen.time // DAY, gap)

    def _sign(self, numbers: Sequence[int], since: int, now: Totals) -> NDArray[np.int64]:
        """Return the number of the pattern of each user, by the queries that they had."""
        scene = self.period.floors.reader.scene
        wanted = np.array(sorted(numbers), dtype=np.int64)
        parts: list[tuple[NDArray[np.int64], ...]] = []
        for read in scene.store.read(scene.project, since, self.period.step.until):
            chunk = leave_out(read, scene.configuration.definition.left_out)
            places = np.flatnonzero(np.isin(chunk.contexts, wanted))
            if len(places):
                query = read_integers(_core.hash_texts([(b"", chunk.query_keys)], places))
                has = np.diff(chunk.query_keys[0])[places] > 0
                query = np.where(has, query & MASK, -1)
                parts.append((number_clusters(chunk, places), chunk.times[places], query))
        signed = np.full(len(now.user), NOBODY)
        if parts:
            users, codes = sign_users(*map(np.concatenate, zip(*parts, strict=True)))
            places = np.searchsorted(users, now.user)
            signed = codes[np.minimum(places, len(users) - 1)]
        return signed


MASK = (1 << 62) - 1


def describe_group(verdict: Verdict) -> str:
    """Say who makes a fall that isn't one of all users."""
    if verdict.group == NEWCOMERS:
        who = f"{verdict.users:,} users who came after the baseline make this fall"
    elif verdict.group == NOBODY:
        who = "one user makes this fall"
    else:
        who = f"{verdict.users:,} users with one pattern make this fall: their queries are the same"
    if math.isnan(verdict.without):
        return f"{ALIKE}: {who}; too few others are left to compare"
    left = max(verdict.without, 0.0)
    return f"{ALIKE}: {who}; the others fell by {left:.4f}, all together by {verdict.fall:.4f}"
