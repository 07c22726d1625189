from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import timedelta
from itertools import cycle
from urllib.parse import quote, urlencode

import pytest
from jsonschema import Draft202012Validator
from rankscope.monitor.ask.trace import Span
from rankscope.monitor.definition.configuration import BaselineChoice, Configuration
from rankscope.monitor.definition.definition import POLICY, define
from rankscope.monitor.definition.document import write_configuration
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.events.times import format_time, to_datetime, to_micros
from rankscope.monitor.rules.kinds import Rule
from rankscope.monitor.shapes import describe_type

from tests.monitor.server.music import MUSIC, START, log_music, make_search, open_monitor
from tests.monitor.server.service import NOW, Service
from tests.monitor.server.test_routes import list_endpoints, path_of

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


TIMES = ("2026-09-01T00:00:00Z", "2026-09-08T00:00:00Z")
CONFIGURED = write_configuration(MUSIC)
DEFINED = CONFIGURED["definition"]
ATTRIBUTED = DEFINED["attribution"]


class Reader:
    def __init__(self, service, *, has_events=True):
        self.service = service
        self.monitor = log_music(service) if has_events else open_monitor(service)
        self.monitor.configure(MUSIC, actor="test")
        self.monitor.evaluate()
        self.key = service.make_key("music", "read")
        self.admin = service.make_key("music", "admin")

    def get(self, path, **query):
        asked = urlencode(query, doseq=True)
        return self.service.ask("GET", f"{path}?{asked}" if asked else path, key=self.key)

    def read(self, path, **query):
        answer = self.get(path, **query)
        assert answer.status_code == 200, answer.text
        for endpoint in list_endpoints():
            if endpoint.path == path and endpoint.method == "GET":
                assert endpoint.result is not None
                schema = describe_type(endpoint.result)
                records = {"components": {"schemas": schema.get("$defs", {})}}
                Draft202012Validator(schema | records).validate(answer.json())
        return answer.json()


@pytest.fixture
def own(service):
    """A reader of a service that may be changed, and has no events yet."""
    return Reader(service, has_events=False)


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    service = Service(tmp_path_factory.mktemp("api"))
    yield Reader(service)
    service.store.close()


def test_series_slices_versions_quality_and_the_baseline_are_those_of_python(reader):
    for every in ("hour", "day"):
        told = reader.read("/v1/series", measure="nDCG@5", every=every)
        assert told == reader.monitor.series("nDCG@5", every=every).to_dict()
        assert told["values"]
    given = {
        "since": format_time(START + 6 * HOUR),
        "until": format_time(START + 18 * HOUR),
    }
    told = reader.read("/v1/series", measure="ndcg_cut_5", version="3", slice="device=tv", **given)
    assert told == (
        reader.monitor.series("nDCG@5", version="3", slice=(("device", "tv"),), **given).to_dict()
    )
    assert len(told["starts"]) == 6
    slices = reader.monitor.slices("nDCG@5")
    told = reader.read("/v1/slices", measure="nDCG@5")["slices"]
    assert [tuple(row.values()) for row in told] == list(slices.rows())
    assert [row["slice"] for row in told] != []
    assert reader.read("/v1/quality") == reader.monitor.quality().to_dict()
    assert reader.read("/v1/maturity") == reader.monitor.quality().to_dict()["curve"]
    versions = reader.read("/v1/versions")["versions"]
    assert [(one["version"], one["rankings"]) for one in versions] == [("3", 48), ("4", 48)]
    baseline = reader.read("/v1/baseline")["baseline"]
    mean = reader.monitor.baseline().means["nDCG@5"]
    assert baseline["means"]["nDCG@5"] == {
        "value": mean.value,
        "lower": mean.lower,
        "upper": mean.upper,
    }


