"""Migrations: the steps that bring the tables of an older version up to date, one file for each.

`version_3.py` turns tables of version 2 into those of version 3, and so on. To change the tables:

1. Change `schema.py`, and add 1 to its `VERSION`.
2. Add a step here that does the same to a store with data. A step is never changed once it was
   released. It names tables and columns itself, because `schema.py` has those of today.
3. Before you do so, write a store of the version so far with `tests/monitor/store/fixtures`. Tests
   open the stores of all versions, and compare their tables with those of a new store.

All steps run within the one transaction that opens the store, and the store's high-water mark
counts that transaction as every other. A store is migrated as a whole or stays as it was.

Alembic is not used. It would bring its own table of versions beside the one in `meta`, on which
the mark and readers rely. What it offers beyond a numbered list (branches, generated scripts,
downgrades, a command) has no use where a program opens its own file; and half of a step is Python
on the rows, not a change of columns.
"""

from __future__ import annotations

from rankscope.monitor.store.tables.migrations import (
    version_2,
    version_3,
    version_4,
    version_5,
    version_6,
    version_7,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Protocol

    from sqlalchemy import Connection

    from rankscope.monitor.store.keys import Secret

    class SecretKeeper(Protocol):
        """Keeps secrets outside of the database."""

        def add(self, secret_id: str, secret: Secret) -> None:
            """Add a secret."""


STEPS: Mapping[int, Callable[[Connection, SecretKeeper], None]] = {
    2: version_2.migrate,
    3: version_3.migrate,
    4: version_4.migrate,
    5: version_5.migrate,
    6: version_6.migrate,
    7: version_7.migrate,
}
"""The steps by the version that they make."""


def migrate(connection: Connection, version: int, secrets: SecretKeeper) -> None:
    """Bring the tables of an older version up to date, within a transaction."""
    for number in sorted(STEPS):
        if number > version:
            STEPS[number](connection, secrets)
