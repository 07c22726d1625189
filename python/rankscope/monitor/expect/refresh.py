"""Stores the forecasts of each hour once it is over, and those of each day.

A forecast is made once. What it is made from is fixed when its day begins: rankings that are final
by then. Labels of rankings that aren't final are only used to doubt it.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter

from rankscope.deferred import np
from rankscope.monitor.evaluate.stored_windows import pack_cell
from rankscope.monitor.evaluate.windows import Key
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.events.times import count_micros
from rankscope.monitor.expect.calibrate import WATCHED, Calibrator
from rankscope.monitor.expect.kinds import BITS, State, digest
from rankscope.monitor.expect.lists import ListReader
from rankscope.monitor.expect.stored import StoredForecast, make_cell, read_forecasts, refuse
from rankscope.monitor.signals.kinds import NAMES, SIGNALS
from rankscope.monitor.signals.refresh import find_known, read_signals
from rankscope.monitor.store.records import Progress
from rankscope.stats.expected.forecast import contradicts, expect, forecast, has_group

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from rankscope.monitor.definition.configuration import Configuration
    from rankscope.monitor.definition.slices import Slice, Slicing
    from rankscope.monitor.expect.lists import Part
    from rankscope.monitor.store.store import Store
    from rankscope.stats.expected.forecast import Summary

    # By model and version, slice, and measure.
    Summaries = dict[tuple[str, str], dict[Slice, tuple[int, dict[str, Summary]]]]
    # By model, version and measure, how far first labels are from what was expected.
    Gaps = dict[tuple[str, str, str], NDArray[np.float64]]

FIRST_DAYS = 14
"""How far back forecasts are made when they are made for the first time."""
FIRST_HOURS, FIRST_RANKINGS = 24, 2000
"""The hours before whose first labels may contradict a forecast, fewer with so many rankings."""
TOGETHER = 20_000
"""Hours are read together up to so many rankings."""
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
            is_whole = end == day + DAY
            whole: Summaries = {}
            moved = self._find_moved(state, begin, end, HOUR)
            for start, here, gaps in self._summarize(state, day if is_whole else begin, end):
                _add(whole, here)
                if start < begin:
                    continue
                made_here = self._forecast(
                    state,
                    here,
                    start,
                    moved=moved.get(start, set()),
                    contradicted=_find_contradicted(state, gaps),
                    doubts=None,
                )
                for key, count, made in made_here:
                    cells.append(pack_cell(HOUR, make_cell(key, count, made)))
                    _collect(doubts, key, made)
            days = []
            if is_whole:
                moved = self._find_moved(state, day, end, DAY)
                made_here = self._forecast(
                    state,
                    whole,
                    day,
                    moved=moved.get(day, set()),
                    contradicted=set(),
                    doubts=doubts,
                )
                for key, count, made in made_here:
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

    def _summarize(
        self, state: State, since: int, until: int
    ) -> Iterator[tuple[int, Summaries, list[Gaps]]]:
        """Yield what forecasts need of each hour, and the first labels of the hours before it."""
        counts: Counter[int] = Counter()
        early = since - FIRST_HOURS * HOUR
        for start, _, count in self.store.count_by_hour(self.project, early, until):
            counts[start] += count
        hours = sorted(counts)
        is_calibrated = any(version.fits for version in state.versions)
        known: dict[int, Gaps] = {}
        for start, part in self._read([hour for hour in hours if hour >= since], counts):
            if part is None:
                continue
            before: list[int] = []
            for hour in reversed(hours[: bisect_left(hours, start)]):
                total = sum(counts[one] for one in before)
                if hour < start - FIRST_HOURS * HOUR or total >= FIRST_RANKINGS:
                    break
                before.insert(0, hour)
            missing = [hour for hour in before if hour not in known] if is_calibrated else []
            for hour, labeled in self._read(missing, counts):
                known[hour] = {} if labeled is None else self._look(state, labeled)[1]
            # What was needed of earlier hours isn't any more.
            known = {hour: known[hour] for hour in before if hour in known}
            summaries, gaps = self._look(state, part)
            yield start, summaries, [*known.values()]
            known[start] = gaps

    def _read(
        self, hours: Sequence[int], counts: Mapping[int, int]
    ) -> Iterator[tuple[int, Part | None]]:
        """Read hours with the first labels of rankings, several at once where they are small."""
        together: list[int] = []
        for hour in hours:
            if sum(counts[one] for one in (*together, hour)) > TOGETHER:
                yield from self.reader.read_hours(together, now=None)
                together = []
            together.append(hour)
        yield from self.reader.read_hours(together, now=None)

    def _look(self, state: State, part: Part) -> tuple[Summaries, Gaps]:
        """Return what forecasts need of rankings, and how far their first labels are from it."""
        found: Summaries = {}
        gaps: Gaps = {}
        names = [measure.name for measure in self.reader.measures]
        for pair, rows in self.reader.split(part.contexts):
            theirs = part.choose(rows)
            lists = theirs.lists
            every = np.arange(len(lists))
            known = state.find(*pair)
            fits = {} if known is None else dict(known.fits)
            expected = {name: expect(fit, lists) for name, fit in fits.items()}
            for name, one in expected.items():
                apart = theirs.early[names.index(name)] - one.share
                gaps[*pair, name] = apart[~np.isnan(apart)]
            places: dict[Slice, NDArray[np.int64]] = {(): every}
            if fits:
                for column in lists.groups.T:
                    for group in np.unique(column).tolist():
                        places[self.reader.groups[group]] = np.flatnonzero(column == group)
            found[pair] = {
                place: (
                    len(at),
                    {name: one.summarize(lists.clusters, at) for name, one in expected.items()},
                )
                for place, at in places.items()
            }
        return found, gaps

    def _forecast(
        self,
        state: State,
        summaries: Summaries,
        start: int,
        *,
        moved: set[tuple[tuple[str, str], Slice]],
        contradicted: set[tuple[str, str, str]],
        doubts: Mapping[tuple[Key, str], int] | None,
    ) -> Iterator[tuple[Key, int, dict[str, StoredForecast]]]:
        """Make the forecasts of an hour; with doubts of its hours, those of a day."""
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

    def _find_moved(
        self, state: State, since: int, until: int, length: int
    ) -> dict[int, set[tuple[tuple[str, str], Slice]]]:
        """Find by window the versions and slices whose signals are far from what is usual."""
        usual = {(one.model, one.version, one.slice, one.signal): one for one in state.usual}
        found: dict[int, set[tuple[tuple[str, str], Slice]]] = {}
        for cell in read_signals(
            self.store, self.project, self.configuration, since, until, length=length
        ):
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
                    found.setdefault(key.start, set()).add(((key.model, key.version), key.slice))
        return found


def _find_contradicted(state: State, hours: Sequence[Gaps]) -> set[tuple[str, str, str]]:
    """Find the versions and measures that the first labels of some hours contradict."""
    found = set()
    for version in state.versions:
        for name, fit in version.fits:
            key = version.model, version.version, name
            gaps = [hour[key] for hour in hours if key in hour]
            if gaps and contradicts(fit, np.concatenate(gaps)):
                found.add(key)
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
