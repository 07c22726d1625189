"""Stores the forecasts of each hour once it is over, and those of each day.

A forecast is made once. What it is made from is fixed when its day begins: rankings that are final
by then. Labels of rankings that aren't final are only used to doubt it.
"""

from __future__ import annotations

import math

from rankscope.deferred import np
from rankscope.monitor.evaluate.stored_windows import pack_cell
from rankscope.monitor.evaluate.windows import Key
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.events.times import count_micros
from rankscope.monitor.expect.calibrate import WATCHED, Calibrator
from rankscope.monitor.expect.kinds import BITS, State, digest
from rankscope.monitor.expect.lists import ListReader, join_parts
from rankscope.monitor.expect.stored import StoredForecast, make_cell, read_forecasts, refuse
from rankscope.monitor.signals.kinds import NAMES, SIGNALS
from rankscope.monitor.signals.refresh import find_known, read_signals
from rankscope.monitor.store.records import Progress
from rankscope.stats.expected.forecast import contradicts, expect, forecast, has_group

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from rankscope.monitor.definition.configuration import Configuration
    from rankscope.monitor.definition.slices import Slice, Slicing
    from rankscope.monitor.store.store import Store
    from rankscope.stats.expected.forecast import Summary

    # By model and version, slice, and measure.
    Summaries = dict[tuple[str, str], dict[Slice, tuple[int, dict[str, Summary]]]]

FIRST_DAYS = 14
"""How far back forecasts are made when they are made for the first time."""
FIRST_HOURS, FIRST_RANKINGS = 24, 2000
"""The hours before whose first labels may contradict a forecast, fewer with so many rankings."""
MOST_VERSIONS = 100
DEVIATIONS, CHANGES = 5, 3
"""A signal has moved far if it is so many standard deviations from its mean, and so many times the
smallest change that matters."""
LEAST = {signal.name: CHANGES * signal.least for signal in SIGNALS}


def refresh_expected(
    store: Store, project: str, configuration: Configuration, slicing: Slicing, *, now: int
) -> bool:
    """Make and store the forecasts of the hours that are over; return whether there were none."""
    before = store.progress(project, digest(configuration))
    over = now - count_micros(configuration.grace)
    over -= over % HOUR
    known = find_known(store, project, configuration)
    if known is None:
        return before is None
    until = min(over, known[1])
    if before is not None and before.as_of >= until:
        return False
    reader = ListReader(store, project, configuration.definition, slicing)
    if not reader.measures:
        return before is None
    if before is None:
        begin = max(known[0], until - until % DAY - FIRST_DAYS * DAY)
        state = None
    else:
        begin, state = before.as_of, State.from_json(before.baseline)
    _Work(store, configuration, reader, since=begin, state=state).run(begin, until)
    return before is None


