"""Evaluates rows in any order part by part, each with all rows of some queries."""

from __future__ import annotations

import errno
import math
import tempfile
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

import numpy as np

from rankscope._core import hash_texts
from rankscope._inputs.arrow import fill_nulls, join, of_array, to_array
from rankscope._inputs.columns import ids_of
from rankscope.deferred import pa
from rankscope.engine.batches import read_ahead
from rankscope.engine.memory import SpillNotice, show_size
from rankscope.engine.progress import ProgressBar
from rankscope.errors import FileError, OutOfMemoryError, RankscopeError
from rankscope.output.text import show
from rankscope.stats.scatter import below, scatter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, TypeAlias

    from numpy.typing import NDArray

    from rankscope._inputs.table_files import TableFile
    from rankscope.engine.memory import Memory
    from rankscope.typing import Progress

    Rows: TypeAlias = Any  # a table or a batch of PyArrow

NUMBER = "\0number"
"""The column that says which row of the file a row is."""
FEWEST, MOST = 64, 256
"""How many parts there are."""
DIVIDED = 1 << 25
"""So many bytes of rows are divided at once."""
BYTES_OF_ROW = {False: 64, True: 256}
"""The memory that evaluating a row takes beside its values, by whether it has a document."""


class Parts:
    """Rows by the hash of their query: in memory, or in files once they exceed their share of it.

    The files have no names: the system removes them when the process ends, however it ends.

    Args:
        file: The table that the rows are of.
        memory: How much memory there is, and the folder for files.
        opened: Closes the files in the end.
        needed: About how many bytes the evaluation of all rows takes, 0 if nobody knows.
        level: How often the rows were divided before.
    """

    def __init__(
        self, file: TableFile, memory: Memory, opened: ExitStack, needed: int, level: int = 0
    ) -> None:
        self._file, self._memory, self._opened, self._level = file, memory, opened, level
        count = min(max(math.ceil(3 * needed / memory.limit), FEWEST), MOST)
        self._kept: list[list[Rows]] = [[] for _ in range(count)]
        self._written: list[Any] = [None] * count
        self._rows, self._bytes = np.zeros(count, np.int64), np.zeros(count, np.int64)
        # The least and the largest hash of a query, which tell whether there are several.
        self._least = np.full(count, np.iinfo(np.int64).max)
        self._largest = np.full(count, np.iinfo(np.int64).min)
        self._undivided: list[Rows] = []
        self._undivided_bytes = self._kept_bytes = 0
        self.written = 0

    def add(self, batch: Rows) -> None:
        """Add rows."""
        self._undivided.append(batch)
        self._undivided_bytes += batch.nbytes
        if self._undivided_bytes > min(DIVIDED, self._memory.limit // 16):
            self._divide()

    def _divide(self) -> None:
        rows = pa.Table.from_batches(self._undivided).combine_chunks()
        self._undivided, self._undivided_bytes = [], 0
        queries = join(rows.column(self._file.columns["query"])).dictionary_encode()
        hashes = hash_ids(queries.dictionary.drop_null())
        places = below(scatter(hashes.view(np.uint64), self._level), len(self._kept))
        np.minimum.at(self._least, places, hashes)
        np.maximum.at(self._largest, places, hashes)
        # A row without a query is refused when its part is evaluated.
        places = np.append(places, 0)[fill_nulls(queries.indices, len(places)).astype(np.int64)]
        rows = rows.take(of_array(np.argsort(places, kind="stable"))).combine_chunks()
        counts = np.bincount(places, minlength=len(self._kept))
        self._rows += counts
        first = 0
        for at, count in enumerate(counts.tolist()):
            self._kept[at] += (part := rows.slice(first, count)).to_batches()
            self._bytes[at] += part.nbytes
            self._kept_bytes += part.nbytes
            first += count
        if self._kept_bytes > self._memory.limit // 8:
            self._write()

    def _write(self) -> None:
        """Write what is in memory to files."""
        with named_errors(self._memory.folder):
            for at, batches in enumerate(self._kept):
                if batches:
                    if self._written[at] is None:
                        made: Any = tempfile.TemporaryFile(dir=self._memory.folder)  # noqa: SIM115
                        file = self._opened.enter_context(made)
                        packed = pa.ipc.IpcWriteOptions(compression="zstd")
                        writer = pa.ipc.new_stream(file, batches[0].schema, options=packed)
                        self._written[at] = file, writer
                    file, writer = self._written[at]
                    before = file.tell()
                    writer.write(pa.Table.from_batches(batches).combine_chunks())
                    self.written += file.tell() - before
                    batches.clear()
        self._kept_bytes = 0

    def _take(self, at: int) -> Iterator[Rows]:
        """Yield the batches of a part, which then has none."""
        if self._written[at] is not None:
            with named_errors(self._memory.folder):
                (file, writer), self._written[at] = self._written[at], None
                writer.close()
                file.seek(0)
                with file, pa.ipc.open_stream(file) as reader:
                    yield from reader
        batches, self._kept[at] = self._kept[at], []
        yield from batches

    def __iter__(self) -> Iterator[Rows]:
        """Yield the rows of some more queries, all rows of each, in their order."""
        if self._undivided:
            self._divide()
        of_row = BYTES_OF_ROW["doc" in self._file.columns]
        # Texts are there twice: as they came, and each different one once.
        needed = (2 * self._bytes + of_row * self._rows).tolist()
        for at in np.flatnonzero(self._rows).tolist():
            has_several = self._least[at] < self._largest[at]
            if needed[at] > self._memory.limit // 2 and has_several:
                parts = Parts(self._file, self._memory, self._opened, needed[at], self._level + 1)
                for batch in self._take(at):
                    parts.add(batch)
                yield from parts
                self.written += parts.written
                continue
            if needed[at] > self._memory.limit:
                first = next(self._take(at)).column(self._file.columns["query"])[0]
                raise _too_large(first.as_py(), int(self._rows[at]), needed[at], self._memory.limit)
            yield pa.Table.from_batches(self._take(at))


def hash_ids(ids: Rows) -> NDArray[np.int64]:
    """Return a number for each of some IDs, which are texts or integers."""
    values = ids_of(ids, "query")
    if not isinstance(values, tuple):
        return values
    return np.frombuffer(memoryview(hash_texts([(b"", values)], np.arange(len(ids)))), np.int64)


def evaluate_parts(
    file: TableFile,
    memory: Memory,
    push: Callable[[Rows], object],
    check: Callable[[Rows], object],
    progress: Progress,
) -> None:
    """Evaluate all rows of a table, those of some queries at a time.

    Args:
        file: The table.
        memory: How much memory there is, and the folder for files.
        push: Evaluates all rows of some queries, beside those before.
        check: Does so for these rows alone, to find the first mistake in them.
        progress: How progress is shown.
    """
    notice, count, done, wrong = SpillNotice(file.name, memory), 0, 0, None
    with ExitStack() as opened:
        parts = Parts(file, memory, opened, file.estimate_memory())
        for batch in read_ahead(file):
            numbers = of_array(np.arange(count, count + len(batch)))
            parts.add(batch.append_column(NUMBER, numbers))
            count += len(batch)
            notice.begin(parts.written)
        bar = opened.enter_context(_show_parts(progress))
        for rows in read_ahead(parts):
            bar(done, count)
            try:
                push(rows)
            except OutOfMemoryError:
                raise
            except RankscopeError:
                wrong = rows if wrong is None else _choose_first(wrong, rows, check)
            done += len(rows)
    if wrong is not None:
        raise file.place(_find_mistake(wrong, check))
    notice.finish(parts.written)


def _choose_first(one: Rows, other: Rows, check: Callable[[Rows], object]) -> Rows:
    """Return which of two parts has the mistake that all rows in memory are refused for."""
    both = pa.concat_tables([one, other]).sort_by(NUMBER)
    first, of_one = (_find_mistake(rows, check) for rows in (both, one))
    return one if vars(first) == vars(of_one) and type(first) is type(of_one) else other


def _find_mistake(rows: Rows, check: Callable[[Rows], object]) -> RankscopeError:
    """Return the first mistake in rows, with its row in the file as its line."""
    try:
        check(rows)
    except RankscopeError as error:
        if error.line is not None:
            error.line = rows.column(NUMBER)[error.line - 1].as_py() + 1
        return error
    raise AssertionError  # the rows were refused


def find_first_rows(rows: Rows, queries: Rows) -> NDArray[np.int64]:
    """Return the number of the first row of each query, in the order of these numbers."""
    codes = to_array(join(queries).dictionary_encode().indices)
    firsts = np.empty(int(codes.max()) + 1, np.int64)
    # Of several values for a place, the last one stays.
    firsts[codes[::-1]] = to_array(rows.column(NUMBER))[::-1]
    return firsts


@contextmanager
def _show_parts(progress: Progress) -> Iterator[Callable[[int, int], None]]:
    """Yield a function that shows how many rows are evaluated, if progress is shown as a bar."""
    if progress is not True and not isinstance(progress, ProgressBar):
        yield lambda _done, _total: None
        return
    with ProgressBar("evaluate rows", counts_steps=True) as bar:
        yield bar


@contextmanager
def named_errors(folder: str) -> Iterator[None]:
    """Turn what goes wrong with temporary files into errors that name their folder."""
    try:
        yield
    except OSError as error:
        if error.errno in {errno.ENOSPC, errno.EDQUOT}:
            raise FileError(
                f"the disk of {folder} is full, which holds what exceeds memory",
                hint="free some space, name a folder on another disk (spill_folder, "
                "--spill-folder), or raise the memory limit (memory, --memory)",
                code="disk_full",
            ) from error
        raise FileError(
            f"can't use {folder} for temporary files: {error}",
            hint="name another folder: spill_folder, --spill-folder or TMPDIR",
            code="spill_file",
        ) from error


def _too_large(query: object, rows: int, needed: int, limit: int) -> OutOfMemoryError:
    return OutOfMemoryError(
        f"query `{show(str(query))}` has {rows} rows, which take about {show_size(needed)} of "
        f"memory, but the limit is {show_size(limit)}",
        hint=f'raise it: memory="{show_size(needed).replace(" ", "")}"',
        code="query_memory",
    )
