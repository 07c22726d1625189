"""The signing secrets of webhooks, in a table of their own that backups can leave out."""

from __future__ import annotations

from sqlalchemy import Column, MetaData, Table, Text, delete, select
from sqlalchemy.dialects.postgresql import insert

from rankscope.monitor.store.keys import Secret

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from sqlalchemy import Connection

SECRETS = Table(
    "secrets",
    MetaData(),
    Column("secret_id", Text, primary_key=True),
    Column("secret", Text, nullable=False),
)
"""Secrets by their ids, which are in `webhooks`."""


class SecretTable:
    """The table of the secrets of a store.

    Args:
        connection: A connection, within a transaction.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def find(self, secret_id: str) -> Secret | None:
        """Find a secret by its id, `None` where the table does not have it, as in a backup."""
        wanted = select(SECRETS.c.secret).where(SECRETS.c.secret_id == secret_id)
        text = self._connection.execute(wanted).scalar_one_or_none()
        return None if text is None else Secret(text)

    def add(self, secret_id: str, secret: Secret) -> None:
        """Add a secret."""
        row = {"secret_id": secret_id, "secret": secret.reveal()}
        self._connection.execute(insert(SECRETS).values(row).on_conflict_do_nothing())

    def keep(self, secret_ids: Collection[str]) -> None:
        """Remove all secrets but those with these ids."""
        others = SECRETS.c.secret_id.not_in(list(secret_ids))
        self._connection.execute(delete(SECRETS).where(others))