class _Work:
    """The forecasts of a project.

    Args:
        store: The store.
        configuration: The configuration of the project.
        reader: Reads its rankings.
        since: The start of the first hour with forecasts.
        state: What the last forecasts were made from, if there are any.
    """

    def __init__(
        self,
        store: Store,
        configuration: Configuration,
        reader: ListReader,
        *,
        since: int,
        state: State | None,
    ) -> None:
        self.store, self.project, self.configuration = store, reader.project, configuration
        self.reader = reader
        self.calibrator = Calibrator(reader, configuration)
        self.since = since if state is None else state.since
        self.state = state

    def run(self, begin: int, until: int) -> None:
        """Make the forecasts of a span, and store those of each day together."""
        while begin < until:
            day = begin - begin % DAY
            end = min(until, day + DAY)
            # What earlier calibrations numbered may have changed with the slices.
            state = self.state
            if state is None or state.day != day or state.groups != self.reader.groups:
                state = self.state = self.calibrator.fit(day, self.since)
            cells, doubts = [], self._read_doubts(day, begin)
            whole: Summaries = {}
            counted = self.store.count_by_hour(self.project, begin, end)
            for start in sorted({hour for hour, _, _ in counted}):
                here = self._summarize(state, start, start + HOUR)
                contradicted = self._find_contradicted(state, start) if here else set()
                for key, count, made in self._forecast(state, here, start, contradicted, None):
                    cells.append(pack_cell(HOUR, make_cell(key, count, made)))
                    _collect(doubts, key, made)
                _add(whole, here)
            days = []
            if end == day + DAY:
                if begin > day:
                    _add(whole, self._summarize(state, day, begin))
                for key, count, made in self._forecast(state, whole, day, set(), doubts):
                    days.append(pack_cell(DAY, make_cell(key, count, made)))
            self.store.put_windows(
                self.project,
                digest(self.configuration),
                replaced={HOUR: [*range(begin, end, HOUR)], DAY: [day] if days else []},
                cells=[*cells, *days],
                hours=[],
                open_hours=[],
                progress=Progress(0, end, self.reader.slicing.to_json(), state.to_json()),
            )
            begin = end

    def _read_doubts(self, day: int, begin: int) -> dict[tuple[Key, str], int]:
        """Read why forecasts of the hours of a day that are stored already are doubtful."""
        doubts: dict[tuple[Key, str], int] = {}
        stored = read_forecasts(
            self.store, self.project, self.configuration, day, begin, length=HOUR
        )
        for key, _, made in stored:
            _collect(doubts, key, made)
        return doubts

    def _summarize(self, state: State, since: int, until: int) -> Summaries:
        """Return what forecasts need of the rankings of a time."""
        parts = self.reader.read(since, until, now=None)
        found: Summaries = {}
        if not parts:
            return found
        part = join_parts(parts)
        for pair, rows in self.reader.split(part.contexts):
            lists = part.choose(rows).lists
            every = np.arange(len(lists))
            known = state.find(*pair)
            fits = {} if known is None else dict(known.fits)
            expected = {name: expect(fit, lists) for name, fit in fits.items()}
            places: dict[Slice, NDArray[np.int64]] = {(): every}
            for column in lists.groups.T:
                for group in np.unique(column).tolist():
                    places[self.reader.groups[group]] = np.flatnonzero(column == group)
            if not fits:
                places = {(): every}
            found[pair] = {
                place: (
                    len(at),
                    {name: one.summarize(lists.clusters, at) for name, one in expected.items()},
                )
                for place, at in places.items()
            }
        return found

    def _forecast(
        self,
        state: State,
        summaries: Summaries,
        start: int,
        contradicted: set[tuple[str, str, str]],
        doubts: Mapping[tuple[Key, str], int] | None,
    ) -> Iterator[tuple[Key, int, dict[str, StoredForecast]]]:
        """Make the forecasts of an hour; with doubts of its hours, those of a day."""
        if not summaries:
            return
        length = HOUR if doubts is None else DAY
        moved = self._find_moved(state, start, length)
        largest = sorted(summaries, key=lambda pair: (-summaries[pair][()][0], pair))
        for pair in largest[:MOST_VERSIONS]:
            known = state.find(*pair)
            fits = {} if known is None else dict(known.fits)
            for place, (count, of_measures) in summaries[pair].items():
                key = Key(start, "production", *pair, place, is_mature=True)
                made = {}
                for measure in self.reader.measures:
                    name = measure.name
                    fit = fits.get(name)
                    if fit is None:
                        made[name] = refuse(BITS["version"])
                        continue
                    if place and not has_group(fit, state.groups.index(place)):
                        made[name] = refuse(BITS["slice"])
                        continue
                    result = forecast(fit, of_measures[name], is_hour=doubts is None)
                    if result is None:
                        made[name] = refuse(BITS["few"])
                        continue
                    marks = {
                        "scores": result.is_outside,
                        "lists": result.is_unlike,
                        "signals": (pair, place) in moved or (pair, ()) in moved,
                        "labels": (*pair, name) in contradicted,
                        "missed": state.has_missed(*pair, place, name),
                    }
                    total = sum(BITS[mark] for mark, is_set in marks.items() if is_set)
                    if doubts is not None:
                        total |= doubts.get((key, name), 0) & BITS["labels"]
                    made[name] = StoredForecast(
                        result.value, result.lower, result.upper, result.defined, total
                    )
                yield key, count, made

    def _find_contradicted(self, state: State, start: int) -> set[tuple[str, str, str]]:
        """Find the versions and measures that the first labels of the last hours contradict."""
        if not any(version.fits for version in state.versions):
            return set()
        since = start - FIRST_HOURS * HOUR
        counts = self.store.count_by_hour(self.project, since, start)
        newest, total = start, 0
        for hour, _, count in sorted(counts, reverse=True):
            if total >= FIRST_RANKINGS and hour < newest:
                break
            newest, total = hour, total + count
        parts = self.reader.read(newest, start, now=None)
        found: set[tuple[str, str, str]] = set()
        if not parts:
            return found
        part = join_parts(parts)
        for pair, rows in self.reader.split(part.contexts):
            known = state.find(*pair)
            theirs = part.choose(rows)
            for name, fit in () if known is None else known.fits:
                at = [measure.name for measure in self.reader.measures].index(name)
                gaps = theirs.early[at] - expect(fit, theirs.lists).share
                if contradicts(fit, gaps[~np.isnan(gaps)]):
                    found.add((*pair, name))
        return found

    def _find_moved(
        self, state: State, start: int, length: int
    ) -> set[tuple[tuple[str, str], Slice]]:
        """Find the versions and slices whose signals are far from what is usual."""
        usual = {(one.model, one.version, one.slice, one.signal): one for one in state.usual}
        found = set()
        cells = read_signals(
            self.store, self.project, self.configuration, start, start + length, length=length
        )
        for cell in cells:
            key, means = cell.key, cell.cell.means()
            for name in WATCHED:
                one = usual.get((key.model, key.version, key.slice, name))
                at = NAMES.index(name)
                count = cell.cell.defined[at]
                if one is None or not count:
                    continue
                # Between 0 and 1, nothing varies more than what is either.
                spread = one.deviation**2 + one.mean * (1 - one.mean) / count
                if abs(means[at] - one.mean) > max(DEVIATIONS * math.sqrt(spread), LEAST[name]):
                    found.add(((key.model, key.version), key.slice))
        return found


def _collect(
    doubts: dict[tuple[Key, str], int], key: Key, made: Mapping[str, StoredForecast]
) -> None:
    day = key._replace(start=key.start - key.start % DAY)
    for name, one in made.items():
        if one.is_made:
            doubts[day, name] = doubts.get((day, name), 0) | one.marks


def _add(whole: Summaries, more: Summaries) -> None:
    """Add the summaries of an hour to those of its day."""
    for pair, places in more.items():
        known = whole.setdefault(pair, {})
        for place, (count, summaries) in places.items():
            before, sums = known.get(place, (0, {}))
            known[place] = (
                before + count,
                {
                    name: sums[name] + one if name in sums else one
                    for name, one in summaries.items()
                },
            )
