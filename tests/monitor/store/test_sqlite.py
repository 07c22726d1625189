"""A store in an SQLite file passes the conformance tests."""

from __future__ import annotations

import pytest
from rankscope import UsageError
from rankscope.monitor.store import open_store
from rankscope.monitor.store.sqlite.store import SQLiteStore

from tests.monitor.store.conformance import StoreConformance, make_ranking
from tests.monitor.store.files import StoredFiles

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

    from tests.monitor.store.conformance import Open


def test_a_store_is_opened_by_its_url(tmp_path: Path) -> None:
    store = open_store(f"sqlite:///{tmp_path}/events.db")
    store.append("music", [make_ranking(1)])
    store.close()
    with SQLiteStore(tmp_path / "events.db") as again:
        assert again.last_seq == 1


@pytest.mark.parametrize("url", ["", "events.db", "sqlite:///", "mysql://me:secret@host/db"])
def test_another_url_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(UsageError) as refused:
        open_store(url)
    assert refused.value.code == "store_url"
    assert "secret" not in str(refused.value)


class TestSQLite(StoreConformance, StoredFiles):
    """A store in one SQLite file."""

    @pytest.fixture
    def opened(self, tmp_path: Path) -> Open:
        return lambda: SQLiteStore(tmp_path / "events.db")
