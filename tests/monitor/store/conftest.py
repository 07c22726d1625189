from __future__ import annotations

import pytest
from rankscope.monitor.store.sqlite.store import SQLiteStore


@pytest.fixture
def store(tmp_path):
    """An empty store, which doesn't wait for more events."""
    with SQLiteStore(tmp_path / "events.db", group_seconds=0) as opened:
        yield opened
