"""Stores of events: durable, each event once, read back as columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rankscope.errors import UsageError
from rankscope.monitor.store.postgres.address import POSTGRES
from rankscope.monitor.store.sqlite.files import SQLITE, check_place
from rankscope.monitor.store.store import Store, StoreReader

# Modules of a backend load SQLAlchemy, so that they are imported where a store is opened.


def open_store(
    url: str,
    *,
    accept_loss: bool = False,
    before_upgrade: Callable[[StoreReader], object] | None = None,
) -> Store:
    """Open a store by its URL, to write to it.

    Args:
        url: The URL.
        accept_loss: Open a store in a file although it has lost what it acknowledged.
        before_upgrade: Upgrade a store of an earlier revision, after calling this with it (default:
            such a store is refused).

    Examples:
        >>> open_store("mysql://host/events")
        Traceback (most recent call last):
          ...
        rankscope.errors.UsageError: 'mysql://host/events' is not the URL of a store
        <BLANKLINE>
        Hint: use the path of a file, sqlite:///events.db or postgresql://user@host/database
    """
    if url.startswith(POSTGRES):
        from rankscope.monitor.store.postgres.store import PostgresStore

        return PostgresStore(url, before_upgrade=before_upgrade)
    path = _read_path(url)
    check_place(path)
    from rankscope.monitor.store.sqlite.store import SQLiteStore

    return SQLiteStore(path, accept_loss=accept_loss, before_upgrade=before_upgrade)


def open_reader(url: str, *, is_for_upgrade: bool = False) -> StoreReader:
    """Open a store by its URL, to read it while any process may write to it.

    For an upgrade, a store of an earlier revision is as good.
    """
    if url.startswith(POSTGRES):
        from rankscope.monitor.store.postgres.store import (
            open_postgres_reader,
        )

        return open_postgres_reader(url, is_for_upgrade=is_for_upgrade)
    path = _read_path(url)
    check_place(path)
    from rankscope.monitor.store.sqlite.store import open_sqlite_reader

    return open_sqlite_reader(path, is_for_upgrade=is_for_upgrade)


def borrow_store(url: str, ask: Callable[[Callable[..., Any], int], object]) -> Store:
    """Open a store by its URL that another process writes."""
    if url.startswith(POSTGRES):
        from rankscope.monitor.store.postgres.store import (
            BorrowedPostgres,
        )

        return BorrowedPostgres(url, ask)
    from pathlib import Path

    from rankscope.monitor.store.sqlite.store import BorrowedStore

    return BorrowedStore(Path(_read_path(url)), ask)


def _read_path(url: str) -> str:
    if not url.startswith(SQLITE) or url == SQLITE:
        scheme, mark, rest = url.partition("://")
        # The part before an @ may be a password.
        shown = f"{scheme}{mark}{rest.rpartition('@')[2]}"
        raise UsageError(
            f"{shown[:100]!r} is not the URL of a store",
            hint="use the path of a file, sqlite:///events.db or postgresql://user@host/database",
            code="store_url",
        )
    return url.removeprefix(SQLITE)
