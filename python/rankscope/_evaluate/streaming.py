"""Evaluates tables in files while they are read, or in parts if their rows come in any order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankscope._evaluate.memory import SHARE_HELD
from rankscope._evaluate.partitions import evaluate_parts, number, read_ahead
from rankscope.deferred import pa, pc
from rankscope.errors import FormatError, RankscopeError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, Protocol, TypeVar

    from rankscope._evaluate.memory import Memory
    from rankscope._evaluate.partitions import Parted
    from rankscope._inputs.table_files import TableFile
    from rankscope.typing import Progress

    Answer_co = TypeVar("Answer_co", covariant=True)

    class Evaluator(Parted, Protocol[Answer_co]):
        """Evaluates the rows of a table, all those of some queries at a time."""

        def finish(self, order: list[int] | None) -> Answer_co:
            """Return the answer, with the queries in an order of their numbers if there is one."""


AT_ONCE = 1 << 16
"""How many rows are evaluated at once: enough for several threads, few enough for their caches."""
MOST_OF_ROW = 256
"""The memory that evaluating a row takes at most, if its texts are short."""
HELD = 1 << 27
"""Rows that take more bytes are partitioned by query, which takes less time and memory."""


def evaluate_file(
    open_file: Callable[[], TableFile],
    begin: Callable[[TableFile], Evaluator[Answer_co]],
    memory: Memory,
    progress: Progress,
    *,
    is_once: bool,
    is_grouped: bool = False,
) -> Answer_co | TableFile:
    """Evaluate a table in files without holding all of its rows.

    If the rows of a query aren't together, they are partitioned by query. All ways give the same
    answer. The open file is returned instead if its rows are few.

    Raises:
        FormatError: They should be together (`is_grouped`), and aren't.
    """
    if not is_once or is_grouped:
        with open_file() as file:
            evaluator = begin(file)
            is_done = _push_all(file, evaluator, memory)
        if is_done:
            return evaluator.finish(None)
        if is_grouped:
            raise FormatError(
                "expected the rows of each query together, as assume_grouped says, found a query "
                "again",
                hint="sort the file by query, or remove assume_grouped",
                code="query_returns",
                file=file.name,
            )
    file = open_file()
    if not file.exceeds(min(memory.limit, HELD)):
        return file
    with file:
        evaluator = begin(file)
        order = evaluate_parts(number(file), file, evaluator, memory, progress)
    return evaluator.finish(order)


def _push_all(file: TableFile, evaluator: Parted, memory: Memory) -> bool:
    """Evaluate all rows; return whether those of each query were together."""
    at_once = SHARE_HELD * memory.harmless // MOST_OF_ROW
    for rows in read_ahead(whole_queries(file, max(1, min(AT_ONCE, at_once)))):
        try:
            if not evaluator.push(rows):
                return False
        except RankscopeError as error:
            raise file.place(error) from None
    return True


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
