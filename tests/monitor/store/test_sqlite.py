from __future__ import annotations

import pickle
from contextlib import contextmanager

import pytest
from rankscope import UsageError
from rankscope.monitor.store import open_store
from rankscope.monitor.store.sqlite.store import BorrowedStore, SQLiteStore

from tests.monitor.store.conformance import StoreConformance, make_ranking
from tests.monitor.store.files import StoredFiles
from tests.refusals import refuses


def test_a_store_is_opened_by_its_url(tmp_path):
    store = open_store(f"sqlite:///{tmp_path}/events.db")
    store.append("music", [make_ranking(1)])
    store.close()
    with SQLiteStore(tmp_path / "events.db") as again:
        assert again.last_seq == 1


@pytest.mark.parametrize("url", ["", "events.db", "sqlite:///", "mysql://me:secret@host/db"])
def test_another_url_is_refused_without_its_password(url):
    with refuses(UsageError, "store_url") as refused:
        open_store(url)
    assert "secret" not in str(refused.value)


class TestSQLite(StoreConformance, StoredFiles):
    @pytest.fixture
    def opened(self, tmp_path):
        return lambda: SQLiteStore(tmp_path / "events.db")


def send(thing):
    return pickle.loads(pickle.dumps(thing))  # noqa: S301 - of our own


@contextmanager
def borrow(path):
    """Open a store here, and once more as a process does that does not write."""
    with SQLiteStore(path) as store:

        def ask(work, size):
            return send(store.transact(send(work), size).result())

        yield BorrowedStore(path, ask)


class TestBorrowed(StoreConformance, StoredFiles):
    @pytest.fixture
    def opened(self, tmp_path):
        return lambda: borrow(tmp_path / "events.db")