def test_a_project_that_is_not_configured_says_so(service):
    key = service.make_key("new", "read")
    others = {
        "/metrics": 200,
        "/openapi.json": 200,
        "/v1/projects": 200,
        "/v1/incidents": 200,
        "/v1/incidents/{incident_id}": 404,
        "/v1/channels": 200,
        "/v1/notifications": 200,
        "/v1/overview": 200,
        "/v1/rules": 200,
        "/v1/rules/{name}": 404,
        "/v1/versions": 200,
        "/v1/webhook": 200,
    }
    for endpoint in list_endpoints():
        if endpoint.scope == "read" and endpoint.method == "GET" and endpoint.kind == "api":
            needed = {
                name: {"signal": "length"}.get(name, "nDCG@5")
                for name in endpoint.parameters
                if name in describe_type(endpoint.query).get("required", ())
            }
            path = f"{endpoint.path}?{urlencode(needed)}" if needed else endpoint.path
            answer = service.ask("GET", path.replace("{ranking_id:id}", "r1"), key=key)
            assert answer.status_code == others.get(endpoint.path, 409), path
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
        ({"measure": "nDCG@5", "since": "0001-01-01T00:00:00Z"}, "time_format"),
        ({"measure": "nDCG@5", "since": format_time(NOW), "until": format_time(START)}, "bad_span"),
        ({"measure": "nDCG@5", "since": format_time(NOW - 3653 * DAY)}, "span_limit"),
        ({"measure": "nDCG@5", "slice": "device"}, "parameter"),
        ({"measure": "nDCG@5", "slice": "=tv"}, "missing_id"),
        ({"measure": "nDCG@5", "slice": "country=de"}, "unknown_slice"),
        ({"measure": "nDCG@5", "slice": ["device=tv", "country=de"]}, "unknown_slice"),
        ({"measure": "nDCG@5", "slice": ["device=tv", "device=web"]}, "unknown_slice"),
        ({"measure": "n" * 3000}, "parameter"),
        ({"measure": "nDCG@5", "model": "a\x00b"}, "nul_byte"),
    ],
)
def test_what_cannot_be_asked_is_refused(reader, query, code):
    answer = reader.get("/v1/series", **query)
    assert answer.status_code == 422
    if code in {"time_format", "bad_span", "span_limit", "unknown_slice"}:
        assert answer.json()["error"]["hint"]
    if code is not None:
        assert answer.json()["error"]["code"] == code


def test_a_signal_is_the_one_of_python(reader):
    monitor = open_monitor(reader.service)
    for every in ("hour", "day"):
        said = reader.read("/v1/signals", signal="no_results", every=every, slice="device=tv")
        series = monitor.signals(every=every, slice=(("device", "tv"),))["no_results"]
        assert said == json.loads(json.dumps(series.to_dict()))
        assert said["values"]
    for query in ({}, {"signal": "lenght"}, {"signal": "length", "slice": "country=de"}):
        assert reader.get("/v1/signals", **query).status_code == 422


def test_other_bytes_in_a_query_are_refused(reader):
    for query in ("measure=%ff", "measure=%ed%a0%80", "a=1&" * 600):
        answer = reader.service.ask("GET", f"/v1/series?{query}", key=reader.key)
        assert answer.status_code == 400


def test_ten_years_of_days_may_be_asked_for_and_a_slice_that_nobody_has(reader):
    since = format_time(NOW - 3653 * DAY)
    assert reader.read("/v1/series", measure="nDCG@5", every="day", since=since)["values"]
    for text in HOSTILE[:-2]:
        if "\x00" not in text:
            told = reader.read("/v1/series", measure="nDCG@5", slice=f"device={text}")
            assert told["starts"] == []


@pytest.mark.parametrize("query", ["key=", "token=a", "ACCESS_TOKEN=a", "api_key=a", "measure="])
def test_a_key_in_the_query_is_refused_and_not_logged(reader, query):
    answer = reader.service.ask("GET", f"/v1/series?{query}{reader.key}", key=reader.key)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "query_string")
    assert not any(reader.key in line for line in reader.service.log)


def test_hostile_text_is_answered_everywhere(reader):
    before = len(reader.service.log)
    texts = cycle(HOSTILE)
    headers = reader.service.headers(reader.key)
    for endpoint in list_endpoints():
        if endpoint.method != "GET" or endpoint.kind != "api":
            continue
        plain = path_of(endpoint)
        asked = [re.sub(r"{[^}]*}", quote(text, safe=""), endpoint.path) for text in HOSTILE]
        asked += [
            f"{plain}?{urlencode({parameter: next(texts)})}"
            for parameter in endpoint.parameters
            for _ in range(4)
        ]
        for answer in reader.service.ask_all([("GET", one, b"", headers) for one in {*asked}]):
            assert answer.status_code < 500, (str(answer.url)[:100], answer.text)
            assert answer.headers["content-type"] != "text/html"
    for line in reader.service.log[before:]:
        assert line.isascii()
        assert line[:-1].isprintable()
        assert "script" not in line


