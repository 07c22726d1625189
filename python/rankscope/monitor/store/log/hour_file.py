"""Reads the file of an archived hour: as chunks, or single events by their ids."""

from __future__ import annotations

from contextlib import contextmanager

from rankscope.deferred import np
from rankscope.errors import FileError, FormatError
from rankscope.inputs.arrow import load_arrow
from rankscope.inputs.files.checked_parquet import open_path
from rankscope.monitor.arrays import (
    read_integers,
    read_lists,
    read_numbers,
    read_texts,
    read_times,
    write_texts,
)
from rankscope.monitor.events.limits import HOUR
from rankscope.monitor.store.columns import (
    read_item_numbers,
    read_items,
    read_kinds,
    read_names,
)
from rankscope.monitor.store.deadline import check_deadline
from rankscope.monitor.store.log.files import damaged, missing
from rankscope.monitor.store.log.layout import FORMAT, find_tied
from rankscope.monitor.store.merging import offsets_of, split, take
from rankscope.monitor.store.records import Chunk, ItemColumns, LabelColumns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from typing import Any, TypeAlias

    from numpy.typing import NDArray

    from rankscope.monitor.arrays import Texts
    from rankscope.monitor.store.log.blocks import Block
    from rankscope.monitor.store.log.files import HistoryPlace

    Foreign: TypeAlias = Any  # of PyArrow, which has no types

LABEL = "labels.list.element."
COLUMNS = (
    "seq",
    "ranking_id",
    "time",
    "query_key",
    "user_id",
    "context",
    "doc_id",
    "rank",
    "score",
    "relevance",
    *(f"{LABEL}{name}" for name in ("position", "doc_id", "kind", "labels", "value", "time")),
)
TIME = 3
"""The number of the column of times."""
FIELDS = tuple(f"{LABEL}{name}" for name in ("kind", "labels", "value", "time"))
COUNTED = ("documents", "tied")
"""What is known of the documents without reading them."""
BRIEF = (
    "time",
    "context",
    "user_id",
    "rank",
    "relevance",
    f"{LABEL}position",
    *FIELDS,
    *COUNTED,
)
"""What is read of a brief chunk."""
TABLED = (f"{LABEL}kind", f"{LABEL}labels.list.element")
"""The columns with few different values, which are read with their dictionaries."""
IDS = ("event_id", f"{LABEL}event_id", f"{LABEL}seq")
"""What is read besides where the ids of events are wanted."""


