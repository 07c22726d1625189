"""The description of the service covers what it answers, and what never changes is made once."""

from __future__ import annotations

import json
from typing import get_args, get_type_hints

import pytest
from jsonschema import Draft202012Validator
from rankscope.monitor.events.rejection import RefusedError
from rankscope.monitor.server import app as application
from rankscope.monitor.server.api.openapi import NAMED, describe
from rankscope.monitor.server.api.project import ConfigurationFields
from rankscope.monitor.server.routing import static
from rankscope.monitor.shapes import validate

from tests.monitor.server.music import open_monitor
from tests.monitor.server.test_routes import FORM, list_endpoints
from tests.monitor.server.test_sweep import BODIES, World, address_of

DESCRIBED = describe(list_endpoints())
ROUTES = [one for one in list_endpoints() if one.kind != "file"]
JSON = {"content-type": "application/json"}
TOO_LONG = "a" * 20_000


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    made = World(tmp_path_factory.mktemp("contract"))
    yield made
    made.service.store.close()


def name_of(endpoint):
    return f"{endpoint.method} {endpoint.path}"


def find_answer(endpoint, status):
    """What the description says of an answer with a status; nothing where it does not know it."""
    path = NAMED.sub(r"{\1}", endpoint.address)
    said = DESCRIBED["paths"][path][endpoint.method.lower()]["responses"].get(str(status), {})
    name = said.get("$ref", "").removeprefix("#/components/responses/")
    found = DESCRIBED["components"]["responses"][name] if name else said
    assert isinstance(found, dict)
    return found


def check(endpoint, answer):
    """See that an answer is described: its status, its type, and what is in it."""
    said = find_answer(endpoint, answer.status_code)
    assert said, (name_of(endpoint), answer.status_code, answer.text[:300])
    content = said.get("content", {})
    if not content:
        assert answer.content == b""
    else:
        kind = answer.headers["content-type"].partition(";")[0]
        assert kind in content, (name_of(endpoint), answer.status_code, kind)
        if kind == "application/json":
            # References are looked up from the root of the description.
            schema = content[kind]["schema"] | {"components": DESCRIBED["components"]}
            Draft202012Validator(schema).validate(answer.json())
    for name, header in said.get("headers", {}).items():
        assert name in answer.headers or not header.get("required", False)


def list_requests(endpoint, world):
    """Make good and bad requests for an endpoint: an address, a body and headers."""
    path = address_of(endpoint, world.key_id)
    join = "&" if "?" in path else "?"
    kind = FORM if endpoint.kind == "form" else JSON
    key = {"authorization": f"Bearer {world.own}"}
    good = json.dumps(BODIES.get(endpoint.path, {})).encode()
    events = world.service.make_key("music", "ingest")
    yield path, good, kind | key
    yield path, good, kind
    yield path, good, kind | {"authorization": "Bearer rk_x"}
    yield path, good, kind | {"authorization": f"Bearer {events}"}
    yield path, good, kind | key | {"content-type": "text/plain"}
    yield path, good, kind | key | {"content-encoding": "br"}
    yield path, good, kind | key | {"host": "evil.example"}
    yield path, good, kind | key | {"sec-fetch-site": "cross-site"}
    yield path, good, kind | key | {"content-length": str(1 << 30)}
    for body in (b"", b"{", b"[]", b"[{}]", b"null", b"1", b"\xff", b'{"unknown": 1}'):
        yield path, body, kind | key
    for query in ("unknown=1", "measure=", "measure=nDCG%4099", "limit=0", "since=now", "id=a"):
        yield f"{path}{join}{query}", good, kind | key
    yield f"{path}{join}key={world.own}", good, kind | key
    yield f"{path}{join}a=%ff", good, kind | key
    yield f"{path}{join}{TOO_LONG}", good, kind | key
    if "{" in endpoint.path:
        for name in ("nothing", "a" * 600, "%00", "new"):
            yield NAMED.sub(name, endpoint.path), good, kind | key


@pytest.mark.slow
@pytest.mark.parametrize("endpoint", ROUTES, ids=name_of)
def test_every_answer_is_described(world, endpoint):
    if endpoint.method == "DELETE" and "key" in endpoint.path:
        return  # its good request would revoke the key of the others
    for path, body, headers in list_requests(endpoint, world):
        [answer] = world.service.ask_all([(endpoint.method, path, body, headers)])
        check(endpoint, answer)


def test_pages_are_described_as_pages():
    for endpoint in ROUTES:
        is_page = endpoint.kind in {"page", "form"}
        for status in (403, 404, 409, 422, 429):
            said = find_answer(endpoint, status)
            if said:
                assert list(said["content"]) == ["text/html" if is_page else "application/json"]
        if is_page and endpoint.scope is not None:
            assert "location" in find_answer(endpoint, 303)["headers"]
    for endpoint in (one for one in ROUTES if one.kind == "form"):
        path = NAMED.sub(r"{\1}", endpoint.address)
        [(kind, said)] = DESCRIBED["paths"][path]["post"]["requestBody"]["content"].items()
        assert kind == FORM["content-type"]
        assert ("csrf" in said["schema"].get("required", ())) == (endpoint.scope is not None)


