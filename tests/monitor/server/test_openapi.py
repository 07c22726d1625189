"""The service is as it describes itself, and events are as their schemas say."""

from __future__ import annotations

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from openapi_spec_validator import validate
from rankscope.monitor.events.names import COLUMN_NAMES, ITEM_NAMES, LABEL_NAMES, RANKING_NAMES
from rankscope.monitor.server.api.openapi import NAMED, describe

from tests.monitor.server.service import Service, make_label, make_ranking
from tests.monitor.server.test_routes import list_endpoints


def test_it_is_openapi(service: Service) -> None:
    answer = service.ask("GET", "/openapi.json", key=service.make_key("music", "read"))
    assert answer.status_code == 200
    validate(answer.json())


def test_it_has_every_route_but_files() -> None:
    endpoints = list_endpoints()
    described = describe(endpoints)["paths"]
    assert {(path, method) for path, methods in described.items() for method in methods} == {
        (NAMED.sub(r"{\1}", one.address), one.method.lower())
        for one in endpoints
        if one.kind != "file"
    }
    for one in endpoints:
        if one.kind == "file":
            continue
        said = described[NAMED.sub(r"{\1}", one.address)][one.method.lower()]
        assert said["summary"] == one.summary != ""
        assert ("requestBody" in said) == (one.body is not None)
        assert bool(said["security"]) == (one.scope is not None)


DESCRIBED = describe(list_endpoints())
PATHS = ("/v1/rankings", "/v1/labels")


def body_of(path: str, kind: str = "application/json") -> dict[str, Any]:
    """The schema of a body."""
    body: dict[str, Any] = DESCRIBED["paths"][path]["post"]["requestBody"]["content"][kind]
    return body["schema"] | {"components": DESCRIBED["components"]}


def fits(path: str, events: object) -> bool:
    """Whether a body is as it is described."""
    return bool(Draft202012Validator(body_of(path)).is_valid(events))


@pytest.mark.parametrize("path", PATHS)
def test_the_examples_are_accepted(path: str, service: Service) -> None:
    for example in body_of(path)["examples"]:
        assert fits(path, example)
    [lines] = body_of(path, "application/x-ndjson")["examples"]
    headers = {"content-type": "application/x-ndjson"}
    answer = service.ask("POST", path, lines.encode(), headers=headers)
    assert answer.json()["accepted"] == 2
    assert answer.json()["unknown_fields"] == {}
    again = service.post(path, body_of(path)["examples"][1])
    assert again.json()["duplicate"] == 2


def test_every_name_that_is_read_is_described() -> None:
    schemas = DESCRIBED["components"]["schemas"]
    for record, names in (
        ("Ranking", RANKING_NAMES | {f"list of {role}": COLUMN_NAMES[role] for role in ITEM_NAMES}),
        ("Item", ITEM_NAMES),
        ("Label", LABEL_NAMES),
    ):
        read = {name for synonyms in names.values() for name in synonyms}
        assert set(schemas[record]["properties"]) == read


def test_a_ranking_is_accepted_under_each_name_of_a_field(service: Service) -> None:
    rankings = []
    for role in ("event_id", "ranking_id", "time", "user_id", "model", "items"):
        for name in RANKING_NAMES[role]:
            ranking = make_ranking(len(rankings), user_id="u", model="m")
            ranking[name] = ranking.pop(role)
            assert fits("/v1/rankings", ranking), name
            rankings.append(ranking)
    answer = service.post("/v1/rankings", rankings).json()
    assert (answer["accepted"], answer["unknown_fields"]) == (len(rankings), {})


def test_what_is_accepted_fits(service: Service) -> None:
    changed: tuple[dict[str, object], ...] = (
        {"ranking_id": 7},
        {"time": 1795280000000},
        {"time": 1795280000000.5},
        {"event_id": None, "user_id": None, "attributes": None},
        {"items": []},
        {"items": ["a", 7]},
        {"items": [{"item_id": 7, "position": 0, "score": None, "grade": 2}]},
        {"items": [{"docno": "a", "labels": "click"}, {"docno": "b", "labels": ["click", "buy"]}]},
        {"attributes": {"a": 1, "b": 1.5, "c": True, "d": None, "e": ""}},
        {"environment": "training"},
        {"more": {"a": [1]}},
    )
    rankings = [make_ranking(number) | changes for number, changes in enumerate(changed)]
    assert service.post("/v1/rankings", rankings).json()["accepted"] == len(rankings)
    assert fits("/v1/rankings", rankings)
    assert all(fits("/v1/rankings", ranking) for ranking in rankings)


@pytest.mark.parametrize(
    ("path", "event"),
    [
        ("/v1/rankings", {"ranking_id": "r"}),
        ("/v1/rankings", make_ranking(1) | {"time": None}),
        ("/v1/rankings", make_ranking(1) | {"ranking_id": ""}),
        ("/v1/rankings", make_ranking(1) | {"ranking_id": 1.5}),
        ("/v1/rankings", make_ranking(1) | {"environment": "test"}),
        ("/v1/rankings", make_ranking(1) | {"items": [{"rank": 1}]}),
        ("/v1/rankings", make_ranking(1) | {"items": [{"doc_id": "a", "rank": -1}]}),
        ("/v1/rankings", make_ranking(1) | {"items": [{"doc_id": "a", "score": "x"}]}),
        ("/v1/rankings", make_ranking(1) | {"attributes": {"a": []}}),
        ("/v1/rankings", make_ranking(1) | {"items": {str(at): at for at in range(3)}}),
        ("/v1/labels", {"ranking_id": "r", "doc_id": "a"}),
        ("/v1/labels", make_label(1) | {"doc_id": None}),
        ("/v1/labels", make_label(1) | {"kind": "click"}),
        ("/v1/labels", make_label(1) | {"labels": [1]}),
    ],
)
def test_what_does_not_fit_is_rejected(
    path: str, event: dict[str, object], shared: Service
) -> None:
    assert not fits(path, event)
    answer = shared.ask("POST", path, json.dumps(event).encode())
    assert (answer.status_code, answer.json()["rejected"]) == (200, 1)
