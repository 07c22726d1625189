"""Compute the windows of a monitor from logs that are data frames of Spark."""

from __future__ import annotations

import pickle

from rankscope.deferred import np, pa
from rankscope.errors import FormatError, RankscopeError, UsageError
from rankscope.monitor.definition.configuration import Configuration
from rankscope.monitor.definition.slices import Slicing, extend_slicing
from rankscope.monitor.events.bins import bin_attributes
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.events.times import read_clock, read_moment, to_micros
from rankscope.monitor.store.records import CellRow, Context, HourRow, Progress
from rankscope.records import record
from rankscope.spark.frames import check_frame

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from rankscope._core import EventBatch
    from rankscope.monitor import Monitor
    from rankscope.monitor.events.bins import Bins
    from rankscope.monitor.events.rejection import Decoded
    from rankscope.monitor.events.times import Time
    from rankscope.monitor.store.records import Chunk
    from rankscope.spark.parquet import Frame


@record(frozen=True, slots=True, kw_only=True)
class Windows:
    """The exact sums of hours, to be written to a monitor.

    Args:
        configuration: The configuration that they were computed with.
        slicing: The slices that they have.
        as_of: The time as of which they were computed, in microseconds since 1970 in UTC.
        rankings: By the start of an hour, the number of its rankings.
        cells: The sums of each hour, version and slice, as the store keeps them.
        hours: What is known of each hour besides.
    """

    configuration: Configuration
    slicing: Slicing
    as_of: int
    rankings: dict[int, int]
    cells: tuple[CellRow, ...]
    hours: tuple[HourRow, ...]

    def write(self, monitor: Monitor) -> int:
        """Write the windows to a monitor, in place of those that it has of the same hours.

        The project of the monitor shouldn't have events of these hours itself, because an
        evaluation of those replaces the windows.

        Args:
            monitor: The monitor of a project with the same configuration, opened for writing.

        Returns:
            The number of hours.

        Raises:
            UsageError: The project has another configuration or other slices, or can't be written.
            FileError: The store can't be written.
        """
        from rankscope.monitor.evaluate.days import add_hours  # noqa: PLC0415 - only here
        from rankscope.monitor.evaluate.stored_windows import (  # noqa: PLC0415 - as above
            pack_cell,
            unpack_cell,
        )

        store, project, digest = monitor.writer, monitor.project, self.configuration.digest
        if monitor.configuration.digest != digest:
            raise _differ("configuration", "configure it with the one that the windows have")
        before, slicing = store.progress(project, digest), self.slicing.to_json()
        if before is not None and before.slicing != slicing:
            raise _differ("slices", "pass the monitor to windows: windows(…, monitor=monitor)")
        replaced = store.count_replaced(project)
        for day in sorted({start - start % DAY for start in self.rankings}):
            starts = [start for start in sorted(self.rankings) if start - start % DAY == day]
            own = [cell for cell in self.cells if cell.start in starts]
            stored = store.cells(project, digest, day, day + DAY)
            others = [cell for cell in stored if cell.start not in starts]
            unpacked = sorted(map(unpack_cell, [*own, *others]), key=lambda one: one.key)
            store.put_windows(
                project,
                digest,
                replaced={HOUR: starts, DAY: [day]},
                cells=[*own, *(pack_cell(DAY, one) for one in add_hours(day, unpacked))],
                hours=[hour for hour in self.hours if hour.start in starts],
                open_hours=[],
                progress=Progress(
                    0 if before is None else before.seq,
                    self.as_of,
                    slicing,
                    "" if before is None else before.baseline,
                ),
                replaced_rankings=replaced,
            )
        return len(self.rankings)


def windows(
    rankings: Frame,
    labels: Frame,
    configuration: Configuration,
    *,
    now: Time | None = None,
    monitor: Monitor | None = None,
) -> Windows:
    """Compute the windows of a log: exact sums of values by hour, version and slice.

    They are those that a monitor computes from the same events. Spark brings the rankings of an
    hour and their labels together, so that an hour must fit into the memory of an executor.

    Args:
        rankings: A DataFrame with one row per ranking, and the columns that `rankscope monitor
            export` writes: `ranking_id`, `time` (a timestamp) and `doc_id` (an array of ids, best
            first), and those of `rank`, `score`, `relevance`, `query_key`, `user_id`, `model`,
            `version`, `environment` and `attributes` (a map of text to text) that there are. Of
            rows with the same `ranking_id`, one counts.
        labels: A DataFrame with one row per label: `ranking_id`, `doc_id`, `time`, and `labels` or
            `value`. Of rows with the same `event_id`, if there is this column, one counts.
        configuration: The configuration of the monitor.
        now: The time as of which labels count: a `datetime` with a time zone, or ISO text (default:
            now).
        monitor: The monitor that has windows already, whose slices are kept (default: none).

    Raises:
        UsageError: An argument is invalid.
        InputError: A column is missing or holds invalid values.
    """
    check_frame(rankings, "rankings")
    check_frame(labels, "labels")
    moment = read_clock() if now is None else to_micros(read_moment(now, "now"))
    shown = rankings.dropDuplicates(["ranking_id"])
    shown = shown.selectExpr("*", f"unix_micros(time) DIV {HOUR} AS hour")
    unique = labels.dropDuplicates(["event_id"]) if "event_id" in labels.columns else labels
    told = unique.join(shown.selectExpr("ranking_id", "hour AS hour_shown"), "ranking_id")
    slicing = _find_slicing(shown, configuration, monitor)
    found = (
        shown.groupBy("hour")
        .cogroup(told.groupBy("hour_shown"))
        .applyInArrow(summing(configuration.to_json(), slicing, moment), "payload binary")
        .collect()
    )
    made = [pickle.loads(row[0]) for row in found]  # noqa: S301 - of our own tasks
    errors = [each for each in made if isinstance(each, RankscopeError)]
    if errors:
        raise min(errors, key=str)
    made.sort(key=lambda each: each[0])
    return Windows(
        configuration=configuration,
        slicing=slicing,
        as_of=moment,
        rankings={start: count for start, count, _, _ in made},
        cells=tuple(cell for _, _, cells, _ in made for cell in cells),
        hours=tuple(hour for _, _, _, hours in made for hour in hours),
    )


