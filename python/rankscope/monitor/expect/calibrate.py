"""The calibration of a day: from the rankings that are final when it begins."""

from __future__ import annotations

import math
from collections import Counter

from rankscope.deferred import np
from rankscope.monitor.evaluate.stored_windows import add_cells, unpack_cells
from rankscope.monitor.evaluate.values import name_columns
from rankscope.monitor.events.limits import DAY, HOUR, SECOND
from rankscope.monitor.expect.kinds import CalibratedVersion, Missed, State, Usual
from rankscope.monitor.expect.lists import Worth, join_parts
from rankscope.monitor.expect.stored import read_forecasts
from rankscope.monitor.signals.kinds import NAMES
from rankscope.monitor.signals.refresh import read_signals
from rankscope.records import record
from rankscope.stats.expected.calibration import count_missing, fit_calibration

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankscope.monitor.definition.configuration import Configuration
    from rankscope.monitor.definition.slices import Slice
    from rankscope.monitor.evaluate.stored_windows import StoredCell
    from rankscope.monitor.evaluate.windows import Key
    from rankscope.monitor.expect.lists import ListReader, Pair, Part
    from rankscope.monitor.store.store import StoreReader

DAYS = 28
"""The days before that a calibration is from."""
MOST_RANKINGS = 100_000
"""With more rankings than about so many in these days, some of their hours are left out."""
MOST_VERSIONS = 20
LOOKS, MOST_MISSED = 7, 2
"""Of so many forecasts that have become final, at most so many may miss."""
FAR, FAR_LOOKS = 2.0, 3
"""None of the last ones may miss by so many half widths of its interval."""
WATCHED = ("tied", "constant", "ascending", "score_rank", "unseen", "overlap")
"""The signals whose change makes a forecast doubtful."""


