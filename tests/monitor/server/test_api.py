"""What programs read: the same numbers as in Python, of the project of the key alone."""

from __future__ import annotations

import json
from urllib.parse import quote, urlencode

import pytest
from jsonschema import Draft202012Validator
from rankscope.monitor.limits import DAY, HOUR
from rankscope.monitor.times import format_time

from tests.monitor.server.music import MUSIC, START, log_music
from tests.monitor.server.service import NOW, Service
from tests.monitor.server.test_routes import list_endpoints

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    import httpx

HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "=HYPERLINK(0)",
    "{{7*7}}",
    "'; DROP TABLE rankings; --",
    "a\x00b",
    "a\r\nset-cookie: a=b",
    "\x1b[31m",
    "\u202egnp.exe",
    "\ufeff",
    "..",
    "../../etc/passwd",
    "%2e%2e",
    "a" * 60_000,
    "\U0001f600" * 200,
)


DEFINED = MUSIC.definition.to_dict()
ATTRIBUTED = DEFINED["attribution"]


class Reader:
    """Reads the project `music`, and another that is there too."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.monitor = log_music(service)
        self.key = service.make_key("music", "read")
        self.admin = service.make_key("music", "admin")

    def get(self, path: str, **query: Any) -> httpx.Response:  # noqa: ANN401 - as addresses have them
        asked = urlencode(query, doseq=True)
        return self.service.ask("GET", f"{path}?{asked}" if asked else path, key=self.key)

    def read(self, path: str, **query: Any) -> Any:  # noqa: ANN401 - JSON
        answer = self.get(path, **query)
        assert answer.status_code == 200, answer.text
        for endpoint in list_endpoints(self.service):
            if endpoint.path == path and endpoint.method == "GET":
                assert endpoint.result is not None
                Draft202012Validator(endpoint.result).validate(answer.json())
        return answer.json()


@pytest.fixture
def own(service: Service) -> Reader:
    """A reader of a service that may be changed."""
    return Reader(service)


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reader]:
    """A reader of a service that stays as it is."""
    service = Service(tmp_path_factory.mktemp("api"))
    yield Reader(service)
    service.store.close()


def test_series_are_those_of_python(reader: Reader) -> None:
    for every in ("hour", "day"):
        told = reader.read("/v1/series", measure="nDCG@5", every=every)
        assert told == reader.monitor.series("nDCG@5", every=every).to_dict()  # type: ignore[arg-type]
        assert told["values"]
    span = {"since": START + 6 * HOUR, "until": START + 18 * HOUR}
    given = {name: format_time(time) for name, time in span.items()}
    told = reader.read("/v1/series", measure="ndcg_cut_5", version="3", slice="device=tv", **given)
    assert told == (
        reader.monitor.series("nDCG@5", version="3", slice=(("device", "tv"),), **span).to_dict()
    )
    assert len(told["starts"]) == 6


def test_slices_versions_quality_and_the_baseline_are_those_of_python(reader: Reader) -> None:
    slices = reader.monitor.slices("nDCG@5")
    told = reader.read("/v1/slices", measure="nDCG@5")["slices"]
    assert [tuple(row.values()) for row in told] == list(slices.rows())
    assert [row["slice"] for row in told] != []
    assert reader.read("/v1/quality") == reader.monitor.quality().to_dict()
    assert reader.read("/v1/maturity") == reader.monitor.quality().to_dict()["curve"]
    versions = reader.read("/v1/versions")["versions"]
    assert [(one["version"], one["rankings"]) for one in versions] == [("3", 48), ("4", 48)]
    baseline = reader.read("/v1/baseline")["baseline"]
    mean = reader.monitor.baseline().means["nDCG@5"]  # type: ignore[union-attr]
    assert baseline["means"]["nDCG@5"] == {
        "value": mean.value,
        "lower": mean.lower,
        "upper": mean.upper,
    }


def test_a_project_that_is_not_configured_says_so(service: Service) -> None:
    key = service.make_key("new", "read")
    for endpoint in list_endpoints(service):
        if endpoint.scope == "read" and endpoint.method == "GET" and endpoint.kind == "api":
            needed = {one.name: "nDCG@5" for one in endpoint.parameters if one.is_needed}
            path = f"{endpoint.path}?{urlencode(needed)}" if needed else endpoint.path
            answer = service.ask("GET", path.replace("{ranking_id:path}", "r1"), key=key)
            assert answer.status_code in {200, 404, 409, 422}
            if answer.status_code == 409:
                assert answer.json()["error"]["code"] == "not_configured"
                assert answer.json()["error"]["hint"]


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ({}, "parameter"),
        ({"measure": "nDCG@7"}, None),
        ({"measure": "ndgc@5"}, None),
        ({"measure": ""}, None),
        ({"measure": ["nDCG@5", "nDCG@1"]}, "parameter"),
        ({"measure": "nDCG@5", "evil": "1"}, "parameter"),
        ({"measure": "nDCG@5", "every": "minute"}, "parameter"),
        ({"measure": "nDCG@5", "since": "yesterday"}, "time_format"),
        ({"measure": "nDCG@5", "since": "2026-11-21T18:00:00"}, "time_zone"),
        ({"measure": "nDCG@5", "since": format_time(NOW), "until": format_time(START)}, "bad_span"),
        ({"measure": "nDCG@5", "since": format_time(NOW - 3653 * DAY)}, "span_limit"),
        ({"measure": "nDCG@5", "slice": "device"}, "parameter"),
        ({"measure": "nDCG@5", "slice": "=tv"}, "missing_id"),
        ({"measure": "n" * 3000}, "parameter"),
        ({"measure": "nDCG@5", "model": "a\x00b"}, "nul_byte"),
    ],
)
def test_what_cannot_be_asked_is_refused(
    reader: Reader, query: dict[str, Any], code: str | None
) -> None:
    answer = reader.get("/v1/series", **query)
    assert answer.status_code == 422
    if code is not None:
        assert answer.json()["error"]["code"] == code


def test_other_bytes_in_a_query_are_refused(reader: Reader) -> None:
    for query in ("measure=%ff", "measure=%ed%a0%80", "a=1&" * 600):
        answer = reader.service.ask("GET", f"/v1/series?{query}", key=reader.key)
        assert answer.status_code == 400


def test_ten_years_of_days_may_be_asked_for(reader: Reader) -> None:
    since = format_time(NOW - 3653 * DAY)
    assert reader.read("/v1/series", measure="nDCG@5", every="day", since=since)["values"]


@pytest.mark.parametrize("query", ["key=", "token=a", "ACCESS_TOKEN=a", "api_key=a", "measure="])
def test_a_key_in_the_query_is_refused_and_not_logged(reader: Reader, query: str) -> None:
    answer = reader.service.ask("GET", f"/v1/series?{query}{reader.key}", key=reader.key)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "query_string")
    assert not any(reader.key in line for line in reader.service.log)


def test_a_slice_that_nobody_has_is_empty(reader: Reader) -> None:
    for text in HOSTILE[:-2]:
        if "\x00" not in text:
            told = reader.read("/v1/series", measure="nDCG@5", slice=f"device={text}")
            assert told["starts"] == []


def test_hostile_text_is_answered_everywhere(reader: Reader) -> None:
    """No route fails within, whatever stands in its address."""
    before = len(reader.service.log)
    for endpoint in list_endpoints(reader.service):
        if endpoint.method != "GET" or endpoint.kind not in {"api", "twin"}:
            continue
        for text in HOSTILE:
            names = [one.name for one in endpoint.parameters]
            path = endpoint.path.replace("{ranking_id:path}", quote(text, safe=""))
            path = path.replace("{name}", quote(text, safe=""))
            asked = [path] + [f"{path}?{urlencode({name: text})}" for name in names]
            headers = reader.service.headers(reader.key)
            for answer in reader.service.ask_all([("GET", one, b"", headers) for one in asked]):
                assert answer.status_code < 500, (str(answer.url)[:100], answer.text)
                assert answer.headers["content-type"] != "text/html"
    for line in reader.service.log[before:]:
        assert line.isascii()
        assert line[:-1].isprintable()
        assert "script" not in line


def test_a_configuration_is_read_and_changed(own: Reader) -> None:
    told = own.read("/v1/configuration")
    assert told == MUSIC.to_dict()
    changed = told | {"attributes": ["device", "country"], "grace": 0}
    answer = change(own, "PUT", "/v1/configuration", changed)
    assert answer.status_code == 200
    assert own.read("/v1/configuration") == changed
    entry = own.service.store.audit("music")[-1]
    assert entry.actor == own.admin.split("_")[1]


def change(
    reader: Reader, method: str, path: str, body: object = None, key: str | None = None
) -> httpx.Response:
    """Change something as an administrator."""
    sent = b"" if body is None else json.dumps(body).encode()
    return reader.service.ask(method, path, sent, key=key or reader.admin)


@pytest.mark.parametrize(
    "changes",
    [
        {"definition": {}},
        {"definition": None},
        {"definition": [1]},
        {"definition": DEFINED | {"measures": []}},
        {"definition": DEFINED | {"measures": ["nDCG"]}},
        {"definition": DEFINED | {"measures": ["<b>@5"]}},
        {"definition": DEFINED | {"attribution": {}}},
        {"definition": DEFINED | {"attribution": {"positive": 5}}},
        {"definition": DEFINED | {"attribution": ATTRIBUTED | {"positive": {"a": "b"}}}},
        {"definition": DEFINED | {"attribution": ATTRIBUTED | {"positive": {"a": []}}}},
        {"definition": DEFINED | {"attribution": ATTRIBUTED | {"combine": []}}},
        {"definition": DEFINED | {"attribution": ATTRIBUTED | {"combine": "evil"}}},
        {"definition": DEFINED | {"attribution": ATTRIBUTED | {"evil": 1}}},
        {"definition": DEFINED | {"policy": {"ties": []}}},
        {"definition": DEFINED | {"policy": {"ties": "evil"}}},
        {"definition": DEFINED | {"policy": {"evil": 1}}},
        {"definition": DEFINED | {"max_grade": 0}},
        {"definition": DEFINED | {"max_grade": True}},
        {"definition": DEFINED | {"window_seconds": 10**30}},
        {"definition": DEFINED | {"rule": 2}},
        {"attributes": "device"},
        {"attributes": [1, 2]},
        {"attributes": ["a"] * 2},
        {"attributes": [str(number) for number in range(7)]},
        {"attributes": None},
        {"attributes": [[]]},
        {"pairs": [["device"]]},
        {"pairs": [["device", "other"]]},
        {"pairs": 1},
        {"most": 0},
        {"most": "50"},
        {"most": True},
        {"baseline": {"kind": "evil"}},
        {"baseline": {"evil": 1}},
        {"baseline": 5},
        {"baseline": {"kind": "period", "since": "a", "until": "b"}},
        {"grace": -1},
        {"grace": 1.5},
        {"grace": None},
        {"project_id": 1},
    ],
)
def test_a_configuration_that_cannot_be_changes_nothing(
    reader: Reader, changes: dict[str, Any]
) -> None:
    answer = change(reader, "PUT", "/v1/configuration", MUSIC.to_dict() | changes)
    assert (answer.status_code, answer.json()["error"]["code"]) != (500, "internal")
    assert answer.status_code == 422
    assert reader.read("/v1/configuration") == MUSIC.to_dict()


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"{", 400),
        (b"[]", 400),
        (b"null", 422),
        (b"1", 422),
        (b'{"name": "a", "name": "b"}', 422),
        (b'{"name": NaN}', 422),
        (b"[" * 100_000, 400),
        (b"\xff", 400),
        (b'{"name": "' + b"a" * (1 << 19) + b'"}', 413),
    ],
)
def test_a_body_that_is_no_object_is_refused(reader: Reader, body: bytes, status: int) -> None:
    answer = reader.service.ask("POST", "/v1/keys", body, key=reader.admin)
    assert answer.status_code == status
    assert len(reader.service.store.keys("music")) == 4


def test_a_body_for_a_change_is_json_as_it_is(reader: Reader) -> None:
    for headers in (
        {"content-type": "text/plain"},
        {"content-type": "application/x-ndjson"},
        {"content-encoding": "gzip"},
    ):
        answer = reader.service.ask("POST", "/v1/keys", b"{}", key=reader.admin, headers=headers)
        assert answer.status_code == 415


def test_keys_are_made_shown_once_and_revoked(own: Reader) -> None:
    made = change(own, "POST", "/v1/keys", {"name": "job", "scopes": ["read"]})
    assert made.status_code == 201
    shown, key_id = made.json()["key"], made.json()["key_id"]
    assert own.service.ask("GET", "/v1/versions", key=shown).status_code == 200
    listed = own.service.ask("GET", "/v1/keys", key=own.admin)
    assert key_id in {key["key_id"] for key in listed.json()["keys"]}
    assert shown.split("_")[2] not in listed.text
    assert "digest" not in listed.text
    assert change(own, "DELETE", f"/v1/keys/{key_id}").status_code == 204
    assert change(own, "DELETE", f"/v1/keys/{key_id}").status_code == 404
    assert own.service.ask("GET", "/v1/versions", key=shown).status_code == 401
    audit = own.service.ask("GET", "/v1/audit", key=own.admin).json()["entries"]
    told = [(one["action"], one["subject"]) for one in audit[:2]]
    assert told == [("key.revoke", key_id), ("key.create", key_id)]
    assert not [line for line in own.service.log if shown.split("_")[2] in line]


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"name": "a"},
        {"name": "a", "scopes": "read"},
        {"name": "a", "scopes": []},
        {"name": "a", "scopes": ["all"]},
        {"name": "a", "scopes": [["read"]]},
        {"name": "", "scopes": ["read"]},
        {"name": 5.5, "scopes": ["read"]},
        {"name": "a" * 1000, "scopes": ["read"]},
        {"name": "a\x00", "scopes": ["read"]},
        {"name": "\ud800", "scopes": ["read"]},
        {"name": "a", "scopes": ["read"], "project": "films"},
        {"name": "a", "scopes": ["read"], "key_id": "0"},
    ],
)
def test_a_key_that_cannot_be_is_not_made(reader: Reader, body: dict[str, Any]) -> None:
    answer = change(reader, "POST", "/v1/keys", body)
    assert answer.status_code == 422
    assert len(reader.service.store.keys("music")) == 4


def test_ids_of_another_project_are_not_there(own: Reader) -> None:
    other = own.service.make_key("films", "admin")
    answer = change(own, "DELETE", f"/v1/keys/{own.key.split('_')[1]}", key=other)
    assert answer.status_code == 404
    assert own.get("/v1/versions").status_code == 200
    assert own.service.ask("GET", "/v1/keys", key=other).json()["keys"][0]["name"] == "test"
    assert len(own.service.ask("GET", "/v1/keys", key=other).json()["keys"]) == 1
