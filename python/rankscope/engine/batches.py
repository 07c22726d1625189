"""Reads the batches of files: whole queries in order, or all rows to partitions on disk."""

from __future__ import annotations

from contextlib import contextmanager

from rankscope._inputs.arrow import load_arrow
from rankscope.engine.progress import ProgressBar
from rankscope.errors import FormatError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, Protocol, TypeVar

    from rankscope._inputs.files.table import TableFile
    from rankscope.engine.memory import SpillNotice
    from rankscope.errors import RankscopeError
    from rankscope.typing import Progress

    Columns = TypeVar("Columns")

    class Written(Protocol):
        """Rows that go to temporary files where they exceed memory."""

        def written(self) -> int:
            """Return how many bytes were written."""

    class Spilled(Written, Protocol):
        """The same, which are evaluated part by part."""

        def progress(self) -> tuple[int, int]:
            """Return how many rows were evaluated, and how many there are."""


AT_ONCE = 1 << 18
"""How many rows are evaluated at once: enough for several threads, little memory."""
DECODED = 1 << 16
"""How many rows that the core decodes are evaluated at once by a thread, which stay close to it."""
HELD = 1 << 27
"""Rows that take more bytes are partitioned by query, which takes less time and memory."""
BYTES_OF_ROW = 256
"""The memory that evaluating a row takes at most, if its texts are short."""


def count_rows_at_once(memory: int) -> int:
    """Return how many rows to evaluate at once in so many bytes of memory."""
    return max(1, min(AT_ONCE, memory // BYTES_OF_ROW))


def whole_queries(file: TableFile, query: str | None, rows_at_once: int) -> Iterator[Any]:
    """Rearrange batches so that each has so many rows, and ends with the last row of a query."""
    arrow, compute = load_arrow(), load_arrow("pyarrow.compute")
    carried = arrow.Table.from_batches([], file.schema)
    for batch in file:
        carried = arrow.concat_tables([carried, arrow.Table.from_batches([batch])])
        if carried.num_rows < rows_at_once or query is None:
            continue
        column = carried.column(query)
        if not column[-1].is_valid:
            # It is refused where it is read, so the rows after it don't matter.
            yield carried
            carried = carried.slice(carried.num_rows)
            continue
        others = compute.indices_nonzero(compute.not_equal(column, column[-1]))
        if len(others) > 0:
            cut = others[-1].as_py() + 1
            yield carried.slice(0, cut)
            carried = carried.slice(cut)
    if carried.num_rows > 0:
        yield carried


def push_batches(
    file: TableFile,
    read: Callable[[object], Columns],
    push: Callable[[Columns], None],
    spilled: Written,
    notice: SpillNotice,
) -> None:
    """Read all rows of a table, and say on standard error if they exceed the memory limit."""
    table_of = load_arrow().Table.from_batches
    # A table in memory is checked column by column, so the first mistake may be in a later row.
    invalid: list[tuple[int, Any]] = []
    rows = 0
    for batch in file:
        table = table_of([batch])
        try:
            columns = read(table)
        except FormatError as error:
            line = error.line or 1
            invalid.append((rows + line, table.slice(line - 1, 1)))
        else:
            if not invalid:
                push(columns)
                notice.begin(spilled.written())
        rows += table.num_rows
    if invalid:
        raise file.place(_first_mistake(invalid, read))


def _first_mistake(
    invalid: list[tuple[int, Any]], read: Callable[[object], object]
) -> RankscopeError:
    """Return the mistake that a table in memory would be refused for."""
    witnesses = load_arrow().concat_tables([table for _, table in invalid])
    try:
        read(witnesses)
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
