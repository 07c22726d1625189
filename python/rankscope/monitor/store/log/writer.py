"""Writes the new events of a transaction as blocks, and joins small blocks to larger ones.

A request with one event makes a block of one event. Whenever an hour has many blocks of about one
size, they become one, in the transaction that adds the next: so each event is written a few times,
a block has some thousand events at most, and nothing is there twice after a crash.
"""

from __future__ import annotations

from collections import defaultdict

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

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    from rankscope.monitor.store.transaction import Transaction

    Columns: TypeAlias = _core.RankingBlock | _core.LabelBlock
    Hour: TypeAlias = tuple[int, int, int]
    """The number of a project, the start of an hour, and the place of an environment."""

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
        self._rankings: dict[Hour, list[_core.RankingBlock]] = defaultdict(list)
        self._labels: dict[Hour, list[_core.LabelBlock]] = defaultdict(list)

    def add_rankings(self, hour: Hour, rankings: _core.RankingBlock) -> None:
        """Add rankings of an hour."""
        self._rankings[hour].append(rankings)

    def add_labels(self, hour: Hour, labels: _core.LabelBlock) -> None:
        """Add labels of rankings of an hour."""
        self._labels[hour].append(labels)

    def settle(self) -> None:
        """Write what was collected, so that reads of this transaction find it."""
        rankings, self._rankings = self._rankings, defaultdict(list)
        labels, self._labels = self._labels, defaultdict(list)
        for hour, shown in rankings.items():
            self._write(
                hour, RANKINGS, shown[0] if len(shown) == 1 else _core.RankingBlock.join(shown)
            )
        for hour, told in labels.items():
            self._write(hour, LABELS, told[0] if len(told) == 1 else _core.LabelBlock.join(told))

    def _write(self, hour: Hour, kind: int, columns: Columns) -> None:
        """Write a block, together with small ones of its hour where there are many."""
        new = make_block(hour, kind, columns)
        for context, span in new.spans.items():
            self._transaction.add_rankings(context, span)
        alike = self._find_alike(new)
        if alike:
            columns = self._join(columns, alike)
            remove_blocks(self._transaction, alike)
        write_columns(self._transaction, hour, kind, columns)

    def _find_alike(self, new: Block) -> list[Block]:
        """Find the blocks to join with a new one."""
        if new.events >= SIZES[-1]:
            return []
        hour = {name: getattr(new, name) for name in ("project_id", "start", "kind", "environment")}
        rows = SELECT_SMALL.fetch(self._transaction.connection, **hour)
        small = [Block(*row) for row in rows]
        found: list[Block] = []
        size, least = new.events, 0
        for limit in SIZES:
            alike = [block for block in small if least <= block.events < limit]
            if least <= size < limit and len(alike) + 1 >= ALIKE:
                found += alike
                size += sum(block.events for block in alike)
            least = limit
        return found

    def _join(self, columns: Columns, alike: Sequence[Block]) -> Columns:
        connection = self._transaction.connection
        if isinstance(columns, _core.RankingBlock):
            return _core.RankingBlock.join([columns, *open_rankings(connection, alike)])
        return _core.LabelBlock.join([columns, *open_labels(connection, alike)])


def write_columns(transaction: Transaction, hour: Hour, kind: int, columns: Columns) -> None:
    """Write columns as a block."""
    body = columns.encode()
    made = make_block(hour, kind, columns)
    made = made._replace(size=len(body), checksum=body[:HEAD])
    insert_blocks(transaction, [(made, body)])


def make_block(hour: Hour, kind: int, columns: Columns) -> Block:
    """Return the block of columns that are not written yet."""
    project_id, start, environment = hour
    extent = columns.extent()
    if extent is None:
        raise ValueError("a block has no events")
    first_seq, last_seq, first, last = extent
    rankings = labels = 0
    spans = {}
    if isinstance(columns, _core.RankingBlock):
        rankings = len(columns)
        spans = {context: RankingSpan(*span) for context, *span in columns.spans()}
    else:
        labels = len(columns)
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
        "",
        0,
        b"",
    )
