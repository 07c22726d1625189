"""Keys are checked at each request, without a query for each."""

from __future__ import annotations

from types import SimpleNamespace

from rankscope.monitor.server.http.settings import Settings
from rankscope.monitor.server.routing import dispatcher as door
from rankscope.monitor.store.sqlite.store import SQLiteStore

from tests.monitor.server.service import NOW, Service, make_ranking

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_unknown_keys_cost_no_queries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reads = []
    read = SQLiteStore.all_keys
    monkeypatch.setattr(SQLiteStore, "all_keys", lambda store: reads.append(1) or read(store))
    monkeypatch.setattr(SQLiteStore, "find_key", None)
    service = Service(tmp_path)
    for number in range(20):
        key = f"rk_{number:016x}_{number:064x}"
        assert service.post("/v1/rankings", make_ranking(1), key=key).status_code == 401
    assert service.post("/v1/rankings", make_ranking(1)).status_code == 200
    assert len(reads) == 1
    other = service.make_key("music", "ingest")
    assert service.post("/v1/rankings", make_ranking(2), key=other).status_code == 200
    assert len(reads) == 2
    service.store.revoke_key("music", other.split("_")[1], NOW, "test")
    assert service.post("/v1/rankings", make_ranking(3), key=other).status_code == 401
    assert len(reads) == 3
    service.store.close()


def test_a_key_that_asks_too_often_is_slowed_down(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited = []

    async def wait(seconds: float) -> None:
        waited.append(seconds)

    monkeypatch.setattr(door, "asyncio", SimpleNamespace(sleep=wait))
    service = Service(tmp_path, Settings(key_rate=0.5, key_burst=2))
    statuses = [service.post("/v1/rankings", make_ranking(1)).status_code for _ in range(4)]
    assert statuses == [200, 200, 429, 429]
    assert waited == [door.REFUSING_SECONDS] * 2
    service.store.close()
