"""A store that a service holds passes the same tests through the socket beside it."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from rankscope.monitor.store.lending.borrower import borrow_from_service
from rankscope.monitor.store.lending.lender import Lender, Session
from rankscope.monitor.store.lending.messages import WRITES
from rankscope.monitor.store.sqlite.store import SQLiteStore

from tests.monitor.store.conformance import StoreConformance
from tests.monitor.store.conformance.deletion import damage_log
from tests.monitor.store.conformance.events import count_seen
from tests.monitor.store.files import StoredFiles

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from rankscope.monitor.store.lending.borrower import LentStore

    from tests.monitor.store.conformance import Open


@contextmanager
def lend(path: Path) -> Iterator[LentStore]:
    """Open a store here, and once more as a command does beside the service that holds it."""
    with SQLiteStore(path) as store, Lender(store, lambda _event, _fields: None):
        lent = borrow_from_service(path)
        assert lent is not None
        with lent:
            yield lent


class TestLent(StoreConformance, StoredFiles):
    """A store that is read here, and written by the service that holds it."""

    @pytest.fixture
    def opened(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Open:
        for function in (count_seen, damage_log):
            monkeypatch.setitem(WRITES, function.__name__, function)
        # The tests of the socket are about the names in the audit log.
        monkeypatch.setattr(Session, "_name", lambda _self, _parameter, value: value)
        return lambda: lend(tmp_path / "events.db")
