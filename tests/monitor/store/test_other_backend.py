from __future__ import annotations

import re
import threading
from concurrent.futures import Future
from pathlib import Path

import pytest
from rankscope import FileError
from rankscope.monitor.store.store import Store, StoreReader
from rankscope.monitor.store.tables import schema
from rankscope.monitor.store.tables.projects import read_last_seq
from rankscope.monitor.store.transaction import NumberCache, Transaction
from sqlalchemy import create_engine, event, insert, update

from tests.monitor.store import conformance
from tests.monitor.store.conformance import StoreConformance


class OtherStore(Store):
    """A store in any database that SQLAlchemy knows; it is neither fast nor durable."""

    def __init__(self, url, secrets):
        super().__init__(create_engine(url))
        # Waiting for the disk would take most of the time of these tests.
        event.listen(self.engine, "connect", lambda raw, _: raw.execute("PRAGMA synchronous=OFF"))
        self._secrets = secrets
        self._cache = NumberCache()
        self._is_closed = False
        self._one_at_a_time = threading.Lock()
        with self.engine.begin() as connection:
            if not self.engine.dialect.has_table(connection, "meta"):
                schema.TABLES.create_all(connection)
                names = ("last_seq", "lost_events", "lost_commits")
                rows = [{"name": name, "value": "0"} for name in names]
                connection.execute(insert(schema.meta), rows)

    @property
    def url(self):
        return str(self.engine.url)

    @property
    def failure(self):
        return None

    def find_secret(self, secret_id):
        return self._secrets.get(secret_id)

    def copy(self, part, put):
        raise NotImplementedError

    def verify(self):
        self.verify_log()

    def transact(self, work, size=1):  # noqa: ARG002 - nothing waits here
        if self._is_closed:
            raise FileError("the store is closed", code="store_closed")
        done = Future()
        try:
            with self._one_at_a_time, self.engine.begin() as connection:
                transaction = Transaction(connection, read_last_seq(connection), self._cache)
                result = work(transaction)
                transaction.flush()
                self._secrets |= transaction.secrets
                is_seq = schema.meta.c.name == "last_seq"
                seq = str(transaction.seq)
                connection.execute(update(schema.meta).where(is_seq).values(value=seq))
        except Exception as error:  # noqa: BLE001 - whatever the work raises
            done.set_exception(error)
        else:
            self._cache.update(transaction.new_numbers)
            done.set_result(result)
        return done

    def close(self):
        self._is_closed = True
        super().close()


class TestOther(StoreConformance):
    @pytest.fixture
    def opened(self, tmp_path_factory):
        url = f"sqlite:///{tmp_path_factory.mktemp('other')}/events.db"
        secrets = {}
        return lambda: OtherStore(url, secrets)


ROOT = Path(__file__).resolve().parents[3]
RECIPE = (
    (ROOT / "CONTRIBUTING.md")
    .read_text(encoding="utf-8")
    .partition("## Add a store backend\n")[2]
    .partition("\n## ")[0]
)
NEW = "mysql"
"""Paths with this name are those of the new backend."""


def test_its_files_exist():
    paths = re.findall(r"`((?:python|tests|docs)/[^`]+|[\w.]+\.(?:md|toml))`", RECIPE)
    assert len(paths) > 5
    missing = [path for path in paths if NEW not in path and not (ROOT / path).exists()]
    assert missing == []
    new = [path for path in paths if NEW in path]
    assert new
    assert all((ROOT / path.replace(NEW, "sqlite")).exists() for path in new)


def test_it_imports_what_exists():
    (names,) = re.findall(r"from tests\.monitor\.store\.conformance import (.*)", RECIPE)
    documented = conformance.__doc__ or ""
    for name in names.split(", "):
        assert name in documented
    assert "StoreConformance" in conformance.__all__


def test_a_backend_writes_little_besides_connections_and_commits():
    abstract = Store.__abstractmethods__ | StoreReader.__abstractmethods__
    assert abstract == {"url", "find_secret", "copy", "verify", "transact", "failure"}
