from __future__ import annotations

import pytest
from rankscope.monitor.store.sqlite.store import SQLiteStore

from tests.monitor.rules.world import PROJECT, VALIDATION, World


@pytest.fixture
def empty(tmp_path):
    with SQLiteStore(tmp_path / "events.db", group_seconds=0) as opened:
        yield opened


@pytest.fixture
def store(empty):
    """A store with a validation set."""
    empty.append(PROJECT, VALIDATION)
    return empty


@pytest.fixture
def world(store):
    return World(store)
