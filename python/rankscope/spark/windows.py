"""Compute the windows of a monitor from logs that are data frames of Spark."""

from __future__ import annotations

import pickle

from rankscope import _core
from rankscope.deferred import np, pa
from rankscope.errors import FormatError, RankscopeError, UsageError
from rankscope.monitor.definition.configuration import Configuration
from rankscope.monitor.definition.slices import Slicing, extend_slicing
from rankscope.monitor.events.bins import bin_attributes, bin_content
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.events.names import ITEM_NAMES, LABEL_NAMES, RANKING_NAMES
from rankscope.monitor.events.times import read_clock, read_moment, to_micros
from rankscope.monitor.store.records import CellRow, Context, HourRow, Progress
from rankscope.records import record
from rankscope.spark.frames import check_frame

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any, Literal

    from rankscope.monitor import Monitor
    from rankscope.monitor.events.bins import Bins, Content
    from rankscope.monitor.events.rejection import Decoded, Rejection
    from rankscope.monitor.events.times import Time
    from rankscope.monitor.store.records import Chunk
    from rankscope.spark.parquet import Frame

PROJECT = 0
"""Ids are compared with those of the same hour only."""
YEARS = 3000 * DAY
"""How long after the hour labels may come."""
KNOWN = {
    name
    for roles in (RANKING_NAMES, ITEM_NAMES, LABEL_NAMES)
    for names in roles.values()
    for name in names
}
"""The names of all columns that events may have."""


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
            raise _differ("another configuration", "configure it with that of the windows")
        before, slicing = store.progress(project, digest), self.slicing.to_json()
        if before is not None and before.slicing != slicing:
            raise _differ(
                "other slices", "pass the monitor to windows: windows(…, monitor=monitor)"
            )
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
    shown = _keep_known(rankings).dropDuplicates(["ranking_id"])
    shown = shown.selectExpr("*", f"unix_micros(time) DIV {HOUR} AS hour")
    unique = labels.dropDuplicates(["event_id"]) if "event_id" in labels.columns else labels
    hours = shown.selectExpr("ranking_id", "hour AS hour_shown")
    joined = _keep_known(unique).join(hours, "ranking_id")
    slicing = _find_slicing(shown, configuration, monitor)
    answers = (
        shown.groupBy("hour")
        .cogroup(joined.groupBy("hour_shown"))
        .applyInArrow(summing(configuration.to_json(), slicing, moment), "payload binary")
        .collect()
    )
    days = [pickle.loads(row[0]) for row in answers]  # noqa: S301 - of our own tasks
    errors = [day for day in days if isinstance(day, RankscopeError)]
    if errors:
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


def _keep_known(frame: Frame) -> Frame:
    """Return a data frame without the columns that mean nothing in events."""
    return frame.select(*(name for name in frame.columns if name in KNOWN))


def summing(configuration: str, slicing: Slicing, now: int) -> Callable[[Any, Any], Any]:
    """Return the function that sums the rankings of an hour and their labels."""

    def run(rankings: Any, labels: Any) -> Any:  # noqa: ANN401 - PyArrow has no types
        from rankscope.monitor.evaluate.days import sum_day  # noqa: PLC0415 - loads SQLAlchemy

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
    """The events of one hour, read as a store is read.

    Args:
        rankings: An Arrow table of rankings.
        labels: An Arrow table of their labels.
        bins: The edges of bins of attributes that are numbers.
    """

    def __init__(self, rankings: Any, labels: Any, bins: Bins) -> None:  # noqa: ANN401 - as above
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
        numbers, counts = np.unique(self._chunk.contexts, return_counts=True)
        pairs = zip(numbers.tolist(), counts.tolist(), strict=True)
        return [(self.start, number, count) for number, count in pairs]

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
    kind: Literal["rankings", "labels"],
    table: Any,  # noqa: ANN401 - PyArrow has no types
    start: int,
) -> _core.EventBatch:
    """Decode the events of a table as a monitor does, all of which have to be good.

    Raises:
        FormatError: One isn't.
    """
    from rankscope.monitor.intake.ingestion import Ingestion  # noqa: PLC0415 - loads SQLAlchemy

    events = Collector()
    # Not by the clock of the executor: labels may come for years.
    Ingestion(events, kind, now=lambda: start + YEARS).take_table(table)
    if events.rejections:
        first = events.rejections[0]
        raise FormatError(
            f"{first.message} (invalid events of this hour: {len(events.rejections)})",
            hint="filter such rows out of the DataFrame",
            code=first.code,
        )
    return _core.EventBatch.join(events.batches)


def settle_hour(
    start: int, rankings: _core.EventBatch, labels: _core.EventBatch, bins: Bins
) -> tuple[list[Content], Chunk]:
    """Return the contexts of the rankings of an hour, and the rankings with their labels.

    Rankings are ordered by time, then by id. Of events with one id, the first counts.
    """
    from rankscope.monitor.store.chunks import make_chunk  # noqa: PLC0415 - loads SQLAlchemy

    events = _core.EventBatch.join([rankings, labels]).hash_ids(PROJECT).settle([], 1)
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
            values = rankings.select(rankings["attributes"].getItem(name).alias("value"), "time")
            first = values.where("value IS NOT NULL").groupBy("value").agg({"time": "min"})
            for _, text in sorted((row[1], row[0]) for row in first.collect()):
                binned = bin_attributes(((name, text),), configuration.edges)
                contexts.append(Context("", "", "production", binned))
    return extend_slicing(slicing, dict(enumerate(contexts)), configuration.most)


def _differ(what: str, hint: str) -> UsageError:
    return UsageError(
        f"the windows have {what} than the project has", hint=hint, code="bad_parameter"
    )
