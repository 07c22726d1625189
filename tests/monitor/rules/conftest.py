"""A store with a validation set."""

from __future__ import annotations

import pytest

pytest.importorskip("sqlalchemy", reason="the store needs SQLAlchemy")

from rankscope.monitor.store.sqlite.store import SQLiteStore

from tests.monitor.rules.world import PROJECT, VALIDATION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SQLiteStore]:
    """A store with a validation set."""
    with SQLiteStore(tmp_path / "events.db", group_seconds=0) as opened:
        opened.append(PROJECT, VALIDATION)
        yield opened
