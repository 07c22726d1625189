"""Names that match nothing are in the answer to what was sent."""

from __future__ import annotations

import gzip
import json

from rankscope.monitor import Configuration, define
from rankscope.monitor.server.api import ingest
from rankscope.monitor.store.tables.schema import bodies
from sqlalchemy import update

from tests.monitor.server.service import NOW, make_label, make_ranking

TYPE_CHECKING = False
if TYPE_CHECKING:
    import pytest

    from tests.monitor.server.service import Service

CONFIGURATION = Configuration(
    definition=define(positive="click", window="1h"), attributes=("device",), baseline=None
)


def test_the_answer_names_what_does_not_match(service: Service) -> None:
    service.store.configure("music", CONFIGURATION.to_json(), NOW, "test")
    rankings = [make_ranking(number, attributes={"Device": "tv"}) for number in range(3)]
    (told,) = service.post("/v1/rankings", rankings).json()["mismatches"]
    assert (told["kind"], told["name"], told["like"]) == ("missing_attribute", "device", "Device")
    labels = [make_label(number, labels=[name]) for number, name in enumerate(("Click", "view"))]
    found = service.post("/v1/labels", labels).json()["mismatches"]
    assert [(one["name"], one["like"], one["count"], one["of"]) for one in found] == [
        ("Click", "click", 1, 2),
        ("view", "", 1, 2),
    ]
    assert service.post("/v1/labels", make_label(5)).json()["mismatches"] == []


def test_before_a_project_is_configured_nothing_is_said(service: Service) -> None:
    assert service.post("/v1/labels", make_label(1, labels="Click")).json()["mismatches"] == []


def find_unmatched(service: Service, docs: str, **headers: str) -> list[tuple[int, int]]:
    """What the answer to labels of documents says about those that aren't in their rankings."""
    labels = [
        make_label(place, event_id=f"{docs} {place}", doc_id=doc) for place, doc in enumerate(docs)
    ]
    body = json.dumps(labels).encode()
    body = gzip.compress(body) if headers else body
    found = service.ask("POST", "/v1/labels", body, headers=headers).json()["mismatches"]
    return [(one["count"], one["of"]) for one in found if one["kind"] == "unmatched_label"]


def test_the_answer_says_that_labels_match_no_document(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingest, "REMEMBERED", 3600)
    service.store.configure("music", CONFIGURATION.to_json(), NOW, "test")
    assert find_unmatched(service, "xyz") == []  # their rankings aren't known yet
    service.post("/v1/rankings", [make_ranking(number) for number in range(30)])
    assert find_unmatched(service, "xx") == [(2, 2)]
    assert find_unmatched(service, "ax") == [(1, 2)]
    assert find_unmatched(service, "axb") == []  # fewer than half
    assert find_unmatched(service, "x" * 25) == [(20, 20)]
    assert find_unmatched(service, "abc") == []
    assert find_unmatched(service, "yy") == []  # soon after labels that match
    assert find_unmatched(service, "zz", **{"content-encoding": "gzip"}) == [(2, 2)]


def test_labels_of_a_damaged_ranking_are_accepted(service: Service) -> None:
    service.store.configure("music", CONFIGURATION.to_json(), NOW, "test")
    service.post("/v1/rankings", make_ranking(0))
    damage = update(bodies).values(body=b"damaged")
    service.store.transact(lambda transaction: transaction.connection.execute(damage)).result()
    answer = service.post("/v1/labels", make_label(0, doc_id="x")).json()
    assert (answer["accepted"], answer["mismatches"]) == (1, [])
