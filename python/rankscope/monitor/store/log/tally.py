"""How many blocks the log has, and a digest of their rows: a lost or changed row is noticed.

Columns are found by the row of their block alone: without it, nothing else knows that
they are missing. Number and digest are in `meta`, and change in the transaction that changes a row.

The digest is the sum of the hashes of all rows, modulo 2^128. Unlike a hash of them all, a sum does
not depend on their order, so that a change adds the hash of the new row and subtracts that of the
old one, without reading the others. It tells damage, and keeps nobody from forging it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import bindparam, select, text

from rankscope.errors import FileError
from rankscope.monitor.store.log.blocks import Block
from rankscope.monitor.store.tables.schema import blocks, meta
from rankscope.monitor.store.tables.statements import Prepared

if TYPE_CHECKING:
    from sqlalchemy import Connection


BLOCKS, DELETED = "blocks", "deleted"
"""The names of the tallies: of the blocks, and of the ids of deleted events, whose content is not
kept."""
BITS = 128
FIND = Prepared(select(meta.c.value).where(meta.c.name == bindparam("name")))
SAVE = Prepared(
    text(
        "INSERT INTO meta (name, value) VALUES (:name, :value) "
        "ON CONFLICT (name) DO UPDATE SET value = excluded.value"
    )
)


class Tally(NamedTuple):
    """The number of blocks, and the sum of the hashes of their rows."""

    blocks: int
    digest: int

    def add(self, count: int, digest: int) -> Tally:
        """Return the tally with some more blocks."""
        return Tally(self.blocks + count, (self.digest + digest) % 2**BITS)


class TallyChange:
    """What a transaction changes in a tally.

    Args:
        name: The name of the tally in `meta`.
    """

    def __init__(self, name: str = BLOCKS) -> None:
        self._name = name
        self._count = 0
        self._digest = 0

    def add(self, new: Iterable[Block]) -> None:
        """Add blocks."""
        self.add_hashes(map(_hash, new))

    def subtract(self, old: Iterable[Block]) -> None:
        """Take blocks away."""
        for block in old:
            self._count -= 1
            self._digest -= _hash(block)

    def add_hashes(self, hashes: Iterable[int]) -> None:
        """Add what is known by its hash alone."""
        for number in hashes:
            self._count += 1
            self._digest += number

    def write(self, connection: Connection) -> None:
        """Write the tally as it is from now on."""
        if self._count or self._digest:
            changed = read_tally(connection, self._name).add(self._count, self._digest)
            SAVE.run(connection, name=self._name, value=f"{changed.blocks} {changed.digest:x}")


def _hash(row: Iterable[Any]) -> int:
    content = json.dumps([value.hex() if isinstance(value, bytes) else value for value in row])
    return int.from_bytes(blake2b(content.encode(), digest_size=BITS // 8).digest(), "big")


def read_tally(connection: Connection, name: str = BLOCKS) -> Tally:
    """Return a stored tally."""
    ((value,),) = FIND.fetch(connection, name=name) or [("0 0",)]
    count, digest = value.split()
    return Tally(int(count), int(digest, 16))


def check_tally(connection: Connection) -> None:
    """Compare the blocks with their tally."""
    stored = read_tally(connection)
    counted = Tally(0, 0)
    for row in connection.execute(select(blocks), execution_options={"stream_results": True}):
        counted = counted.add(1, _hash(row))
    if stored == counted:
        return
    problem = (
        f"its log lists {counted.blocks:,} blocks instead of {stored.blocks:,}"
        if stored.blocks != counted.blocks
        else "a block was changed in its log"
    )
    raise FileError(
        f"the store is damaged ({problem})",
        hint="restore a backup of the store",
        code="store_damaged",
    )