class HourFile:
    """The rankings of an archived hour, with the labels that were archived with them.

    Args:
        folder: The folder of the history.
        hour: The block of the hour.
        is_forced: Whether to compare the checksum although it was compared before.

    Raises:
        FileError: The file is missing or damaged.
    """

    def __init__(self, folder: HistoryPlace, hour: Block, *, is_forced: bool = False) -> None:
        folder.check(hour, is_forced=is_forced)
        self._folder = folder
        self._place = folder.locate(hour.path)
        self._hour = hour

    def verify(self) -> None:
        """Compare the file with its block."""
        rankings = labels = 0
        for chunk, beside in self.read_beside(COUNTED):
            rankings += len(chunk.seqs)
            labels += len(chunk.labels.codes)
            if not _is_counted(chunk.items, beside):
                raise damaged(self._place, "its columns documents and tied differ from the others")
            if chunk.times[0] < self._hour.start or chunk.times[-1] >= self._hour.start + HOUR:
                raise damaged(self._place, "it has rankings of another hour")
        if (rankings, labels) != (self._hour.rankings, self._hour.labels):
            counts = f"it has {rankings:,} rankings and {labels:,} labels"
            raise damaged(self._place, counts)

    def read(
        self,
        since: int | None = None,
        until: int | None = None,
        size: int | None = None,
        *,
        event_ids: bool = False,
        is_brief: bool = False,
        whole: Collection[str] = (),
    ) -> Iterator[Chunk]:
        """Read the rankings from one time to before another, in order."""
        with self._open() as file:
            for group in range(file.num_row_groups):
                check_deadline()
                first, last = _find_times(file, group)
                is_early = since is not None and last < since
                if is_early or (until is not None and first >= until):
                    continue
                if is_brief and not (whole and len(_find_rows(file, group, "ranking_id", whole))):
                    chunk = _read_brief(file, group)
                else:
                    chunk = self._read_group(file, group, event_ids=event_ids)
                start, end = 0, len(chunk.seqs)
                if since is not None:
                    start = int(np.searchsorted(chunk.times, since))
                if until is not None:
                    end = int(np.searchsorted(chunk.times, until))
                if start < end:
                    yield from split(take(chunk, start, end), size or end)

    def read_beside(
        self, names: Collection[str], *, is_brief: bool = False
    ) -> Iterator[tuple[Chunk, Foreign]]:
        """Read each row group as a chunk, with some of its columns as they are in the file."""
        with self._open() as file:
            for group in range(file.num_row_groups):
                check_deadline()
                chunk = (
                    _read_brief(file, group)
                    if is_brief
                    else self._read_group(file, group, event_ids=False)
                )
                yield chunk, file.read_row_group(group, columns=list(names))

    def has_any(self, name: str, values: Collection[str]) -> bool:
        """Return whether a column of texts has one of some values."""
        with self._open() as file:
            return any(
                len(_find_rows(file, group, name, values)) for group in range(file.num_row_groups)
            )

    @contextmanager
    def _open(self) -> Iterator[Foreign]:
        """Open the file, whose errors are converted, in the block as well."""
        pa = load_arrow()
        try:
            # Checked again, as a copy of a file in a bucket may be gone in the meantime.
            path = self._folder.check(self._hour)
            with open_path(path, page_checksum_verification=True, read_dictionary=TABLED) as file:
                written = (file.metadata.metadata or {}).get(b"rankscope.history", b"").decode()
                if written != FORMAT:
                    raise damaged(self._place, f"its columns have version {written or 'none'!r}")
                yield file
        except FileError:
            raise
        except (FileNotFoundError, PermissionError, IsADirectoryError) as error:
            raise missing(self._place, error) from error
        except (pa.ArrowException, OSError, FormatError) as error:
            reason = str(error).splitlines()[0]
            raise damaged(self._place, f"{reason:.200}") from error

    def _read_group(self, file: Foreign, group: int, *, event_ids: bool) -> Chunk:
        table = file.read_row_group(group, columns=[*COLUMNS, *(IDS if event_ids else ())])
        items = read_items(table)
        return Chunk(
            read_integers(table.column("seq"), "seq"),
            read_times(table.column("time"), "time"),
            read_integers(table.column("context"), "context"),
            read_texts(table.column("ranking_id"), "ranking_id"),
            read_texts(table.column("query_key"), "query_key"),
            read_texts(table.column("user_id"), "user_id"),
            items,
            _read_labels(table, items, event_ids=event_ids),
            _read_event_ids(table) if event_ids else None,
        )


def _is_counted(items: ItemColumns, table: Foreign) -> bool:
    """Return whether the columns that count documents are those of the documents."""
    documents = read_integers(table.column("documents"), "documents")
    is_tied = table.column("tied").to_numpy()
    return np.array_equal(documents, np.diff(items.offsets)) and np.array_equal(
        is_tied, find_tied(items)
    )


