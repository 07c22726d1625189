"""Writes the new events of a transaction as blocks, and joins small blocks to larger ones.

A request with one event makes a block of one event. Whenever an hour has many blocks of about one
size, they become one, in the transaction that adds the next: so each event is written a few times,
a block has some thousand events at most, and nothing is there twice after a crash.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from sqlalchemy import bindparam, select

from rankscope import _core
from rankscope.monitor.store.log.blocks import (
    HEAD,
    LABELS,
    RANKINGS,
    Block,
    insert_blocks,
    open_labels,
    open_rankings,
    remove_blocks,
    write_spans,
)
from rankscope.monitor.store.tables.schema import blocks
from rankscope.monitor.store.tables.statements import Prepared
from rankscope.monitor.store.tables.versions import RankingSpan

Columns: TypeAlias = _core.RankingBlock | _core.LabelBlock
Hour: TypeAlias = tuple[int, int, int]
"""The number of a project, the start of an hour, and the place of an environment."""

if TYPE_CHECKING:
    from rankscope.monitor.store.transaction import Transaction


SIZES = (16, 1000)
"""Blocks are of one size that have fewer events than the same one of these numbers, and not fewer
than the one before."""
ALIKE = 16
"""So many blocks of one size are joined."""

SELECT_SMALL = Prepared(
    select(blocks).where(
        blocks.c.project_id == bindparam("project_id"),
        blocks.c.start == bindparam("start"),
        blocks.c.kind == bindparam("kind"),
        blocks.c.environment == bindparam("environment"),
        blocks.c.rankings + blocks.c.labels < SIZES[-1],
    )
)


class LogWriter:
    """Collects the new events of a transaction, by hour.

    Args:
        transaction: The transaction.
    """

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction
        self._new: dict[tuple[Hour, type], list[Columns]] = defaultdict(list)

    def add(self, hour: Hour, columns: Columns) -> None:
        """Add rankings of an hour, or labels of such rankings."""
        self._new[hour, type(columns)].append(columns)

    def settle(self) -> None:
        """Write what was collected, so that reads of this transaction find it."""
        new, self._new = self._new, defaultdict(list)
        for (hour, _), parts in new.items():
            self._write(hour, _join(parts))

    def _write(self, hour: Hour, columns: Columns) -> None:
        """Write a block, together with small ones of its hour where there are many."""
        new = make_block(hour, columns)
        for context, span in new.spans.items():
            self._transaction.add_rankings(context, span)
        alike = self._find_alike(new)
        if alike:
            read = open_rankings if new.kind == RANKINGS else open_labels
            columns = _join([columns, *read(self._transaction.connection, alike)])
            remove_blocks(self._transaction, alike)
        write_columns(self._transaction, hour, columns)

    def _find_alike(self, new: Block) -> list[Block]:
        """Find the blocks to join with a new one."""
        if new.events >= SIZES[-1]:
            return []
        hour = {name: getattr(new, name) for name in ("project_id", "start", "kind", "environment")}
        rows = SELECT_SMALL.fetch(self._transaction.connection, **hour)
        small = [Block(*row) for row in rows]
        joined: list[Block] = []
        size, least = new.events, 0
        for limit in SIZES:
            alike = [block for block in small if least <= block.events < limit]
            if least <= size < limit and len(alike) + 1 >= ALIKE:
                joined += alike
                size += sum(block.events for block in alike)
            least = limit
        return joined


def _join(parts: Sequence[Any]) -> Any:  # noqa: ANN401 - blocks of one class
    return parts[0] if len(parts) == 1 else type(parts[0]).join(parts)


def write_columns(transaction: Transaction, hour: Hour, columns: Columns) -> None:
    """Write columns as a block."""
    body = columns.encode()
    block = make_block(hour, columns)._replace(size=len(body), checksum=body[:HEAD])
    insert_blocks(transaction, [(block, body)])


def make_block(hour: Hour, columns: Columns) -> Block:
    """Return the block of columns that are not written yet."""
    project_id, start, environment = hour
    extent = columns.extent()
    if extent is None:
        raise ValueError("a block has no events")
    first_seq, last_seq, first, last = extent
    kind, rankings, labels, spans = LABELS, 0, len(columns), {}
    if isinstance(columns, _core.RankingBlock):
        kind, rankings, labels = RANKINGS, len(columns), 0
        spans = {context: RankingSpan(*span) for context, *span in columns.spans()}
    return Block(
        first_seq,
        project_id,
        start,
        kind,
        environment,
        last_seq,
        first,
        last,
        rankings,
        labels,
        write_spans(spans),
        0,
        b"",
    )
