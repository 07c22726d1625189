"""Fuses runs of any size into the lines of a run: while reading them, or in partitions on disk."""

from __future__ import annotations

from rankscope._core import ScatteredRuns, fuse_to_file, fuse_to_memory
from rankscope.engine.batches import count_rows_at_once, push_batches, whole_queries
from rankscope.engine.memory import HARMLESS, Room, SpillNotice
from rankscope.errors import RankscopeError
from rankscope.inputs import tables
from rankscope.inputs.reading import open_retrieved
from rankscope.inputs.recognition import Input
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager
    from typing import IO, Any, TypeAlias

    from numpy.typing import NDArray

    from rankscope._core import Rankings, Run
    from rankscope.inputs.columns import IdColumn

    ColumnValues: TypeAlias = Run | Rankings
    RunColumns: TypeAlias = tuple[IdColumn, IdColumn, NDArray[Any], bool]
    Settings: TypeAlias = tuple[tuple[str, float], str, Sequence[float], str, int | None]
    Explaining: TypeAlias = Callable[[str], AbstractContextManager[None]]


@record(frozen=True, slots=True, kw_only=True)
class FusedLines:
    """What was written.

    Args:
        queries: The number of queries.
        documents: The number of documents in all lists.
        of_runs: By run, the number of its queries.
    """

    queries: int
    documents: int
    of_runs: Sequence[int]


class Fusion:
    """Runs to fuse, and how.

    Args:
        runs: By name, each run: an input in files, or lists in memory.
        settings: The choices of the fusion.
        tag: The last column of the fused run.
        columns: By role, the names of columns that are given.
        score_type: How scores are compared.
        encoding: How text is encoded.
        threads: How many threads to use.
        explaining: Says which run an error is about.
    """

    def __init__(
        self,
        runs: Mapping[str, Input | ColumnValues],
        settings: Settings,
        tag: str,
        *,
        columns: Mapping[str, str],
        score_type: str,
        encoding: str,
        threads: int,
        explaining: Explaining,
    ) -> None:
        self._runs = runs
        self._settings = settings
        self._tag = tag
        self._columns = columns
        self._score_type = score_type
        self._encoding = encoding
        self._threads = threads
        self._explaining = explaining

    def write(self, room: Room, file: IO[bytes]) -> FusedLines:
        """Write the fused run, in bounded memory.

        Runs are read side by side. Where the rows of a query are not together, or the queries of
        runs come in such different orders that what waits for other runs exceeds the limit, runs
        are read one after another, and rows that exceed it go to temporary files. Both ways give
        the same lines and the same errors.
        """
        found = None
        if not any(isinstance(run, Input) and run.is_once for run in self._runs.values()):
            found = self._write_grouped(room, file)
        if found is None:
            file.seek(0)
            file.truncate()
            found = self._write_scattered(room, file)
        queries, documents, of_runs, _ = found
        return FusedLines(queries=queries, documents=documents, of_runs=of_runs)

    def _write_grouped(self, room: Room, file: IO[bytes]) -> tuple[int, int, list[int], int] | None:
        most = HARMLESS if room.unasked else min(HARMLESS, room.memory.limit // 4)
        rows = count_rows_at_once(most // len(self._runs))
        runs = [(self._open(run, rows), name) for name, run in self._runs.items()]
        with self._explaining(""):
            return fuse_to_file(
                (runs, self._score_type, most),
                self._settings,
                (room.unasked, room.find),
                self._threads,
                (self._tag, file.write),
            )

    def _open(
        self, run: Input | ColumnValues, rows: int
    ) -> tuple[str | bytes | None, str] | ColumnValues | Iterator[RunColumns | None]:
        if not isinstance(run, Input):
            return run
        if run.kind == "file":
            return run.source, self._encoding
        return self._read_whole_queries(run, rows)

    def _read_whole_queries(self, run: Input, rows: int) -> Iterator[RunColumns | None]:
        """Yield the columns of so many rows with all rows of their queries, `None` for a mistake.

        Which mistake is the first one is known when all runs before it were read.
        """
        try:
            with open_retrieved(run, self._columns, encoding=self._encoding) as file:
                names = file.columns
                for table in whole_queries(file, names.get("query"), rows):
                    yield tables.read_retrieved(table, names)
        except RankscopeError:
            yield None

    def _write_scattered(self, room: Room, file: IO[bytes]) -> tuple[int, int, list[int], int]:
        scattered = ScatteredRuns(len(self._runs), (room.unasked, room.find))
        notice = SpillNotice("the input", room.memory)
        for name, run in self._runs.items():
            with self._explaining(name):
                if not isinstance(run, Input):
                    scattered.push_lists(run, name)
                elif run.kind == "file":
                    scattered.push_path(run.source, self._encoding, self._score_type)
                else:
                    self._push_batches(run, scattered, notice)
            notice.begin(scattered.written())
        with self._explaining(""):
            found = scattered.fuse(
                list(self._runs), self._settings, self._tag, self._threads, file.write
            )
        notice.finish(found[3])
        return found

    def _push_batches(self, run: Input, scattered: ScatteredRuns, notice: SpillNotice) -> None:
        scattered.begin()
        rows = 0
        with open_retrieved(run, self._columns, encoding=self._encoding) as file:
            names = file.columns

            def push(columns: RunColumns) -> None:
                nonlocal rows
                try:
                    rows += scattered.push(columns, rows, self._score_type)
                except RankscopeError as error:
                    raise file.place(error) from None

            push_batches(
                file, lambda table: tables.read_retrieved(table, names), push, scattered, notice
            )
            scattered.end(file.name)


def fuse_text(
    runs: Mapping[str, Input], settings: Settings, *, score_type: str, encoding: str, threads: int
) -> tuple[Run, list[int]] | None:
    """Fuse TREC files into a run in memory while reading them side by side."""
    sources = [((run.source, encoding), name) for name, run in runs.items()]
    return fuse_to_memory((sources, score_type, HARMLESS), settings, threads)