def _read_brief(file: Foreign, group: int) -> Chunk:
    """Read what values and windows of a row group are computed from."""
    # A cluster is the user, else the query, else the ranking.
    names = ["query_key", "ranking_id"]
    if not _may_be_empty(file, group, "user_id"):
        names = []
    elif not _may_be_empty(file, group, "query_key"):
        names = names[:1]
    table = file.read_row_group(group, columns=[*BRIEF, *names])
    count = table.num_rows
    query_keys, ranking_ids = (
        read_texts(table.column(name), name) if name in names else _repeat_empty(count)
        for name in ("query_key", "ranking_id")
    )
    offsets = offsets_of(read_integers(table.column("documents"), "documents"))
    ranks, scores, relevance = read_item_numbers(table, offsets)
    items = ItemColumns(
        offsets,
        _repeat_empty(int(offsets[-1])),
        ranks,
        scores,
        relevance,
        table.column("tied").to_numpy(),
    )
    label_offsets, labels = _list_labels(table)
    kinds, (label_names, codes) = read_kinds(labels), read_names(labels)
    positions = labels.column("position").fill_null(0)
    return Chunk(
        np.zeros(count, dtype=np.int64),
        read_times(table.column("time"), "time"),
        read_integers(table.column("context"), "context"),
        ranking_ids,
        query_keys,
        read_texts(table.column("user_id"), "user_id"),
        items,
        LabelColumns(
            np.repeat(np.arange(count), np.diff(label_offsets)),
            _repeat_empty(len(codes)),
            read_times(labels.column("time"), "labels.time"),
            kinds,
            label_names,
            codes,
            read_numbers(labels.column("value"), "labels.value"),
            positions=read_integers(positions, "labels.position"),
        ),
    )


def _repeat_empty(count: int) -> Texts:
    """Return a column of empty texts."""
    return np.zeros(count + 1, dtype=np.int64), np.zeros(0, dtype=np.uint8)


def _may_be_empty(file: Foreign, group: int, name: str) -> bool:
    """Return whether a text of a row group may be empty, as far as its statistics say."""
    columns = file.metadata.row_group(group)
    for at in range(columns.num_columns):
        column = columns.column(at)
        if column.path_in_schema == name:
            statistics = column.statistics
            return statistics is None or not statistics.has_min_max or not statistics.min
    return True


def _read_labels(table: Foreign, items: ItemColumns, *, event_ids: bool) -> LabelColumns:
    """Read the labels of the rankings of a row group."""
    pa, compute = load_arrow(), load_arrow("pyarrow.compute")
    offsets, labels = _list_labels(table)
    rankings = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    positions = labels.column("position")
    doc_ids = labels.column("doc_id")
    if positions.null_count < len(positions):
        rows = compute.add(positions.cast(pa.int64()), pa.array(items.offsets[rankings] - 1))
        doc_ids = compute.coalesce(write_texts(items.doc_ids).take(rows), doc_ids)
    names, codes = read_names(labels)
    return LabelColumns(
        rankings,
        read_texts(doc_ids, "labels.doc_id"),
        read_times(labels.column("time"), "labels.time"),
        read_kinds(labels),
        names,
        codes,
        read_numbers(labels.column("value"), "labels.value"),
        read_texts(labels.column("event_id"), "labels.event_id") if event_ids else None,
        read_integers(labels.column("seq"), "labels.seq") if event_ids else None,
    )


def _list_labels(table: Foreign) -> tuple[NDArray[np.int64], Foreign]:
    """Return the offsets of the labels of rankings, and the labels as a table."""
    pa = load_arrow()
    offsets, labels = read_lists(table.column("labels"), "labels")
    return offsets, pa.RecordBatch.from_struct_array(labels)


def _read_event_ids(table: Foreign) -> Texts:
    """Read the ids of the events of rankings; one that is missing is the id of the ranking."""
    compute = load_arrow("pyarrow.compute")
    event_ids = compute.coalesce(table.column("event_id"), table.column("ranking_id"))
    return read_texts(event_ids, "event_id")


def _find_rows(file: Foreign, group: int, name: str, ids: Collection[str]) -> NDArray[np.int64]:
    """Find the rows of a row group that have one of some ids."""
    pa, compute = load_arrow(), load_arrow("pyarrow.compute")
    column = file.read_row_group(group, columns=[name]).column(name)
    wanted = pa.array(list(ids), pa.large_string())
    is_found = compute.is_in(column, wanted).to_numpy()
    rows: NDArray[np.int64] = np.flatnonzero(is_found)
    return rows


def _find_times(file: Foreign, group: int) -> tuple[int, int]:
    """Return the times of the first and the last ranking of a row group."""
    # All columns before this one are plain, so that their numbers are those of the leaves.
    statistics = file.metadata.row_group(group).column(TIME).statistics
    return statistics.min_raw, statistics.max_raw