def test_every_body_has_an_example_that_is_accepted(world):
    for endpoint in ROUTES:
        if endpoint.body is None or endpoint.kind == "form":
            continue
        path = NAMED.sub(r"{\1}", endpoint.address)
        said = DESCRIBED["paths"][path][endpoint.method.lower()]["requestBody"]["content"]
        schema = said["application/json"]["schema"]
        examples = schema.get("examples") or schema["anyOf"][0]["examples"]
        assert examples
        for example in examples:
            whole = schema | {"components": DESCRIBED["components"]}
            Draft202012Validator(whole).validate(example)
            if "{incident_id}" in endpoint.path:
                continue  # the project has no incident
            if endpoint.path == "/v1/retention":
                open_monitor(world.service).evaluate()  # values that are final are kept
            world.ask(endpoint.method, address_of(endpoint, world.key_id), example)


@pytest.mark.parametrize("body", [b"[{}]", b"[null, null]", b'[{"name": "a", "scopes": ["read"]}]'])
def test_a_list_is_no_object(world, body):
    answer = world.service.ask("POST", "/v1/keys", body, key=world.own)
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "json_type")


@pytest.mark.parametrize("body", [b"1", b"null", b'"text"', b"true"])
def test_a_batch_is_an_event_or_a_list(service, body):
    answer = service.ask("POST", "/v1/rankings", body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "json_type")


def test_a_configuration_that_leaves_documents_unjudged_can_be_read_and_written(world):
    said = json.loads(json.dumps(BODIES["/v1/configuration"]))
    said["definition"]["attribution"]["unlabelled"] = None
    said["definition"]["window"] = 7200.0  # for JSON Schema, this is an integer
    world.ask("PUT", "/v1/configuration", said)
    read = world.service.ask("GET", "/v1/configuration", key=world.own)
    endpoint = next(one for one in ROUTES if name_of(one) == "GET /v1/configuration")
    check(endpoint, read)
    assert read.json()["definition"]["attribution"]["unlabelled"] is None
    assert read.json()["definition"]["window"] == "2h"


SINCE = "2026-09-01T00:00:00Z"


def test_a_baseline_is_judged_by_the_kind_that_it_says():
    [choice] = get_args(get_type_hints(ConfigurationFields, include_extras=True)["baseline"])
    for good in (
        None,
        {"kind": "set", "environment": "training"},
        {"environment": "training"},
        {"kind": "period", "since": SINCE, "until": "2026-09-08T00:00:00Z"},
        {"kind": "version", "since": None, "until": None},
    ):
        assert validate({"a": good}, dict[str, choice]) == {"a": good}
    for bad, where in (
        ({"kind": "set", "since": SINCE}, "baseline.since"),
        ({"kind": "period", "since": SINCE}, "baseline.until"),
        ({"kind": "version", "version": "3"}, "baseline.version"),
    ):
        with pytest.raises(RefusedError) as refused:
            validate({"baseline": bad}, dict[str, choice])
        assert refused.value.where == where


def test_the_description_is_made_once(make_service, monkeypatch):
    made = []

    def count(endpoints):
        made.append(1)
        return describe(endpoints)

    monkeypatch.setattr(application, "describe", count)
    service = make_service()
    key = service.make_key("music", "read")
    for name in ("compress", "GzipFile"):
        monkeypatch.setattr(static.gzip, name, None)  # nothing is compressed from here on
    monkeypatch.setattr(static, "sha256", None)  # or hashed
    said = [service.ask("GET", "/openapi.json", key=key) for _ in range(3)]
    assert made == [1]
    assert said[0].headers["content-encoding"] == "gzip"
    assert said[0].json() == said[2].json() == DESCRIBED
    assert said[0].headers["cache-control"] == "private, no-cache"
    known = {"if-none-match": said[0].headers["etag"]}
    again = service.ask("GET", "/openapi.json", key=key, headers=known)
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["etag"] == said[0].headers["etag"]


def test_only_who_may_see_the_description_learns_that_it_is_the_same(service):
    key = service.make_key("music", "read")
    tag = service.ask("GET", "/openapi.json", key=key).headers["etag"]
    for stranger in (None, "rk_x"):
        answer = service.ask("GET", "/openapi.json", key=stranger, headers={"if-none-match": tag})
        assert answer.status_code == 401


def test_files_of_pages_are_compressed_once(service, monkeypatch):
    files = [one.path for one in list_endpoints() if one.kind == "file"]
    plain = {path: ask_for(service, path, "identity") for path in files}
    monkeypatch.setattr(static.gzip, "compress", None)
    monkeypatch.setattr(static, "sha256", None)
    for path in files:
        packed = ask_for(service, path, "br, gzip;q=0.5")
        assert packed.headers["content-encoding"] == "gzip"
        assert int(packed.headers["content-length"]) < len(plain[path].content)
        assert packed.content == plain[path].content
        assert "content-encoding" not in plain[path].headers
        assert packed.headers["vary"] == "accept-encoding"
        assert "content-encoding" not in ask_for(service, path, "gzip;q=0").headers
        again = ask_for(service, path, "gzip", {"if-none-match": packed.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")


def ask_for(service, path, encoding, headers=None):
    """Ask for a file in an encoding."""
    said = {"accept-encoding": encoding} | (headers or {})
    return service.ask("GET", path, key=None, headers=said)


def test_the_description_is_the_same_whenever_it_is_made():
    assert json.dumps(DESCRIBED) == json.dumps(describe(list_endpoints()))