def test_a_configuration_is_read_and_changed(own):
    told = own.read("/v1/configuration")
    assert told == CONFIGURED
    changed = told | {"attributes": ["device", "country"], "grace": "0s"}
    answer = change(own, "PUT", "/v1/configuration", changed)
    assert answer.status_code == 200
    assert own.read("/v1/configuration") == changed
    entry = own.service.store.audit("music")[-1]
    assert entry.actor == own.admin.split("_")[1]


def change(reader, method, path, body=None, key=None):
    sent = b"" if body is None else json.dumps(body).encode()
    return reader.service.ask(method, path, sent, key=key or reader.admin)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, {}),
        ({"definition": {"policy": {}}}, {}),
        ({"definition": {"rule": 1, "window": 86_400}}, {}),
        ({"definition": {"window": "90m"}}, {"window": 5400}),
        ({"definition": {"policy": {"empty": "zero"}}}, {"policy": replace(POLICY, empty="zero")}),
        ({"definition": {"max_grade": 4}}, {"max_grade": 4.0}),
        ({"grace": 90}, {"grace": timedelta(seconds=90)}),
        ({"grace": 0.5}, {"grace": timedelta(seconds=0.5)}),
        ({"grace": "2h"}, {"grace": timedelta(hours=2)}),
        ({"baseline": None}, {"baseline": None}),
        ({"baseline": {}}, {"baseline": BaselineChoice()}),
        (
            {"baseline": {"kind": "period", "since": TIMES[0], "until": TIMES[1]}},
            {"baseline": BaselineChoice(kind="period", since=TIMES[0], until=TIMES[1])},
        ),
    ],
)
def test_what_is_left_out_of_a_configuration_has_its_default(own, given, expected):
    least = {"attribution": {"positive": {"click": 1}}, "window": "24h"}
    said = given | {"definition": least | given.get("definition", {})}
    answer = change(own, "PUT", "/v1/configuration", said)
    assert answer.status_code == 200, answer.text
    named = ("window", "policy", "max_grade")
    parts = {name: value for name, value in expected.items() if name in named}
    others = {name: value for name, value in expected.items() if name not in named}
    defined = define(**{"positive": "click", "window": "24h"} | parts)
    stored = own.service.store.configuration("music")
    assert Configuration.from_json(stored) == Configuration(definition=defined, **others)
    told = own.read("/v1/configuration")
    assert told == answer.json()
    assert change(own, "PUT", "/v1/configuration", told).json() == told
    assert own.service.store.configuration("music") == stored


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
        {"definition": DEFINED | {"window": 10**30}},
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
        {"attributes": ["\ud800"]},
        {"attributes": ["a\0"]},
        {"definition": DEFINED | {"attribution": ATTRIBUTED | {"positive": {"\ud800": 1}}}},
        {"baseline": {"kind": "version", "model": "\ud800"}},
        {"baseline": {"kind": "evil"}},
        {"baseline": {"evil": 1}},
        {"baseline": 5},
        {"baseline": {"kind": "period", "since": "a", "until": "b"}},
        {"grace": -1},
        {"grace": "1.5h"},
        {"grace": 1e300},
        {"grace": -0.5},
        {"grace": "31d"},
        {"grace": 30 * 86_400 + 1},
        {"definition": DEFINED | {"window": "0s"}},
        {"definition": DEFINED | {"window": 1.5}},
        {"definition": DEFINED | {"window": "3661d"}},
        {"definition": DEFINED | {"window": None}},
        {"grace": None},
        {"project_id": 1},
    ],
)
def test_a_configuration_that_cannot_be_changes_nothing(reader, changes):
    answer = change(reader, "PUT", "/v1/configuration", CONFIGURED | changes)
    assert answer.status_code == 422
    assert reader.read("/v1/configuration") == CONFIGURED


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"[]", 422),
        (b"null", 422),
        (b"1", 422),
        (b"[" * 100_000, 400),
        (b'{"name": "a", "name": "b"}', 422),
        (b'{"name": NaN}', 422),
        (b'{"name": "' + b"a" * (1 << 19) + b'"}', 413),
    ],
)
def test_a_body_that_is_no_object_is_refused(reader, body, status):
    answer = reader.service.ask("POST", "/v1/keys", body, key=reader.admin)
    assert answer.status_code == status
    assert len(reader.service.store.keys("music")) == 4


