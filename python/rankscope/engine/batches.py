"""Reads the batches of files: whole queries in order, or all rows to partitions on disk."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rankscope._inputs.rows import columns_of
from rankscope.deferred import pa, pc
from rankscope.engine.progress import ProgressBar
from rankscope.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any, Protocol, TypeVar

    from rankscope._inputs.rows import Columns
    from rankscope._inputs.table_files import TableFile
    from rankscope.engine.memory import SpillNotice
    from rankscope.errors import RankscopeError
    from rankscope.typing import Progress

    Read = TypeVar("Read")

    class Written(Protocol):
        """Rows that go to temporary files where they exceed memory."""

        def written(self) -> int:
            """Return how many bytes were written."""

    class Spilled(Written, Protocol):
        """The same, which are evaluated part by part."""

        def progress(self) -> tuple[int, int]:
            """Return how many rows were evaluated, and how many there are."""


ROOM_OF_THREAD = 144 << 20
"""The addresses that a thread reserves: glibc takes 128 MB of them for what it allocates."""
AT_ONCE = 1 << 16
"""How many rows are evaluated at once: enough for several threads, few enough for their caches."""
HELD = 1 << 27
"""Rows that take more bytes are partitioned by query, which takes less time and memory."""
BYTES_OF_ROW = 256
"""The memory that evaluating a row takes at most, if its texts are short."""


def count_rows_at_once(memory: int) -> int:
    """Return how many rows to evaluate at once in so many bytes of memory."""
    return max(1, min(AT_ONCE, memory // BYTES_OF_ROW))


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


def whole_queries(file: TableFile, rows_at_once: int) -> Iterator[Any]:
    """Rearrange batches so that each has so many rows, and ends with the last row of a query."""
    carried: list[Any] = []
    query = file.columns.get("query")
    count, least = 0, rows_at_once
    for batch in file:
        carried.append(batch)
        count += batch.num_rows
        if query is None or count < least:
            continue
        rows = pa.Table.from_batches(carried).combine_chunks()
        column = rows.column(query)
        if not column[-1].is_valid:
            # It is refused where it is read, so the rows after it don't matter.
            yield rows
            carried, count = [], 0
            continue
        others = pc.indices_nonzero(pc.not_equal(column, column[-1]))
        if len(others) > 0:
            cut = others[-1].as_py() + 1
            yield rows.slice(0, cut)
            rows = rows.slice(cut)
        carried, count = rows.to_batches(), rows.num_rows
        # A query of many batches isn't joined anew with each of them.
        least = max(rows_at_once, 2 * count)
    if carried:
        yield pa.Table.from_batches(carried).combine_chunks()


def push_batches(
    file: TableFile,
    read: Callable[[Columns], Read],
    push: Callable[[Read], None],
    spilled: Written,
    notice: SpillNotice,
) -> None:
    """Read all rows of a table, and say on standard error if they exceed the memory limit."""
    # A table in memory is checked column by column, so the first mistake may be in a later row.
    invalid: list[tuple[int, Any]] = []
    rows = 0
    for batch in read_ahead(file):
        table = pa.Table.from_batches([batch])
        try:
            columns = read(columns_of(table, file))
        except FormatError as error:
            line = error.line or 1
            invalid.append((rows + line, table.slice(line - 1, 1)))
        else:
            if not invalid:
                push(columns)
                notice.begin(spilled.written())
        rows += table.num_rows
    if invalid:
        raise file.place(_first_mistake(invalid, file, read))


def _first_mistake(
    invalid: list[tuple[int, Any]], file: TableFile, read: Callable[[Columns], object]
) -> RankscopeError:
    """Return the mistake that a table in memory would be refused for."""
    witnesses = pa.concat_tables([table for _, table in invalid])
    try:
        read(columns_of(witnesses, file))
    except FormatError as error:
        error.line = error.line and invalid[error.line - 1][0]
        return error
    raise AssertionError  # each of the rows was refused


def evaluate_parts(
    spilled: Spilled,
    evaluate_next: Callable[[], bool],
    notice: SpillNotice,
    progress: Progress,
) -> None:
    """Evaluate all parts of rows, one after another."""
    with _show_parts(progress) as bar:
        while evaluate_next():
            bar(*spilled.progress())
    notice.finish(spilled.written())


@contextmanager
def _show_parts(progress: Progress) -> Iterator[Callable[[int, int], None]]:
    """Yield a function that shows how many rows are evaluated, if progress is shown as a bar."""
    if progress is not True and not isinstance(progress, ProgressBar):
        yield lambda _done, _total: None
        return
    with ProgressBar("evaluate rows", counts_steps=True) as bar:
        yield bar
