"""Compute the windows of a monitor from logs of Spark, and store streams of events in one."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa

from rankscope import _core
from rankscope.errors import FormatError, RankscopeError, UsageError
from rankscope.monitor.definition.configuration import Configuration
from rankscope.monitor.definition.slices import Slicing, extend_slicing
from rankscope.monitor.events.bins import Bins, Content, bin_attributes, bin_content
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.events.names import ITEM_NAMES, LABEL_NAMES, RANKING_NAMES
from rankscope.monitor.events.rejection import Decoded, Rejection
from rankscope.monitor.events.times import Time, read_clock, read_moment, to_micros
from rankscope.monitor.intake.ingestion import Ingested
from rankscope.monitor.store.records import CellRow, Chunk, Context, HourRow, Progress
from rankscope.spark.files import Frame, Table
from rankscope.spark.frames import check_frame

if TYPE_CHECKING:
    from rankscope.monitor import Monitor


ROLES = (RANKING_NAMES, ITEM_NAMES, LABEL_NAMES)
NAMES = {name for roles in ROLES for names in roles.values() for name in names}
"""The names of all columns that events may have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Windows:
    """The exact sums of hours, to be written to a monitor.

    Args:
        configuration: The configuration that they were computed with.
        slicing: The slices that they have.
        as_of: The time as of which they were computed, in microseconds since 1970 in UTC.
        rankings: The number of rankings of each hour, by its start.
        cells: The sums of each hour, version and slice, as the store keeps them.
        hours: The other numbers of each hour.
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
        from rankscope.monitor.evaluate.days import add_hours
        from rankscope.monitor.evaluate.stored_windows import pack_cell, unpack_cell

        store, project, digest = monitor.writer, monitor.project, self.configuration.digest
        before = store.progress(project, digest)
        what = hint = ""
        if monitor.configuration.digest != digest:
            what, hint = "another configuration", "configure it with that of the windows"
        elif before is not None and before.slicing != self.slicing.to_json():
            what, hint = "other slices", "pass the monitor to windows: windows(…, monitor=monitor)"
        if what:
            problem = f"the windows have {what} than the project has"
            raise UsageError(problem, hint=hint, code="bad_parameter")
        seq, baseline = (0, "") if before is None else (before.seq, before.baseline)
        replaced = store.count_replaced(project)
        for day in sorted({start - start % DAY for start in self.rankings}):
            starts = [start for start in sorted(self.rankings) if start - start % DAY == day]
            own = [cell for cell in self.cells if cell.start in starts]
            stored = store.cells(project, digest, day, day + DAY)
            others = [cell for cell in stored if cell.start not in starts]
            unpacked = sorted(map(unpack_cell, [*own, *others]), key=lambda cell: cell.key)
            store.put_windows(
                project,
                digest,
                replaced={HOUR: starts, DAY: [day]},
                cells=[*own, *(pack_cell(DAY, cell) for cell in add_hours(day, unpacked))],
                hours=[hour for hour in self.hours if hour.start in starts],
                open_hours=[],
                progress=Progress(seq, self.as_of, self.slicing.to_json(), baseline),
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
    documents = {*RANKING_NAMES["items"], *ITEM_NAMES["doc_id"]}
    types = {field.name: field.dataType.typeName() for field in rankings.schema}
    if not any(name in documents and kind == "array" for name, kind in types.items()):
        raise FormatError(
            f"expected a column of doc_id with a list of documents in each row, found "
            f"{', '.join(f'{name} ({kind})' for name, kind in types.items()) or 'no columns'}",
            hint="group the rows of each ranking: one row per ranking, with an array of ids",
            code="columns",
        )
    moment = read_clock() if now is None else to_micros(read_moment(now, "now"))
    shown = _select_events(rankings).dropDuplicates(["ranking_id"])
    shown = shown.selectExpr("*", f"unix_micros(time) DIV {HOUR} AS hour")
    unique = labels.dropDuplicates(["event_id"]) if "event_id" in labels.columns else labels
    hours = shown.selectExpr("ranking_id", "hour AS hour_shown")
    joined = _select_events(unique).join(hours, "ranking_id")
    slicing = _find_slicing(shown, configuration, monitor)
    answers = (
        shown.groupBy("hour")
        .cogroup(joined.groupBy("hour_shown"))
        .applyInArrow(summing(configuration.to_json(), slicing, moment), "payload binary")
        .collect()
    )
    days = [pickle.loads(row[0]) for row in answers]  # noqa: S301 - of our own tasks
    if errors := [day for day in days if isinstance(day, RankscopeError)]:
        raise min(errors, key=str)
    days.sort(key=lambda day: day.starts)
    return Windows(
        configuration=configuration,
        slicing=slicing,
        as_of=moment,
        rankings={day.starts[0]: day.rankings[0] for day in days},
        cells=tuple(cell for day in days for cell in day.cells if cell.length == HOUR),
        hours=tuple(hour for day in days for hour in day.hours),
    )


def _select_events(frame: Frame) -> Frame:
    """Return a data frame without the columns that mean nothing in events."""
    return frame.select(*(name for name in frame.columns if name in NAMES))


def summing(configuration: str, slicing: Slicing, now: int) -> Callable[[Any, Any], Any]:
    """Return the function that sums the rankings of an hour and their labels."""

    def run(rankings: Table, labels: Table) -> Table:
        from rankscope.monitor.evaluate.days import sum_day

        try:
            read = Configuration.from_json(configuration)
            log = HourLog(rankings, labels, read.edges)
            answer: object = sum_day(
                log,  # type: ignore[arg-type]  # has what is read of a store
                [log.start],
                project="",
                configuration=read,
                slicing=slicing,
                now=now,
                threads=1,
            )
        except RankscopeError as error:
            answer = error
        return pa.table({"payload": pa.array([pickle.dumps(answer)], pa.binary())})

    return run


class HourLog:
    """The events of one hour, which are Arrow tables, read as a store is read."""

    def __init__(self, rankings: Table, labels: Table, bins: Bins) -> None:
        self.start = int(rankings["hour"][0].as_py()) * HOUR
        contents, self._chunk = settle_hour(
            self.start,
            decode_events("rankings", rankings.drop_columns(["hour"]), self.start),
            decode_events("labels", labels.drop_columns(["hour_shown"]), self.start),
            bins,
        )
        self._contexts = {
            at: Context(*content)  # type: ignore[arg-type]  # decoded environments are some
            for at, content in enumerate(contents)
        }

    def read(self, *_: object, **_settings: object) -> Iterator[Chunk]:
        """Yield all rankings."""
        yield self._chunk

    def contexts(self, _project: str) -> dict[int, Context]:
        """Return the contexts of the rankings."""
        return self._contexts

    def count_by_hour(self, *_: object) -> list[tuple[int, int, int]]:
        """Count the rankings by context."""
        counts = Counter(self._chunk.contexts.tolist())
        return [(self.start, number, count) for number, count in sorted(counts.items())]

    def cells(self, *_: object) -> Sequence[CellRow]:
        """Return the cells of other hours, of which there are none here."""
        return []


class Collector:
    """Where decoded events go, in place of a store."""

    takes_prepared = True

    def __init__(self) -> None:
        self.batches: list[_core.EventBatch] = []
        self.rejections: list[Rejection] = []

    def take(self, decoded: Decoded) -> list[str]:
        """Keep the events of a batch."""
        self.batches.append(decoded.batch)
        self.rejections += decoded.rejections
        return ["accepted"] * decoded.objects


def decode_events(
    kind: Literal["rankings", "labels"], table: Table, start: int
) -> _core.EventBatch:
    """Decode the events of a table as a monitor does, all of which have to be good.

    Raises:
        FormatError: One isn't.
    """
    from rankscope.monitor.intake.ingestion import Ingestion

    events = Collector()
    # Not by the clock of the executor: labels may come for years.
    Ingestion(events, kind, now=lambda: start + 3000 * DAY).take_table(table)
    if events.rejections:
        first = events.rejections[0]
        problem = f"{first.message} (invalid events of this hour: {len(events.rejections)})"
        hint = "filter such rows out of the DataFrame"
        raise FormatError(problem, hint=hint, code=first.code)
    return _core.EventBatch.join(events.batches)


def settle_hour(
    start: int, rankings: _core.EventBatch, labels: _core.EventBatch, bins: Bins
) -> tuple[list[Content], Chunk]:
    """Return the contexts of the rankings of an hour, and the rankings with their labels.

    Rankings are ordered by time, then by id. Of events with one id, the first counts.
    """
    from rankscope.monitor.store.chunks import make_chunk

    # Ids are compared with those of the same hour only, so the number of the project can be any.
    events = _core.EventBatch.join([rankings, labels]).hash_ids(0).settle([], 1)
    numbers: dict[Content, int] = {}
    contexts = [
        # Those of no ranking that counts are `None`.
        0 if content is None else numbers.setdefault(bin_content(content, bins), len(numbers))
        for content in events.contexts()
    ]
    blocks = [block for _, _, block in events.rankings(contexts)]
    labelled = [block for hour, _, block in events.labels([])[0] if hour == start]
    return list(numbers), make_chunk(
        _core.RankingBlock.join(blocks), _core.LabelBlock.join(labelled), event_ids=False
    )


def _find_slicing(
    rankings: Frame, configuration: Configuration, monitor: Monitor | None
) -> Slicing:
    """Find the slices: the values of each attribute in the order in which they came."""
    from rankscope.monitor.evaluate.refresh import find_slicing

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
            values = rankings.select(rankings["attributes"].getItem(name).alias("value"), "time")
            first = values.where("value IS NOT NULL").groupBy("value").agg({"time": "min"})
            for _, text in sorted((time, text) for text, time in first.collect()):
                binned = bin_attributes(((name, text),), configuration.edges)
                contexts.append(Context("", "", "production", binned))
    return extend_slicing(slicing, dict(enumerate(contexts)), configuration.most)


ROWS_AT_ONCE = 100_000


def write_to_monitor(
    monitor: Monitor,
    kind: Literal["rankings", "labels"],
    *,
    names: Mapping[str, str] | None = None,
    attributes: Sequence[str] | None = None,
    on_stored: Callable[[Ingested], None] | None = None,
) -> Callable[[Frame, int], None]:
    """Return a function for `foreachBatch` that stores the events of each batch in a monitor.

    Structured Streaming may send a batch again after a failure. Each event is stored once: a repeat
    is recognized by its `event_id`, or by its `ranking_id` if a ranking has none.

    Args:
        monitor: A monitor that is opened for writing, on the driver.
        kind: What the stream has: `rankings` or `labels`, as `Monitor.log_rankings` and
            `Monitor.log_labels` take data frames of them.
        names: As in `Monitor.log_rankings`.
        attributes: As in `Monitor.log_rankings`, for rankings only.
        on_stored: Called with what became of the events of each batch, of which some may have been
            rejected (default: a rejected event stops the stream with an error).

    Raises:
        UsageError: The monitor only reads, or `kind` isn't one of its choices.
    """
    if kind not in {"rankings", "labels"}:
        problem = f"expected kind to be rankings or labels, found {kind!r}"
        hint = "write write_to_monitor(monitor, 'rankings')"
        raise UsageError(problem, hint=hint, code="bad_parameter")
    monitor.writer  # noqa: B018 - fails now, and not in the first batch
    of_rankings = partial(monitor.log_rankings, attributes=attributes)
    log = of_rankings if kind == "rankings" else monitor.log_labels

    def write(batch: Frame, _number: int) -> None:
        check_frame(batch, "the batch")
        table = batch.toArrow()
        for start in range(0, table.num_rows, ROWS_AT_ONCE):
            rows = table.slice(start, ROWS_AT_ONCE)
            stored = log(rows, names=names)
            if on_stored is not None:
                on_stored(stored)
            elif stored.rejected or stored.conflict:
                raise FormatError(
                    f"{stored.rejected + stored.conflict} of {rows.num_rows} events were not "
                    f"stored; the first is row {stored.refused[0]}",
                    hint="filter such rows out of the stream, or pass on_stored to go on",
                    code="rejected_events",
                )

    return write