class Calibrator:
    """Calibrates day after day; each hour is read once.

    Args:
        reader: Reads rankings.
        configuration: The configuration of the project.
    """

    def __init__(self, reader: ListReader, configuration: Configuration) -> None:
        self._reader = reader
        self._configuration = configuration
        definition = configuration.definition
        self._worths = [Worth.of(measure, definition) for measure in reader.measures]
        self._hours: dict[int, dict[Pair, Part]] = {}

    def fit(self, day: int, since: int) -> State:
        """Return what forecasts of a day are made from."""
        until = day - self._configuration.definition.window * SECOND
        until -= until % HOUR
        begin = until - DAYS * DAY
        parts: dict[Pair, list[Part]] = {}
        for pair, part in self._read(begin, until, day):
            parts.setdefault(pair, []).append(part)
        sizes = Counter({pair: sum(len(one.lists) for one in some) for pair, some in parts.items()})
        versions = tuple(
            self._fit_version(*pair, parts[pair]) for pair, _ in sizes.most_common(MOST_VERSIONS)
        )
        return State(
            since,
            day,
            self._reader.groups,
            versions,
            tuple(self._find_usual(begin, day)),
            tuple(self._find_missed(day)),
        )

    def _read(self, begin: int, until: int, day: int) -> Iterator[tuple[Pair, Part]]:
        """Yield the rankings of a time by version, of some of its hours where there are many."""
        reader = self._reader
        counts: Counter[int] = Counter()
        for start, number, count in reader.store.count_by_hour(reader.project, begin, until):
            if reader.contexts[number].environment == "production":
                counts[start] += count
        share = MOST_RANKINGS / max(sum(counts.values()), MOST_RANKINGS)
        # Multiples of the golden ratio are spread evenly over the hours of the day.
        kept = [start for start in sorted(counts) if start // HOUR * 0.6180339887498949 % 1 < share]
        self._hours = {start: self._hours[start] for start in kept if start in self._hours}
        new = [start for start in kept if start not in self._hours]
        for start, part in reader.read_hours(new, now=day):
            split = [] if part is None else reader.split(part.contexts)
            self._hours[start] = {pair: part.choose(rows) for pair, rows in split if part}
        for start in kept:
            yield from self._hours[start].items()

    def _fit_version(self, model: str, version: str, parts: list[Part]) -> CalibratedVersion:
        part = join_parts(parts)
        fits = []
        rankings = days = 0
        for at, worth in enumerate(self._worths):
            # A ranking of which nothing is relevant has no value, and says something, too.
            is_known = ~np.isnan(part.values[at])
            rankings = int(is_known.sum())
            days = len(np.unique(part.lists.hours[is_known] // 24))
            if any(count_missing(rankings, days)):
                continue
            fits.append(
                (
                    worth.measure.name,
                    fit_calibration(
                        part.lists,
                        worth.gain(part.grades),
                        part.values[at],
                        part.early[at],
                        discounts=worth.discounts,
                        groups=len(self._reader.groups),
                    ),
                )
            )
        return CalibratedVersion(model, version, rankings, days, tuple(fits))

    def _find_usual(self, begin: int, day: int) -> Iterator[Usual]:
        """Find what signals were on the days of a calibration."""
        reader = self._reader
        days: dict[tuple[str, str, Slice], list[list[float]]] = {}
        places = [NAMES.index(name) for name in WATCHED]
        cells = read_signals(
            reader.store,
            reader.project,
            self._configuration,
            begin - begin % DAY,
            day - day % DAY,
            length=DAY,
        )
        for cell in cells:
            key = cell.key
            if key.environment == "production" and len(key.slice) < 2:
                means = cell.cell.means()
                days.setdefault((key.model, key.version, key.slice), []).append(
                    [means[at] for at in places]
                )
        for where, rows in days.items():
            table = np.array(rows)
            for name, column in zip(WATCHED, table.T, strict=True):
                known = column[~np.isnan(column)]
                if len(known) > 2:
                    yield Usual(*where, name, float(known.mean()), float(known.std(ddof=1)))

    def _find_missed(self, day: int) -> Iterator[Missed]:
        """Find the streams whose last forecasts of days missed the final values."""
        reader, configuration = self._reader, self._configuration
        since = day - (LOOKS + 3) * DAY - configuration.definition.window * SECOND
        since -= since % DAY
        compared = compare_days(reader.store, reader.project, configuration, since, day)
        for where, looks in compared.items():
            misses = [look.miss for look in looks[-LOOKS:]]
            if sum(miss > 1 for miss in misses) > MOST_MISSED or max(misses[-FAR_LOOKS:]) > FAR:
                yield Missed(*where)


@record(frozen=True, slots=True)
class Look:
    """A forecast of a day, and the value that became final.

    Args:
        day: When the day begins.
        expected: What was expected.
        lower: The lower end of its interval.
        upper: The upper end.
        marks: Why it was doubtful.
        final: The final value.
    """

    day: int
    expected: float
    lower: float
    upper: float
    marks: int
    final: float

    @property
    def miss(self) -> float:
        """How far the final value is from what was expected, in half widths of the interval."""
        half = max(self.upper - self.expected, self.expected - self.lower, 1e-9)
        return abs(self.final - self.expected) / half


def compare_days(
    store: StoreReader,
    project: str,
    configuration: Configuration,
    since: int | None,
    until: int | None,
) -> dict[tuple[str, str, Slice, str], list[Look]]:
    """Compare forecasts of days with the values that became final.

    Returns:
        The days in order, by model, version, slice and measure.
    """
    columns = name_columns(configuration.definition)
    finals: dict[Key, list[StoredCell]] = {}
    rows = store.cells(project, configuration.digest, since, until, length=DAY)
    for cell in unpack_cells(rows):
        finals.setdefault(cell.key._replace(is_mature=True), []).append(cell)
    found: dict[tuple[str, str, Slice, str], list[Look]] = {}
    stored = read_forecasts(store, project, configuration, since, until, length=DAY)
    for key, _, forecasts in stored:
        cells = finals.get(key, [])
        if not cells or not all(cell.key.is_mature for cell in cells):
            continue
        means = add_cells(cells)[0].means()
        for measure, made in forecasts.items():
            final = means[columns.index(measure)]
            if made.is_made and not math.isnan(final):
                ends = made.expected, made.lower, made.upper
                look = Look(key.start, *ends, made.marks, final)
                found.setdefault((key.model, key.version, key.slice, measure), []).append(look)
    return found
