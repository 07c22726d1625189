"""Evaluates rows in any order part by part, each with all rows of some queries."""

from __future__ import annotations

import errno
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING

import numpy as np

from rankscope._core import hash_column
from rankscope._evaluate.memory import SHARE_HELD, SpillNotice, show_size
from rankscope._inputs.arrow import fill_nulls, fill_texts, join, of_array, to_array
from rankscope._inputs.columns import simplify, texts_of
from rankscope._inputs.table_files import BYTES_OF_ROW
from rankscope.deferred import pa
from rankscope.errors import FileError, OutOfMemoryError, RankscopeError
from rankscope.output.progress import ProgressBar
from rankscope.output.text import show

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any, BinaryIO, Protocol, TypeAlias

    from numpy.typing import NDArray

    from rankscope._evaluate.memory import Memory
    from rankscope._evaluate.runs import TextRows
    from rankscope._inputs.table_files import TableFile
    from rankscope.typing import Progress

    Table: TypeAlias = TableFile | TextRows
    Rows: TypeAlias = Any  # a table of PyArrow

    class Parted(Protocol):
        """Evaluates rows, all those of some queries at a time."""

        def push(self, rows: Rows) -> bool:
            """Evaluate rows beside those before; return whether none of their queries came."""

        def check(self, rows: Rows) -> None:
            """Evaluate rows alone, to find the first mistake in them and its line."""


NUMBER = "\0number"
"""The column that says which row of the file a row is."""
FEWEST, MOST = 64, 256
"""How many parts there are: a power of 2, as a byte of the hash tells the part."""
BITS, DEEPEST = 8, 7
"""How many bits of the hash tell the part at each level, and the last level."""
DIVIDED, PACKED = 1 << 22, 1 << 26
"""So many bytes of rows are divided at once, and kept by part at once. Rows of 32 MB leave the
caches, and take 2.1 s for each 10 million of them where those of 4 MB take 0.8 s."""
ROOM_OF_THREAD = 144 << 20
"""The addresses that a thread reserves: glibc takes 128 MB of them for what it allocates."""


