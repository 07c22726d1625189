"""Evaluates rows in any order part by part, each with all rows of some queries."""

from __future__ import annotations

import errno
import logging
import tempfile
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from rankscope._core import Evaluation as CoreEvaluation
from rankscope._core import (
    Judgments,
    Plan,
    Run,
    RunParts,
    RunText,
    evaluate_run,
    hash_column,
)
from rankscope._evaluate.runs import SHARE_HELD, Memory
from rankscope._inputs.columns import (
    fill_nulls,
    fill_texts,
    join,
    of_array,
    simplify,
    texts_of,
    to_array,
)
from rankscope._inputs.table_files import BYTES_OF_ROW, TableFile
from rankscope._show.progress import ProgressBar
from rankscope._show.table import show
from rankscope.errors import FileError, OutOfMemoryError, RankscopeError

Rows: TypeAlias = Any  # a table of PyArrow


class Parted(Protocol):
    """Evaluates rows, all those of some queries at a time."""

    def push(self, rows: Rows) -> bool:
        """Evaluate rows beside those before; return whether none of their queries came."""

    def check(self, rows: Rows) -> None:
        """Evaluate rows alone, to find the first mistake in them and its line."""


if TYPE_CHECKING:
    from rankscope._inputs.reading import Tell
    from rankscope._settings import Reading
    from rankscope.typing import Progress


NUMBER = "\0number"
"""The column that says which row of the file a row is."""
TEXT_AT_ONCE = 1 << 22
"""The bytes of rows of text that are taken at once."""
FEWEST, MOST = 64, 256
"""How many parts there are: a power of 2, as a byte of the hash tells the part."""
BITS, DEEPEST = 8, 7
"""How many bits of the hash tell the part at each level, and the last level."""
DIVIDED, PACKED = 1 << 22, 1 << 26
"""So many bytes of rows are divided at once, and kept by part at once. Rows of 32 MB leave the
caches, and take 2.1 s for each 10 million of them where those of 4 MB take 0.8 s."""
ROOM_OF_THREAD = 144 << 20
"""The addresses that a thread reserves: glibc takes 128 MB of them for what it allocates."""


class SpillNotice:
    """Says on standard error that rows are written to temporary files, where, and how much."""

    def __init__(self, name: str, memory: Memory) -> None:
        self.memory, self._name, self._written = memory, name, 0

    def add(self, written: int) -> None:
        """Count bytes that were written, and say so at the first ones."""
        if written > 0 and not self._written:
            _warn(
                f"{self._name} exceeds the memory limit of {show_size(self.memory.limit)}, so its "
                f"rows are written to temporary files in {self.memory.folder}"
            )
        self._written += written

    def finish(self) -> None:
        """Say how much was written, if anything was."""
        if self._written > 0:
            _warn(f"wrote {show_size(self._written)} to temporary files, and removed them")


def _warn(text: str) -> None:
    # Without a handler, warnings go to standard error.
    logging.getLogger("rankscope").warning("rankscope: %s", text)


def show_size(size: int) -> str:
    """Return a size as a person writes it, rounded up."""
    for unit, power in (("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if size >= 1 << power:
            return f"{-(-10 * size >> power) / 10:.1f} {unit}"
    return f"{size} B"


class TextRows:
    """The rows of a run in TREC format of which the first were read, with the numbers of lines."""

    columns = {"query": "query", "doc": "doc", "score": "score"}  # noqa: RUF012 - never changed

    def __init__(
        self, text: RunText, judgments: Judgments, plan: Plan, reading: Reading, tell: Tell
    ) -> None:
        self.name = text.name
        self._text, self._tell, self._reading = text, tell, reading
        self._judgments, self._plan, self._parts = judgments, plan, RunParts(judgments)

    def __iter__(self) -> Iterator[Rows]:
        has_more: bool | None = True
        while has_more is not None:
            queries, docs, scores, lines = self._text.take_rows()
            count = memoryview(lines).nbytes // 8
            ids = {
                name: pa.LargeStringArray.from_buffers(count, *map(pa.py_buffer, column))
                for name, column in (("query", queries), ("doc", docs))
            }
            numbers = {
                name: pa.Array.from_buffers(kind, count, [None, pa.py_buffer(column)])
                for name, kind, column in (
                    ("score", pa.float64(), scores),
                    (NUMBER, pa.int64(), lines),
                )
            }
            yield pa.table({**ids, **numbers})
            has_more = self._text.read(TEXT_AT_ONCE, self._tell) if has_more else None

    def estimate_memory(self) -> int:
        """Return 0: nobody knows how many rows there are."""
        return 0

    def push(self, rows: Rows) -> bool:
        """Evaluate all rows of some queries, beside those before."""
        columns, lines = _columns_of(rows)
        return self._parts.push(self._plan, columns, self._reading.threads, lines)

    def check(self, rows: Rows) -> None:
        """Evaluate rows alone: the first mistake of a run is that of its first line."""
        columns, lines = _columns_of(rows)
        run = Run.from_columns(columns, self._reading.scores_as, lines)
        evaluate_run(self._judgments, self._plan, run, self._reading.threads)

    def finish(self) -> CoreEvaluation:
        """Return the evaluation of all rows."""
        try:
            return self._text.finish_parts(self._parts)
        except RankscopeError as error:
            raise self.place(error) from None

    def place(self, error: RankscopeError) -> RankscopeError:
        """Name the run in an error."""
        error.file = self.name
        return error


def _columns_of(rows: Rows) -> tuple[Any, Any]:
    """Return the columns that the core reads, and the numbers of their lines."""
    query, doc = (texts_of(join(rows.column(role))) for role in ("query", "doc"))
    return (query, doc, to_array(rows.column("score")), False, None), to_array(rows.column(NUMBER))


Table: TypeAlias = TableFile | TextRows


class Parts:
    """Rows by the hash of their query: in memory, or in files once they exceed their share of it.

    The files have no names: the system removes them when the process ends, however it ends.
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
                query, size = next(self._take(at)).column(self._query)[0], show_size(needed[at])
                raise OutOfMemoryError(
                    f"query `{show(str(query))}` has {self._rows[at]} rows, which take about "
                    f"{size} of memory, but the limit is {show_size(self._limit)}",
                    hint=f'raise it: memory="{size.replace(" ", "")}"',
                    code="query_memory",
                )
            rows = pa.concat_tables(self._take(at)).combine_chunks()
            yield rows, _find_first_rows(rows, rows.column(self._query))


def number(file: TableFile) -> Iterator[Rows]:
    """Yield the batches of a table with the numbers of their rows, as tables."""
    count = 0
    for batch in file:
        rows = pa.Table.from_batches([batch])
        yield rows.append_column(NUMBER, of_array(np.arange(count, count + len(batch))))
        count += len(batch)


def _join(batches: Iterable[Rows], least: int) -> Iterator[Rows]:
    """Yield tables of more than so many bytes, but for the last one."""
    parts, size = [], 0
    for batch in batches:
        parts.append(batch)
        size += batch.nbytes
        if size > least:
            yield pa.concat_tables(parts).combine_chunks()
            parts, size = [], 0
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
    """Evaluate all numbered rows of a table, those of some queries at a time.

    Returns the order of the queries in which they come first in the table.
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


def _choose_first(part: Rows, other: Rows, evaluator: Parted) -> Rows:
    """Return which of two parts has the mistake that all rows in memory are refused for."""
    both = pa.concat_tables([part, other]).sort_by(NUMBER)
    first, mistake = (_find_mistake(rows, evaluator) for rows in (both, part))
    return part if vars(first) == vars(mistake) and type(first) is type(mistake) else other


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
