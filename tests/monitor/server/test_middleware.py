"""Authentication by key, the access log, and what answers never reveal."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest
from rankscope import FileError
from rankscope.monitor.server.http.settings import Settings
from rankscope.monitor.server.routing import dispatcher as door
from rankscope.monitor.store.keys import make_key
from rankscope.monitor.store.sqlite.store import SQLiteStore
from rankscope.records import replace

from tests.monitor.server.service import NOW, MakeService, Refusing, Service, make_ranking


def test_whatever_is_wrong_with_a_key_is_told_alike(service: Service) -> None:
    key_id = service.key.split("_")[1]
    revoked = service.make_key("music", "ingest")
    service.store.revoke_key("music", revoked.split("_")[1], NOW, "test")
    wrong = {
        "none": {},
        "empty": {"authorization": ""},
        "basic": {"authorization": f"Basic {service.key}"},
        "bare": {"authorization": service.key},
        "two": {"authorization": f"Bearer {service.key}, Bearer {service.key}"},
        "long": {"authorization": "Bearer " + "a" * 5000},
        "unknown": {"authorization": f"Bearer rk_{'0' * 16}_{'0' * 64}"},
        "secret": {"authorization": f"Bearer rk_{key_id}_{'0' * 64}"},
        "revoked": {"authorization": f"Bearer {revoked}"},
        "elsewhere": {"x-api-key": service.key},
        "cookie": {"cookie": f"key={service.key}"},
    }
    told = set()
    for headers in wrong.values():
        answer = service.post("/v1/rankings", make_ranking(1), key=None, headers=headers)
        assert answer.headers["www-authenticate"] == "Bearer"
        told.add((answer.status_code, json.dumps(answer.json()["error"])))
    assert [status for status, _ in told] == [401]
    assert service.store.counters("music") == {}
    good = {"authorization": f"bearer {service.key}"}
    assert service.post("/v1/rankings", [make_ranking(1)], key=None, headers=good).is_success


def test_two_keys_are_none(service: Service) -> None:
    value = f"Bearer {service.key}"
    headers = [("authorization", value), ("authorization", value)]
    made = ("POST", "/v1/rankings", b"{}", headers)
    assert service.ask_all([made])[0].status_code == 401  # type: ignore[list-item]


def test_unknown_keys_cost_no_queries(
    make_service: MakeService, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads = []
    read = SQLiteStore.all_keys
    monkeypatch.setattr(SQLiteStore, "all_keys", lambda store: reads.append(1) or read(store))
    monkeypatch.setattr(SQLiteStore, "find_key", None)
    service = make_service()
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


def test_too_many_requests_with_a_key_are_slowed_down_and_come_back_later(
    make_service: MakeService, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[float] = []

    async def wait(seconds: float) -> None:
        waited.append(seconds)

    monkeypatch.setattr(door, "asyncio", SimpleNamespace(sleep=wait))
    service = make_service(Settings(key_rate=0.5, key_burst=2))
    other = service.make_key("music", "ingest")

    def ask(key: str = "") -> tuple[int, str | None]:
        answer = service.post("/v1/rankings", make_ranking(1), key=key)
        return answer.status_code, answer.headers.get("retry-after")

    assert [ask(), ask(), ask(), ask(other)] == [(200, None), (200, None), (429, "2"), (200, None)]
    service.seconds = 2
    assert [ask(), ask()] == [(200, None), (429, "2")]
    assert waited == [door.REFUSING_SECONDS] * 2


def test_bad_keys_from_an_address_do_not_shut_out_good_ones(make_service: MakeService) -> None:
    service = make_service(Settings(failure_rate=1, failure_burst=3))
    answers = [service.post("/v1/rankings", {}, key="rk_x") for _ in range(5)]
    assert [answer.status_code for answer in answers] == [401, 401, 401, 429, 429]
    assert service.post("/v1/rankings", make_ranking(1)).status_code == 200


def test_too_many_requests_that_need_no_key_come_back_later(
    make_service: MakeService,
) -> None:
    service = make_service(Settings(open_rate=1, open_burst=2))
    statuses = [service.ask("GET", "/healthz", key=None).status_code for _ in range(4)]
    assert statuses == [200, 200, 429, 429]
    assert service.post("/v1/rankings", make_ranking(1)).status_code == 200


def test_a_request_is_a_line_of_the_log(service: Service) -> None:
    answer = service.post("/v1/rankings", [make_ranking(1), make_ranking(1), {}])
    line = service.last_line()
    assert line.pop("seconds") >= 0
    assert line.pop("bytes") == len(answer.request.content)
    assert line == {
        "time": "2026-11-21T18:00:00.000000Z",
        "event": "request",
        "request_id": answer.headers["x-request-id"],
        "method": "POST",
        "route": "/v1/rankings",
        "status": 200,
        "project": "music",
        "key_id": service.key.split("_")[1],
        "accepted": 1,
        "duplicate": 1,
        "conflict": 0,
        "rejected": 1,
    }


def test_the_log_is_lines_whatever_is_sent(service: Service) -> None:
    forged = '\r\n{"event": "forged"}\x1b[31m\u2028\x85'
    key, shown = make_key("a", ["ingest"], name="test", now=0)
    service.store.add_key(replace(key, project=f"a{forged}"), "test")
    project = shown.reveal()
    for key in ("", project, None):
        service.post("/v1/rankings", make_ranking(1, user_id=forged, time=forged), key=key)
        service.ask("GET", f"/v1/{forged.encode().hex()}%0d%0aforged", key=key)
        service.ask("FORGED", "/v1/rankings", key=key)
    assert len(service.log) == 9
    for line in service.log:
        assert line.isascii()
        assert line.endswith("}\n")
        assert line[:-1].isprintable()
        assert json.loads(line)["event"] == "request"
        assert "FORGED" not in line


@pytest.mark.parametrize(
    "error", [ValueError("SELECT secret"), KeyError("/etc/secret"), OSError(5, "secret")]
)
def test_what_goes_wrong_within_is_told_to_nobody(
    service: Service, make_service: MakeService, error: Exception
) -> None:
    broken = make_service(store=Refusing(service.store, error))
    answer = broken.post("/v1/rankings", make_ranking(1))
    assert answer.status_code == 500
    request_id = answer.headers["x-request-id"]
    assert answer.json() == {
        "error": {"code": "internal", "message": "something went wrong here"},
        "request_id": request_id,
    }
    line = broken.last_line()
    assert (line["status"], line["request_id"], line["raised"]) == (
        500,
        request_id,
        type(error).__name__,
    )
    assert any("ingest.py" in place for place in line["at"])
    assert not any("secret" in line for line in broken.log)


def test_a_store_that_has_failed_is_not_healthy(
    service: Service, make_service: MakeService
) -> None:
    failed = make_service(store=Refusing(service.store))
    failed.store.failure = FileError("it has", code="store_failed")
    for path in ("/healthz", "/readyz"):
        assert failed.ask("GET", path, key=None).status_code == 503
