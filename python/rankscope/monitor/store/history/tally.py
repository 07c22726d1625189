"""How many hours the manifest has, and a digest of them, so that a lost row is noticed.

The files of an hour are found by its row alone: without it, nothing else knows that they are
missing. Number and digest are in `meta`, and change in the transaction that changes a row.

The digest is the sum of the hashes of all rows, modulo 2^128. Unlike a hash of them all, a sum does
not depend on their order, so that a change adds the hash of the new row and subtracts that of the
old one, without reading the others. It tells damage, and keeps nobody from forging it.
"""

from __future__ import annotations

import json
from hashlib import blake2b
from typing import NamedTuple

from sqlalchemy import delete, insert, select

from rankscope.errors import FileError
from rankscope.monitor.store.tables.schema import history, meta

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from sqlalchemy import ColumnElement, Connection

COUNT, DIGEST = "history_hours", "history_digest"
"""The names of the facts."""
BITS = 128
COLUMNS = [column for column in history.c if column is not history.c.hour_id]


class Tally(NamedTuple):
    """The number of rows of the manifest, and the sum of their hashes."""

    hours: int
    digest: int

    def change(self, old: Sequence[Sequence[Any]], new: Sequence[Sequence[Any]]) -> Tally:
        """Return the tally after some rows were replaced by others."""
        change = sum(map(_hash, new)) - sum(map(_hash, old))
        return Tally(self.hours + len(new) - len(old), (self.digest + change) % 2**BITS)


def _hash(row: Sequence[Any]) -> int:
    said = json.dumps([one.hex() if isinstance(one, bytes) else one for one in row])
    return int.from_bytes(blake2b(said.encode(), digest_size=BITS // 8).digest(), "big")


def list_rows(
    connection: Connection, chosen: ColumnElement[bool] | None = None
) -> list[tuple[Any, ...]]:
    """List the rows of the manifest, or some of them."""
    wanted = select(*COLUMNS)
    rows = connection.execute(wanted if chosen is None else wanted.where(chosen))
    return [tuple(row) for row in rows]


def read_tally(connection: Connection) -> Tally:
    """Return the stored tally of the manifest."""
    wanted = select(meta.c.name, meta.c.value).where(meta.c.name.in_([COUNT, DIGEST]))
    facts = dict(map(tuple, connection.execute(wanted)))
    return Tally(int(facts.get(COUNT, "0")), int(facts.get(DIGEST, "0"), 16))


def write_tally(connection: Connection, tally: Tally) -> None:
    """Store the tally of the manifest."""
    connection.execute(delete(meta).where(meta.c.name.in_([COUNT, DIGEST])))
    facts = {COUNT: str(tally.hours), DIGEST: f"{tally.digest:x}"}
    rows = [{"name": name, "value": value} for name, value in facts.items()]
    connection.execute(insert(meta), rows)


def check_tally(connection: Connection) -> None:
    """Compare the manifest with its tally."""
    stored = read_tally(connection)
    found = Tally(0, 0).change([], list_rows(connection))
    if stored == found:
        return
    problem = (
        f"its manifest lists {found.hours:,} archived hours instead of {stored.hours:,}"
        if stored.hours != found.hours
        else "an archived hour was changed in its manifest"
    )
    raise FileError(
        f"the store is damaged ({problem})",
        hint="restore a backup; the history files of hours that are not listed are still there",
        code="store_damaged",
    )
