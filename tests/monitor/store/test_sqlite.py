"""SQLite is a store like any other."""

from __future__ import annotations

import pytest
from rankscope.monitor.store.sqlite import SQLiteStore

from tests.monitor.store.conformance import StoreConformance

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

    from tests.monitor.store.conformance import Open


class TestSQLite(StoreConformance):
    """A store in one file of SQLite."""

    @pytest.fixture
    def opened(self, tmp_path: Path) -> Open:
        return lambda: SQLiteStore(tmp_path / "events.db")
