"""A store that another process writes passes the same tests: all work can be sent to it."""

from __future__ import annotations

import pickle
from contextlib import contextmanager

import pytest
from rankscope.monitor.store.sqlite.store import BorrowedStore, SQLiteStore

from tests.monitor.store.conformance import StoreConformance
from tests.monitor.store.files import StoredFiles

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from typing import Any

    from tests.monitor.store.conformance import Open


def send(thing: object) -> Any:  # noqa: ANN401 - what was sent
    """Return what arrives of an object in another process."""
    return pickle.loads(pickle.dumps(thing))  # noqa: S301 - of our own


@contextmanager
def borrow(path: Path) -> Iterator[BorrowedStore]:
    """Open a store here, and once more as a process does that does not write."""
    with SQLiteStore(path) as store:

        def ask(work: Callable[..., Any], size: int) -> object:
            return send(store.transact(send(work), size).result())

        yield BorrowedStore(path, ask)


class TestBorrowed(StoreConformance, StoredFiles):
    """A store that is read here and written elsewhere."""

    @pytest.fixture
    def opened(self, tmp_path: Path) -> Open:
        return lambda: borrow(tmp_path / "events.db")
