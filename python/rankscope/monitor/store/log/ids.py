"""The ids of the events and rankings of all projects, so that each event is stored once.

An id is known by 16 bytes of a hash: among 10^12 ids, the probability that any two share one is
below 10^-14. A row says of which event it is the id, and what was in it. Nearly always, a text is
the id of one thing: of a label, or of a ranking and its event. Where another thing takes a text
that is in use in the other role, its row is under a second hash of the text.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias
from zlib import crc32

from sqlalchemy import select

from rankscope import _core
from rankscope.errors import FileError
from rankscope.monitor.events.rejection import refuse_text
from rankscope.monitor.store.tables.schema import ids
from rankscope.monitor.store.tables.statements import POSTGRES, Prepared, insert_rows, is_among
from rankscope.monitor.store.transaction import Transaction

Key: TypeAlias = tuple[int, int]

if TYPE_CHECKING:
    from sqlalchemy import Connection


EVENT, RANKING = 1, 2
"""The roles of an id: that of an event, and that of a ranking, which labels name."""
ROW = struct.Struct("<5qB")
LARGEST = 255
"""The largest role: it is one byte of the checksum."""
BELOW = 2**64
SHIFT = 2
"""Above the roles is the place of the environment of a ranking in `ENVIRONMENTS`."""

# Made once: making these statements takes as long as running them.
SELECT_IDS = Prepared(select(ids).where(is_among(ids.c.high, "highs")))
DELETE_ID = "DELETE FROM ids WHERE high = {0} AND low = {0} AND seq = {0}"


class Entry(NamedTuple):
    """What is known of an id.

    Args:
        seq: The number of its event.
        digest: 8 bytes of the digest of its content, as a signed number.
        time: The time of a ranking; 0 where it is no ranking's.
        role: Its roles, and the environment of a ranking.
    """

    seq: int
    digest: int
    time: int
    role: int

    @property
    def environment(self) -> int:
        """The place of the environment of a ranking in `ENVIRONMENTS`."""
        return self.role >> SHIFT


def shorten(digest: bytes) -> int:
    """Return 8 bytes of a digest as they are stored."""
    return int.from_bytes(digest[:8], "little", signed=True)


class Ids:
    """The ids of some texts of a project, as they are stored and as a transaction adds to them.

    Args:
        connection: The connection.
        project_id: The number of the project.
        texts: The texts.
    """

    def __init__(self, connection: Connection, project_id: int, texts: Iterable[str]) -> None:
        each = list(dict.fromkeys(texts))
        for text in each:
            if "\0" in text:
                raise refuse_text(text)
        try:
            self._keys: dict[str, Key] = dict(
                zip(each, _core.hash_ids(project_id, each), strict=True)
            )
        except UnicodeEncodeError as error:
            # In what a program asks for; events are checked before they come.
            raise refuse_text(error.object) from error
        self._known = _find(connection, list(self._keys.values()))
        self._others: dict[str, Key] = {}
        taken = [text for text, key in self._keys.items() if key in self._known]
        # Only for a text that is there can a row be under its second hash.
        if any(self._known[self._keys[text]].role & 3 != 3 for text in taken):
            self._others = dict(zip(taken, _core.hash_other_ids(project_id, taken), strict=True))
            self._known |= _find(connection, list(self._others.values()))

    def find(self, text: str, role: int) -> Entry | None:
        """Find an id that has a role."""
        entry = self._known.get(self._keys[text])
        if entry is None or entry.role & role:
            return entry
        other = self._others.get(text)
        entry = None if other is None else self._known.get(other)
        return entry if entry is not None and entry.role & role else None


def select_ids(connection: Connection, highs: Sequence[int]) -> list[tuple[Any, ...]]:
    """Select the rows of ids by the higher halves of their keys."""
    return SELECT_IDS.fetch(connection, highs=highs) if highs else []


def _find(connection: Connection, keys: Sequence[Key]) -> dict[Key, Entry]:
    wanted = set(keys)
    entries = {}
    for high, low, *rest, checksum in select_ids(connection, [high for high, _ in keys]):
        key = high, low
        if key in wanted:
            entries[key] = entry = Entry(*rest)
            if not 0 <= entry.role <= LARGEST or compute_checksum(key, entry) != checksum:
                raise FileError(
                    "the store is damaged (an id of an event is)",
                    hint="restore a backup of the store",
                    code="store_damaged",
                )
    return entries


def compute_checksum(key: Key, entry: Entry) -> int:
    """Return the checksum of a row."""
    return crc32(ROW.pack(*key, *entry))


def find_rankings(
    connection: Connection, project_id: int, ranking_ids: Iterable[str]
) -> dict[str, Entry]:
    """Find rankings by their ids."""
    texts = list(ranking_ids)
    stored = Ids(connection, project_id, texts)
    return {text: entry for text in texts if (entry := stored.find(text, RANKING)) is not None}


def remove_ids(transaction: Transaction, project_id: int, rows: Sequence[tuple[str, int]]) -> None:
    """Remove the ids of deleted events, given with their numbers, and keep a digest of them."""
    if not rows:
        return
    connection = transaction.connection
    transaction.deletes = True
    texts = [text for text, _ in rows]
    firsts, others = (make(project_id, texts) for make in (_core.hash_ids, _core.hash_other_ids))
    # A ranking and its event often have one id, which counts once.
    transaction.deleted.add_hashes(high * BELOW + low for high, low in dict.fromkeys(firsts))
    for keys in (firsts, others):
        _delete(connection, [(*key, seq) for key, (_, seq) in zip(keys, rows, strict=True)])
    left = _find(connection, others)
    if not left:
        return
    # A row is under the second hash of its text only beside one under the first.
    first_of = {other: first for first, other in zip(firsts, others, strict=True)}
    taken = _find(connection, [first_of[key] for key in left])
    moved = {key: entry for key, entry in left.items() if first_of[key] not in taken}
    _delete(connection, [(*key, entry.seq) for key, entry in moved.items()])
    added = [(first_of[key], entry) for key, entry in moved.items()]
    insert_rows(
        connection, ids, [(*key, *entry, compute_checksum(key, entry)) for key, entry in added]
    )


def _delete(connection: Connection, rows: list[tuple[int, int, int]]) -> None:
    if not rows:
        return
    mark = "%s" if connection.dialect.name == POSTGRES else "?"
    connection.exec_driver_sql(DELETE_ID.format(mark), rows)
