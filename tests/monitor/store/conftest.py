"""A new store for each test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from rankscope.monitor.store.sqlite.store import SQLiteStore

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SQLiteStore]:
    """An empty store, which doesn't wait for more events."""
    with SQLiteStore(tmp_path / "events.db", group_seconds=0) as opened:
        yield opened