def test_a_body_for_a_change_is_json_as_it_is(reader):
    for headers in (
        {"content-type": "text/plain"},
        {"content-type": "application/x-ndjson"},
        {"content-encoding": "gzip"},
    ):
        answer = reader.service.ask("POST", "/v1/keys", b"{}", key=reader.admin, headers=headers)
        assert answer.status_code == 415


def test_keys_are_made_shown_once_and_revoked(own):
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
def test_a_key_that_cannot_be_is_not_made(reader, body):
    answer = change(reader, "POST", "/v1/keys", body)
    assert answer.status_code == 422
    assert len(reader.service.store.keys("music")) == 4


def test_a_trace_is_that_of_python_of_spans_that_are_there_or_suggested(reader):
    before = Span(to_datetime(START), to_datetime(START + 12 * HOUR), version="3")
    after = Span(to_datetime(START + 12 * HOUR), to_datetime(START + 24 * HOUR), version="4")
    given = {}
    for side, span in (("before", before), ("after", after)):
        assert span.since is not None
        assert span.until is not None
        given[f"{side}_since"] = format_time(to_micros(span.since))
        given[f"{side}_until"] = format_time(to_micros(span.until))
        given[f"{side}_version"] = str(span.version)
    told = reader.read("/v1/trace", measure="nDCG@5", **given)
    trace = reader.monitor.trace(before, after, "nDCG@5")
    assert told.pop("text") == str(trace)
    assert told == json.loads(json.dumps(trace.to_dict()))
    spans = reader.monitor.suggest_spans()
    assert spans is not None
    assert reader.read("/v1/trace")["between"] == [span.to_dict() for span in spans]
    before = Span(version="3")
    told = reader.read("/v1/trace", before_version="3")["between"]
    assert told == [before.to_dict(), spans[1].to_dict()]
    for query in (
        {"before_version": "9", "after_version": "4"},
        {"before_since": format_time(NOW), "before_until": format_time(START)},
    ):
        answer = reader.get("/v1/trace", **query)
        assert answer.status_code == 422
        assert answer.json()["error"]["hint"]


def test_a_ranking_is_explained_if_it_is_there(reader):
    told = reader.get("/v1/rankings/r7", measure="nDCG@5").json()
    assert told == json.loads(json.dumps(reader.monitor.explain("r7", "nDCG@5").to_dict()))
    assert told["ranking_id"] == "r7"
    for name in ("r9999", "", "r7/", "a/b", "%00", "..%2f"):
        answer = reader.get(f"/v1/rankings/{name}")
        assert answer.status_code == 404


def test_ids_are_explained_and_shown_whatever_they_are(own):
    key = own.service.make_key("music", "ingest")
    for number, text in enumerate(HOSTILE):
        if "\x00" in text or len(text) > 500 or len(text.encode()) > 500 or text == "..":
            continue
        items = [{"doc_id": text, "rank": 1}, {"doc_id": "b", "rank": 2}]
        fields = {"ranking_id": text, "query": text, "items": items, "attributes": {"device": text}}
        made = make_search(1000 + number, time=START, **fields)
        assert own.service.post("/v1/rankings", made, key=key).json()["accepted"] == 1
        told = own.get(f"/v1/rankings/{quote(text, safe='')}")
        assert told.status_code == 200
        assert told.json()["ranking_id"] == text
        assert told.json()["documents"][0]["doc_id"] == text
        assert told.headers["content-type"] == "application/json"
    own.monitor.evaluate()
    assert {row["slice"] for row in own.read("/v1/slices", measure="nDCG@5")["slices"]} >= {
        "device=<script>alert(1)</script>",
        "device=\u202egnp.exe",
    }


