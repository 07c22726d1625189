"""The blocks of the log: which there are, and how their columns are read."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import delete, select

from rankscope import _core
from rankscope.errors import FileError
from rankscope.monitor.events.limits import HOUR
from rankscope.monitor.store.deadline import check_deadline
from rankscope.monitor.store.tables.schema import blocks, bodies
from rankscope.monitor.store.tables.statements import (
    FIRST,
    LAST,
    Prepared,
    fetch_rows,
    in_project,
    insert_rows,
    is_among,
)
from rankscope.monitor.store.tables.versions import RankingSpan

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Connection

    from rankscope.monitor.store.transaction import Transaction


RANKINGS, LABELS = range(2)
"""The kinds of blocks: rankings, and labels of stored rankings."""
PRODUCTION = 0
"""The place of production in `ENVIRONMENTS`."""
BODIES = 64
"""How many bodies a statement reads."""
HEAD = 16
"""So many bytes at the start of a body tell it from others: its checksum is there, which the core
compares with the rest."""


class Block(NamedTuple):
    """A block of the log; see the table `blocks`.

    Args:
        block_id: The smallest number of its events.
        project_id: The number of its project.
        start: When its hour begins, in microseconds since 1970.
        kind: What it holds.
        environment: The place of the environment of its rankings in `ENVIRONMENTS`.
        last_seq: The largest number of its events.
        first: The earliest time of its rankings, or of those of its labels.
        last: The latest one.
        rankings: The number of its rankings.
        labels: The number of its labels.
        contexts: Its rankings by context, as JSON.
        size: The number of bytes of its columns, as they are stored.
        checksum: The first 16 bytes of them, which have a checksum of all.
    """

    block_id: int
    project_id: int
    start: int
    kind: int
    environment: int
    last_seq: int
    first: int
    last: int
    rankings: int
    labels: int
    contexts: str
    size: int
    checksum: bytes

    @property
    def spans(self) -> dict[int, RankingSpan]:
        """Its rankings by context."""
        return {context: RankingSpan(*span) for context, *span in json.loads(self.contexts)}

    @property
    def events(self) -> int:
        """The number of its events."""
        return self.rankings + self.labels

    def overlaps(self, since: int | None, until: int | None) -> bool:
        """Return whether it may have rankings of a span, or labels of such rankings."""
        return (until is None or self.first < until) and (since is None or self.last >= since)

    def is_within(self, since: int, until: int) -> bool:
        """Return whether all its rankings are of a span."""
        return since <= self.first and self.last < until


# Made once: making these statements takes as long as running them.
SELECT_BLOCKS = Prepared(select(blocks).where(is_among(blocks.c.block_id, "numbers")))
SELECT_BODIES = Prepared(select(bodies).where(is_among(bodies.c.block_id, "numbers")))
DELETES = [
    Prepared(delete(table).where(is_among(table.c.block_id, "numbers")))
    for table in (bodies, blocks)
]
ORDER = (blocks.c.project_id, blocks.c.start, blocks.c.block_id)


def write_spans(spans: Mapping[int, RankingSpan]) -> str:
    """Write rankings by context as JSON."""
    return json.dumps([[context, *span] for context, span in sorted(spans.items())])


def list_blocks(
    connection: Connection,
    project: str | int,
    since: int | None = None,
    until: int | None = None,
    kinds: Sequence[int] = (RANKINGS, LABELS),
) -> list[Block]:
    """List the blocks of a project that may have rankings of a span, by hour, then by number."""
    return select_blocks(
        connection,
        is_of(project),
        blocks.c.start.between(
            FIRST if since is None else since - since % HOUR, LAST if until is None else until - 1
        ),
        blocks.c.kind.in_(kinds),
    )


def is_of(project: str | int) -> ColumnElement[bool]:
    """Select the blocks of a project, by its name or its number."""
    if isinstance(project, int):
        return blocks.c.project_id == project
    return in_project(blocks.c.project_id, project)


def select_blocks(
    connection: Connection, *wanted: ColumnElement[bool], most: int | None = None
) -> list[Block]:
    """List some of the blocks by project, hour and number."""
    result = connection.execute(select(blocks).where(*wanted).order_by(*ORDER).limit(most))
    return [Block(*row) for row in fetch_rows(result)]


def read_bodies(connection: Connection, wanted: Iterable[Block]) -> Iterator[tuple[Block, bytes]]:
    """Read the columns of blocks as they are stored, after comparing how they begin."""
    block_of = {block.block_id: block for block in wanted}
    numbers = list(block_of)
    for at in range(0, len(numbers), BODIES):
        check_deadline()
        part = numbers[at : at + BODIES]
        body_of = dict(SELECT_BODIES.fetch(connection, numbers=part))
        for number in part:
            block, body = block_of[number], body_of.get(number)
            if body is None or body[:HEAD] != block.checksum:
                raise damaged("the columns of a block", "missing" if body is None else "damaged")
            yield block, body


def open_rankings(connection: Connection, wanted: Iterable[Block]) -> list[_core.RankingBlock]:
    """Read the rankings of blocks."""
    return [_decode(_core.RankingBlock, body) for _, body in read_bodies(connection, wanted)]


def open_labels(connection: Connection, wanted: Iterable[Block]) -> list[_core.LabelBlock]:
    """Read the labels of blocks."""
    return [_decode(_core.LabelBlock, body) for _, body in read_bodies(connection, wanted)]


def _decode(kind: Any, body: bytes) -> Any:  # noqa: ANN401 - one of two classes
    try:
        return kind.decode(body)
    except ValueError as error:
        raise damaged("the columns of a block", str(error)) from error


def damaged(what: str, reason: str) -> FileError:
    """Return the error of a log that is damaged."""
    return FileError(
        f"the store is damaged ({what} are {reason})",
        hint="restore a backup of the store",
        code="store_damaged",
    )


def insert_blocks(transaction: Transaction, new: Sequence[tuple[Block, bytes]]) -> None:
    """Insert blocks with their columns."""
    connection = transaction.connection
    insert_rows(connection, blocks, [tuple(block) for block, _ in new])
    insert_rows(connection, bodies, [(block.block_id, body) for block, body in new])
    transaction.tally.add(block for block, _ in new)


def remove_blocks(transaction: Transaction, old: Sequence[Block]) -> None:
    """Remove blocks."""
    if not old:
        return
    numbers = [block.block_id for block in old]
    for delete_rows in DELETES:
        delete_rows.run(transaction.connection, numbers=numbers)
    transaction.tally.subtract(old)


def are_there(connection: Connection, expected: Sequence[Block]) -> bool:
    """Return whether blocks are still as they were read."""
    rows = SELECT_BLOCKS.fetch(connection, numbers=[block.block_id for block in expected])
    stored = {Block(*row) for row in rows}
    return stored == set(expected)
