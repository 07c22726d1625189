"""The facts in `meta` of a new store, and the revision of its tables."""

from __future__ import annotations

from collections.abc import Collection
from shlex import quote
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import insert, select

from rankscope._show.table import show
from rankscope.errors import FileError
from rankscope.monitor.store.tables.schema import alembic_version, meta

if TYPE_CHECKING:
    from sqlalchemy import Connection


REVISIONS = {"0001": "0001"}
"""The revisions of the tables that this release knows, in their order, each with the oldest one
whose releases still work with its tables: an earlier one if all that lies between only adds to
tables, otherwise itself."""
OLDEST = "oldest"
"""The name of the fact that says so to a release that doesn't know the revision of a store."""

GENERATION = "generation"
"""The name of the fact that changes when projects are deleted: processes forget numbers of rows."""


class Facts(NamedTuple):
    """What a store says of itself.

    Args:
        store: Its random id.
        last_seq: The number of the last event.
        last_commit: The number of the last transaction.
        revision: The revision of its tables.
    """

    store: bytes
    last_seq: int
    last_commit: int
    revision: str


def find_head() -> str:
    """Return the revision of this release."""
    return list(REVISIONS)[-1]


def read_facts(
    connection: Connection,
    tables: Collection[str],
    file: str,
    *,
    what: str,
    hint: str,
    is_for_upgrade: bool = False,
) -> Facts:
    """Read the facts of a store, and refuse one that is another's or of another revision.

    Args:
        connection: A connection.
        tables: The names of the tables that there are.
        file: What errors call the store.
        what: What must be a store.
        hint: What to do if it is none.
        is_for_upgrade: Whether an earlier revision is as good.
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
        revision = read_revision(connection, tables, file)
        check_revision(revision, facts[OLDEST], file, is_for_upgrade=is_for_upgrade)
        return Facts(
            bytes.fromhex(facts["store"]),
            int(facts["last_seq"]),
            int(facts["last_commit"]),
            revision,
        )
    except (KeyError, ValueError, TypeError) as error:
        raise damaged(f"its facts: {error!r:.80}", file) from error


def damaged(reason: str, file: str, hint: str = "restore a backup") -> FileError:
    """Return the error of a store that is damaged."""
    return FileError(f"the store is damaged ({reason})", hint=hint, code="store_damaged", file=file)


def read_revision(connection: Connection, tables: Collection[str], file: str) -> str:
    """Read the revision of a store."""
    if alembic_version.name not in tables:
        raise FileError(
            "the store was written by a checkout from before the first release of rankscope",
            hint="make a new store, and ingest the events again: those of this store with "
            "rankscope monitor export of the checkout that wrote it; nothing was changed",
            code="store_version",
            file=file,
        )
    found = list(connection.execute(select(alembic_version)).scalars())
    if len(found) != 1 or not isinstance(found[0], str):
        raise damaged(f"it has {len(found)} revisions instead of one", file)
    return found[0]


def check_revision(revision: str, oldest: str, file: str, *, is_for_upgrade: bool = False) -> None:
    """Refuse a revision with which this release doesn't work.

    Args:
        revision: The revision of a store.
        oldest: The oldest revision whose releases work with it.
        file: What errors call the store.
        is_for_upgrade: Whether an earlier revision is as good.
    """
    head = find_head()
    if revision == head or (revision not in REVISIONS and oldest in REVISIONS):
        return
    if revision not in REVISIONS:
        raise FileError(
            f"the store has revision {show(revision)[:40]}, which this release doesn't know; it "
            f"uses {head}",
            hint="use the release of rankscope that upgraded the store; nothing was changed",
            code="store_version",
            file=file,
        )
    if not is_for_upgrade:
        raise FileError(
            f"the store has revision {revision}, and this release uses revision {head}",
            hint=f"run `rankscope monitor upgrade {quote(file)}`; nothing was changed",
            code="store_upgrade",
            file=file,
        )


def insert_facts(connection: Connection, store: str, commit: int = 0) -> None:
    """Insert the facts about a new store, which is of this release; `store` is its id."""
    head = find_head()
    facts = {OLDEST: REVISIONS[head], "store": store, "last_seq": 0, "last_commit": commit}
    facts |= {"lost_events": 0, "lost_commits": 0, GENERATION: 0}
    rows = [{"name": name, "value": str(value)} for name, value in facts.items()]
    connection.execute(insert(meta), rows)
    alembic_version.create(connection, checkfirst=False)
    connection.execute(insert(alembic_version), {"version_num": head})