RULE = {"measure": "nDCG@5", "slices": ["device"], "period": "hour", "tolerance": 0.05}


def test_rules_are_made_changed_silenced_resolved_and_removed(own):
    assert [one["rule"]["name"] for one in own.read("/v1/rules")["rules"]] == ["data", "early"]
    made = change(own, "PUT", "/v1/rules/quality", RULE)
    assert made.status_code == 200
    assert made.json() == Rule.from_dict({"name": "quality", **RULE}).to_dict()
    changed = change(own, "PUT", "/v1/rules/quality", RULE | {"tolerance": 0.1})
    assert changed.json()["tolerance"] == 0.1
    own.monitor.evaluate()
    states = own.read("/v1/rules")["rules"]
    state = next(one for one in states if one["rule"]["name"] == "quality")
    assert state["rule"] == changed.json()
    assert own.get("/v1/rules/quality").json() == state
    until = format_time(NOW + HOUR)
    assert change(own, "POST", "/v1/rules/quality/silence", {"until": until}).status_code == 204
    assert own.get("/v1/rules/quality").json()["silenced_until"] == until
    assert change(own, "POST", "/v1/rules/quality/silence", {"until": None}).status_code == 204
    assert own.get("/v1/rules/quality").json()["silenced_until"] is None
    assert change(own, "POST", "/v1/rules/quality/resolve").status_code == 204
    assert change(own, "DELETE", "/v1/rules/quality").status_code == 204
    assert [one["rule"]["name"] for one in own.read("/v1/rules")["rules"]] == ["data", "early"]
    done = [one for one in own.service.store.audit("music") if one.subject == "quality"]
    assert {entry.actor for entry in done} == {own.admin.split("_")[1]}


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("a", {}),
        ("a", {"measure": "nDCG@7"}),
        ("a", RULE | {"name": "b"}),
        ("a", RULE | {"tolerance": float("nan")}),
        ("a", RULE | {"false_alarms": 0}),
        ("a", RULE | {"watches": ["volume"]}),
        ("a", {"kind": "limit", "measure": "empty"}),
        ("a", RULE | {"model": "\ud800"}),
        ("a", RULE | {"project": "films"}),
        ("a", RULE | {"created": "2026-11-21T18:00:00Z"}),
        ("new", RULE),
        ("a%0d%0ab", RULE),
        ("a" * 300, RULE),
    ],
)
def test_a_rule_that_cannot_be_is_not_made(reader, name, body):
    assert change(reader, "PUT", f"/v1/rules/{name}", body).status_code == 422
    assert [one["rule"]["name"] for one in reader.read("/v1/rules")["rules"]] == ["data", "early"]


def test_rules_that_are_not_there_are_not_found(reader):
    for method, path, body in (
        ("GET", "", None),
        ("DELETE", "", None),
        ("POST", "/resolve", None),
        ("POST", "/silence", {"until": None}),
    ):
        key = reader.key if method == "GET" else reader.admin
        for name in ("none", quote("<script>"), "a" * 10_000, "%00"):
            answer = change(reader, method, f"/v1/rules/{name}{path}", body, key)
            assert answer.status_code == 404


@pytest.mark.parametrize("limit", ["0", "-1", "1001", "1e9", "", "\u0665", "9" * 400, "1.5"])
def test_a_limit_is_a_number_from_1_to_1_000(reader, limit):
    assert reader.get("/v1/incidents", limit=limit).status_code == 422
    for good in ("1", "1000"):
        assert reader.get("/v1/incidents", limit=good).status_code == 200


@pytest.mark.parametrize("length", [511, 512, 513])
def test_a_parameter_has_at_most_512_characters(reader, length):
    answer = reader.get("/v1/incidents", rule="x" * length)
    assert answer.status_code == (422 if length > 512 else 200)


@pytest.mark.parametrize(
    "body", [{}, {"until": 5}, {"until": "tomorrow"}, {"until": None, "name": "a"}]
)
def test_a_silence_has_an_end(reader, body):
    answer = change(reader, "POST", "/v1/rules/quality/silence", body)
    assert answer.status_code == 422
