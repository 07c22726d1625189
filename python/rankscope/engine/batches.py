"""Reads the batches of files ahead, and as whole queries."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from rankscope.deferred import pa, pc

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from rankscope._inputs.table_files import TableFile


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
