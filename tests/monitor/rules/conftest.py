"""Stores, one of them with a validation set."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from rankscope.monitor.store.sqlite.store import SQLiteStore

from tests.monitor.rules.world import PROJECT, VALIDATION, World


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[SQLiteStore]:
    with SQLiteStore(tmp_path / "events.db", group_seconds=0) as opened:
        yield opened


@pytest.fixture
def store(empty: SQLiteStore) -> SQLiteStore:
    """A store with a validation set."""
    empty.append(PROJECT, VALIDATION)
    return empty


@pytest.fixture
def world(store: SQLiteStore) -> World:
    return World(store)