class Parts:
    """Rows by the hash of their query: in memory, or in files once they exceed their share of it.

    The files have no names: the system removes them when the process ends, however it ends.

    Args:
        batches: The rows, in tables.
        file: The table that they are of.
        notice: Says that files are written.
        opened: Closes the files in the end.
        needed: About how many bytes the evaluation of all rows takes, 0 if nobody knows.
        level: How often the rows were divided before.
    """

    def __init__(
        self,
        batches: Iterable[Rows],
        file: Table,
        notice: SpillNotice,
        opened: ExitStack,
        *,
        needed: int,
        level: int = 0,
    ) -> None:
        self._file, self._notice, self._opened, self._level = file, notice, opened, level
        self._query = file.columns["query"]
        self._folder, self._limit = notice.memory.folder, notice.memory.limit
        count = min(max(1 << (3 * needed // self._limit).bit_length(), FEWEST), MOST)
        self._divided: list[tuple[Rows, NDArray[np.int64]]] = []
        self._kept: list[list[Rows]] = [[] for _ in range(count)]
        self._written: list[Any] = [None] * count
        self._rows, self._bytes = np.zeros(count, np.int64), np.zeros(count, np.int64)
        # The least and the largest hash of a query, which tell whether there are several.
        self._least = np.full(count, np.iinfo(np.int64).max)
        self._largest = np.full(count, np.iinfo(np.int64).min)
        self._divided_bytes = self._kept_bytes = 0
        for rows in read_ahead(_join(batches, min(DIVIDED, self._limit // 32))):
            self._divide(rows)
        if self._divided:
            self._pack()

    def __len__(self) -> int:
        return int(self._rows.sum())

    def _divide(self, rows: Rows) -> None:
        rows = _replace(rows, self._query, simplify(join(rows.column(self._query))))
        hashes = _hash_queries(rows.column(self._query))
        places = (hashes >> BITS * self._level).astype(np.uint8) & np.uint8(len(self._kept) - 1)
        order = np.argsort(places, kind="stable")
        rows, hashes = rows.take(of_array(order)).combine_chunks(), hashes[order]
        counts = np.bincount(places, minlength=len(self._kept))
        self._rows += counts
        some = np.flatnonzero(counts)
        starts = (np.cumsum(counts) - counts)[some]
        self._least[some] = np.minimum(self._least[some], np.minimum.reduceat(hashes, starts))
        self._largest[some] = np.maximum(self._largest[some], np.maximum.reduceat(hashes, starts))
        self._divided.append((rows, np.append(0, np.cumsum(counts))))
        self._divided_bytes += rows.nbytes
        if self._divided_bytes > min(PACKED, self._limit // 16):
            self._pack()

    def _pack(self) -> None:
        """Keep what was divided by part, each query once, which takes a quarter less memory."""
        for at in range(len(self._kept)):
            parts = [rows.slice(ends[at], ends[at + 1] - ends[at]) for rows, ends in self._divided]
            rows = pa.concat_tables(parts)
            queries = join(rows.column(self._query)).dictionary_encode()
            self._kept[at].append(rows := _replace(rows, self._query, queries))
            self._bytes[at] += rows.nbytes
            self._kept_bytes += rows.nbytes
        self._divided.clear()
        self._divided_bytes = 0
        if self._kept_bytes > self._limit // SHARE_HELD:
            self._write()

    def _write(self) -> None:
        """Write what is in memory to files."""
        with _named_errors(self._folder):
            for at, kept in enumerate(self._kept):
                if kept:
                    if self._written[at] is None:
                        file: Any = tempfile.TemporaryFile(dir=self._folder)  # noqa: SIM115
                        self._opened.callback(_close, file)
                        packed = pa.ipc.IpcWriteOptions(compression="zstd")
                        writer = pa.ipc.new_stream(file, kept[0].schema, options=packed)
                        self._written[at] = file, writer
                    file, writer = self._written[at]
                    before = file.tell()
                    writer.write(pa.concat_tables(kept).combine_chunks())
                    self._notice.add(file.tell() - before)
                    kept.clear()
        self._kept_bytes = 0

    def _take(self, at: int) -> Iterator[Rows]:
        """Yield the rows of a part, which then has none."""
        if self._written[at] is not None:
            with _named_errors(self._folder):
                (file, writer), self._written[at] = self._written[at], None
                writer.close()
                file.seek(0)
                with file, pa.ipc.open_stream(file) as reader:
                    yield from (pa.Table.from_batches([batch]) for batch in reader)
        kept, self._kept[at] = self._kept[at], []
        yield from kept

    def __iter__(self) -> Iterator[tuple[Rows, NDArray[np.int64]]]:
        """Yield all rows of some more queries, and the number of the first row of each query."""
        of_row = BYTES_OF_ROW["doc" in self._file.columns]
        # Texts are there twice: as they came, and each different one once.
        needed = (2 * self._bytes + of_row * self._rows).tolist()
        for at in np.flatnonzero(self._rows).tolist():
            has_several = self._least[at] < self._largest[at] and self._level < DEEPEST
            if needed[at] > self._limit // 2 and has_several:
                yield from Parts(
                    self._take(at),
                    self._file,
                    self._notice,
                    self._opened,
                    needed=needed[at],
                    level=self._level + 1,
                )
                continue
            if needed[at] > self._limit:
                first = next(self._take(at)).column(self._query)[0]
                raise _too_large(first.as_py(), int(self._rows[at]), needed[at], self._limit)
            rows = pa.concat_tables(self._take(at)).combine_chunks()
            yield rows, _find_first_rows(rows, rows.column(self._query))


def number(file: TableFile) -> Iterator[Rows]:
    """Yield the batches of a table with the numbers of their rows, as tables."""
    count = 0
    for batch in file:
        rows = pa.Table.from_batches([batch])
        yield rows.append_column(NUMBER, of_array(np.arange(count, count + len(batch))))
        count += len(batch)


def _join(batches: Iterable[Rows], size: int) -> Iterator[Rows]:
    """Yield tables of more than so many bytes, but for the last one."""
    parts, found = [], 0
    for batch in batches:
        parts.append(batch)
        found += batch.nbytes
        if found > size:
            yield pa.concat_tables(parts).combine_chunks()
            parts, found = [], 0
    if parts:
        yield pa.concat_tables(parts).combine_chunks()


def _replace(rows: Rows, name: str, column: Rows) -> Rows:
    return rows.set_column(rows.schema.get_field_index(name), name, column)


def _hash_queries(queries: Rows) -> NDArray[np.int64]:
    """Return a hash of each query. One that is missing is refused when its part is evaluated."""
    values = join(queries)
    if pa.types.is_integer(values.type):
        values = fill_nulls(values.view(pa.int64()), 0)
    else:
        values = texts_of(fill_texts(values.cast(pa.large_string()), ""))
    return np.frombuffer(memoryview(hash_column(values)), np.int64)


def _find_first_rows(rows: Rows, queries: Rows) -> NDArray[np.int64]:
    """Return the number of the first row of each query, in the order of these numbers."""
    codes = fill_nulls(join(queries).indices, 0)
    firsts = np.empty(int(codes.max()) + 1, np.int64)
    # Of several values for a place, the last one stays.
    firsts[codes[::-1]] = to_array(rows.column(NUMBER))[::-1]
    return firsts


def evaluate_parts(
    numbered: Iterable[Rows], file: Table, evaluator: Parted, memory: Memory, progress: Progress
) -> list[int]:
    """Evaluate all rows of a table, those of some queries at a time.

    The answer brings the queries into the order in which they come first in the table.

    Args:
        numbered: All rows, with their numbers.
        file: The table that they are of.
        evaluator: What evaluates them.
        memory: How much memory there is, and the folder for files.
        progress: How progress is shown.
    """
    notice, firsts = SpillNotice(file.name, memory), [np.zeros(0, np.int64)]
    done, wrong = 0, None
    with ExitStack() as opened:
        parts = Parts(numbered, file, notice, opened, needed=file.estimate_memory())
        bar = opened.enter_context(_show_parts(progress))
        for rows, first in read_ahead(parts):
            bar(done, len(parts))
            firsts.append(first)
            try:
                evaluator.push(rows)
            except OutOfMemoryError:
                raise
            except RankscopeError:
                wrong = rows if wrong is None else _choose_first(wrong, rows, evaluator)
            done += len(rows)
    if wrong is not None:
        raise file.place(_find_mistake(wrong, evaluator))
    notice.finish()
    return list(map(int, np.argsort(np.concatenate(firsts))))


def read_ahead(batches: Iterable[Any]) -> Iterator[Any]:
    """Read each batch while the one before is used, if there is memory for another thread."""
    rows = iter(batches)
    try:
        bytes(ROOM_OF_THREAD)  # Python waits forever for a thread that finds none to start
    except MemoryError:
        yield from rows
        return
    with ThreadPoolExecutor(1) as pool:
        following = pool.submit(next, rows, None)
        while (batch := following.result()) is not None:
            following = pool.submit(next, rows, None)
            yield batch


def _choose_first(one: Rows, other: Rows, evaluator: Parted) -> Rows:
    """Return which of two parts has the mistake that all rows in memory are refused for."""
    both = pa.concat_tables([one, other]).sort_by(NUMBER)
    first, of_one = (_find_mistake(rows, evaluator) for rows in (both, one))
    return one if vars(first) == vars(of_one) and type(first) is type(of_one) else other


def _find_mistake(rows: Rows, evaluator: Parted) -> RankscopeError:
    """Return the first mistake in rows."""
    try:
        evaluator.check(rows)
    except RankscopeError as error:
        return error
    raise AssertionError  # the rows were refused


@contextmanager
def rows_of_file(rows: Rows) -> Iterator[None]:
    """Turn the line of an error, which is a row of these, into that of the file."""
    try:
        yield
    except RankscopeError as error:
        if error.line is not None:
            error.line = rows.column(NUMBER)[error.line - 1].as_py() + 1
        raise


@contextmanager
def _show_parts(progress: Progress) -> Iterator[Callable[[int, int], None]]:
    """Yield a function that shows how many rows are evaluated, if progress is shown as a bar."""
    if progress is not True and not isinstance(progress, ProgressBar):
        yield lambda _done, _total: None
        return
    with ProgressBar("evaluate rows", counts_steps=True) as bar:
        yield bar


def _close(file: BinaryIO) -> None:
    """Close a file that nobody needs any more, even if the disk is full."""
    with suppress(OSError):
        file.close()


@contextmanager
def _named_errors(folder: str) -> Iterator[None]:
    """Turn what goes wrong with temporary files into errors that name their folder."""
    try:
        yield
    except (OSError, pa.ArrowInvalid) as error:
        if getattr(error, "errno", 0) in {errno.ENOSPC, errno.EDQUOT}:
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