def summing(configuration: str, slicing: Slicing, now: int) -> Callable[[Any, Any], Any]:
    """Return the function that sums the rankings of an hour and their labels."""

    def run(rankings: Any, labels: Any) -> Any:  # noqa: ANN401 - PyArrow has no types
        from rankscope.monitor.evaluate.days import sum_day  # noqa: PLC0415 - loads SQLAlchemy

        try:
            read = Configuration.from_json(configuration)
            log = HourLog(rankings, labels, read.edges)
            start = log.start
            summed = sum_day(
                log,  # type: ignore[arg-type]  # has what is read of a store
                [start],
                project="",
                configuration=read,
                slicing=slicing,
                now=now,
                threads=1,
            )
            cells = [cell for cell in summed.cells if cell.length == HOUR]
            answer: object = (start, summed.rankings[0], cells, list(summed.hours))
        except RankscopeError as error:
            answer = error
        return pa.table({"payload": pa.array([pickle.dumps(answer)], pa.binary())})

    return run


class HourLog:
    """The events of one hour, read as a store is read.

    Args:
        rankings: An Arrow table of rankings.
        labels: An Arrow table of their labels.
        bins: The edges of bins of attributes that are numbers.
    """

    def __init__(self, rankings: Any, labels: Any, bins: Bins) -> None:  # noqa: ANN401 - as above
        from rankscope.spark.events import (  # noqa: PLC0415 - loads SQLAlchemy
            decode_labels,
            decode_rankings,
            settle_hour,
        )

        self.start = int(rankings["hour"][0].as_py()) * HOUR
        hour = settle_hour(
            self.start, _require(decode_rankings(rankings)), _require(decode_labels(labels)), bins
        )
        self._chunk = hour.chunk
        self._contexts = {
            at: Context(*content)  # type: ignore[arg-type]  # decoded environments are some
            for at, content in enumerate(hour.contents)
        }

    def read(self, *_: object, **_settings: object) -> Iterator[Chunk]:
        """Yield all rankings."""
        yield self._chunk

    def contexts(self, _project: str) -> dict[int, Context]:
        """Return the contexts of the rankings."""
        return self._contexts

    def count_by_hour(self, *_: object) -> list[tuple[int, int, int]]:
        """Count the rankings by context."""
        numbers, counts = np.unique(self._chunk.contexts, return_counts=True)
        pairs = zip(numbers.tolist(), counts.tolist(), strict=True)
        return [(self.start, number, count) for number, count in pairs]

    def cells(self, *_: object) -> Sequence[CellRow]:
        """Return the cells of other hours, of which there are none here."""
        return []


def _require(decoded: Decoded) -> EventBatch:
    """Return the events of a table, all of which have to be good."""
    if decoded.rejections:
        first = decoded.rejections[0]
        raise FormatError(
            f"{first.message} (invalid events of this hour: {len(decoded.rejections)})",
            hint="filter such rows out of the DataFrame",
            code=first.code,
        )
    return decoded.batch


def _find_slicing(
    rankings: Frame, configuration: Configuration, monitor: Monitor | None
) -> Slicing:
    """Find the slices: the values of each attribute in the order in which they came."""
    from rankscope.monitor.evaluate.refresh import find_slicing  # noqa: PLC0415 - loads SQLAlchemy

    names = configuration.attributes
    slicing = Slicing(
        tuple((name, ()) for name in names),
        configuration.all_pairs,
        tuple((name, 0) for name in names),
    )
    if monitor is not None:
        slicing = find_slicing(monitor.store, monitor.project, configuration)
    contexts: list[Context] = []
    if names and "attributes" in rankings.columns:
        for name in names:
            value = rankings["attributes"].getItem(name)
            came = rankings.select(value.alias("value"), "time").where("value IS NOT NULL")
            first = came.groupBy("value").agg({"time": "min"}).collect()
            found = sorted((row[1], row[0]) for row in first)
            pairs = [((name, text),) for _, text in found]
            contexts += [
                Context("", "", "production", bin_attributes(pair, configuration.edges))
                for pair in pairs
            ]
    return extend_slicing(slicing, dict(enumerate(contexts)), configuration.most)


def _differ(what: str, hint: str) -> UsageError:
    return UsageError(
        f"the windows were computed with another {what} than the project has"
        if what == "configuration"
        else f"the windows have other {what} than the project has",
        hint=hint,
        code="bad_parameter",
    )
