"""The facts in `meta` of a new store, and the version of the tables, which is one of them."""

from __future__ import annotations

from sqlalchemy import insert

from rankscope.errors import FileError
from rankscope.monitor.store.tables.schema import meta

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy import Connection

NAME = "version"
VERSION = 1
UNRELEASED = "schema_version"
"""What the version was called before the first release, when it was counted from 1, too."""


def check_version(facts: Mapping[str, str], file: str) -> None:
    """Refuse a store with tables of another version; `ValueError` where its version is damaged."""
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
