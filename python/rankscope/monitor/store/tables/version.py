"""The facts in `meta` of a new store, and the version of the tables, which is one of them."""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import insert, select

from rankscope.errors import FileError
from rankscope.monitor.store.tables.schema import meta

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from sqlalchemy import Connection

NAME = "version"
VERSION = 1
UNRELEASED = "schema_version"
"""What the version was called before the first release, when it was counted from 1, too."""


class Facts(NamedTuple):
    """What a store says of itself.

    Args:
        store: Its random id.
        last_seq: The number of the last event.
        last_commit: The number of the last transaction.
    """

    store: bytes
    last_seq: int
    last_commit: int


def read_facts(
    connection: Connection, tables: Collection[str], file: str, *, what: str, hint: str
) -> Facts:
    """Read the facts of a store, and refuse one that is another's or of another version.

    Args:
        connection: A connection.
        tables: The names of the tables that there are.
        file: What errors call the store.
        what: What must be a store.
        hint: What to do if it is none.
    """
    if meta.name not in tables:
        listed = (
            f"its tables are {', '.join(sorted(tables))[:100]}" if tables else "it has no tables"
        )
        raise FileError(
            f"{what} is not a store: {listed}",
            hint=f"{hint}; nothing was changed",
            code="store_version",
            file=file,
        )
    facts = dict(map(tuple, connection.execute(select(meta))))
    try:
        _check_version(facts, file)
        return Facts(
            bytes.fromhex(facts["store"]), int(facts["last_seq"]), int(facts["last_commit"])
        )
    except (KeyError, ValueError, TypeError) as error:
        raise damaged(f"its facts: {error!r:.80}", file) from error


def damaged(reason: str, file: str, hint: str = "restore a backup") -> FileError:
    """Return the error of a store that is damaged."""
    return FileError(f"the store is damaged ({reason})", hint=hint, code="store_damaged", file=file)


def _check_version(facts: Mapping[str, str], file: str) -> None:
    if UNRELEASED in facts:
        message = "the store was written by a checkout from before the first release of rankscope"
        hint = (
            "make a new store, and ingest the events again: those of this store with rankscope "
            "monitor export of the checkout that wrote it; nothing was changed"
        )
    elif (found := int(facts[NAME])) != VERSION:
        message = f"the store has version {found}; this release uses version {VERSION}"
        hint = "use the version of rankscope that wrote it; nothing was changed"
    else:
        return
    raise FileError(message, hint=hint, code="store_version", file=file)


def insert_facts(connection: Connection, store: str, commit: int = 0) -> None:
    """Insert the facts about a new store; `store` is its id."""
    facts = {NAME: VERSION, "store": store, "last_seq": 0, "last_commit": commit}
    facts |= {"lost_events": 0, "lost_commits": 0}
    rows = [{"name": name, "value": str(value)} for name, value in facts.items()]
    connection.execute(insert(meta), rows)
