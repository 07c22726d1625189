from __future__ import annotations

import gzip
import json
from collections import Counter

import pytest
from rankscope import FileError
from rankscope.monitor import Configuration, define
from rankscope.monitor.server.api import ingest
from rankscope.monitor.server.api.ingest import LARGE_BYTES, SMALL_BYTES
from rankscope.monitor.server.http.settings import Settings
from rankscope.monitor.store.tables.schema import bodies
from sqlalchemy import update

from tests.monitor.server.service import (
    NOW,
    Refusing,
    make_label,
    make_ranking,
)
from tests.monitor.test_read_events import LINES


def statuses(service, path, events):
    answer = service.post(path, events)
    assert answer.status_code == 200
    return [item["status"] for item in answer.json()["items"]]


def test_what_is_accepted_is_in_the_store(service):
    answer = service.post("/v1/rankings", [make_ranking(1), make_ranking(2)])
    assert answer.status_code == 200
    told = answer.json()
    assert told["items"] == [{"status": "accepted"}] * 2
    assert (told["accepted"], told["duplicate"], told["conflict"], told["rejected"]) == (2, 0, 0, 0)
    assert told["request_id"] == answer.headers["x-request-id"]
    shown = service.store.find_ranking("music", "r1")
    assert (shown.event_id, shown.items.doc_ids) == ("e1", ("a", "b", "c"))
    assert statuses(service, "/v1/labels", make_label(1)) == ["accepted"]
    assert [one.labels for one in service.store.find_labels("music", "r1")] == [("click",)]


def test_lines_and_gzip_say_the_same(service):
    events = [make_ranking(number) for number in range(3)]
    lines = "\r\n\n".join(map(json.dumps, events)).encode()
    said = {"content-type": "Application/X-NDJSON; charset=UTF-8", "content-encoding": "gzip"}
    packed = gzip.compress(lines[:100]) + gzip.compress(lines[100:])
    answer = service.ask("POST", "/v1/rankings", packed, headers=said)
    assert answer.json()["accepted"] == 3
    assert statuses(service, "/v1/rankings", events) == ["duplicate"] * 3


def test_a_batch_again_changes_nothing(service):
    events = [make_ranking(number) for number in range(100)]
    assert statuses(service, "/v1/rankings", events) == ["accepted"] * 100
    seq = service.store.last_seq
    assert statuses(service, "/v1/rankings", events[::-1]) == ["duplicate"] * 100
    assert service.store.last_seq == seq
    assert service.store.counters("music") == {"accepted": 100, "duplicate": 100}


def test_an_id_with_other_content_is_a_conflict_and_the_first_stays(service):
    other = make_ranking(1, user_id="u")
    answer = service.post("/v1/rankings", [make_ranking(1), other, make_ranking(2)]).json()
    assert [item["status"] for item in answer["items"]] == ["accepted", "conflict", "accepted"]
    assert answer["items"][1]["code"] == "event_conflict"
    assert service.store.find_ranking("music", "r1").user_id == ""
    assert service.store.counters("music")["conflict"] == 1


def test_a_bad_one_keeps_none_from_the_others(service):
    events = [make_ranking(number) for number in range(100)]
    events[57]["items"][1]["rank"] = 1
    answer = service.post("/v1/rankings", events).json()
    assert (answer["accepted"], answer["rejected"]) == (99, 1)
    refused = answer["items"][57]
    assert (refused["status"], refused["code"]) == ("rejected", "duplicate_rank")
    assert refused["message"].startswith("expected ")
    assert service.store.counters("music") == {"accepted": 99, "duplicate_rank": 1}


@pytest.mark.parametrize("path", ["/v1/rankings", "/v1/labels"])
def test_a_plain_body_is_decoded_in_this_process_and_any_other_elsewhere(make_service, path):
    works = []

    def run(work):
        works.append(work)
        return work(service.store)

    service = make_service(run=run)
    make = make_ranking if path == "/v1/rankings" else make_label

    def count_works(body, accepted, encoding="identity"):
        works.clear()
        said = {"content-encoding": encoding}
        answer = service.ask("POST", path, body, headers=said)
        assert (answer.status_code, answer.json()["accepted"]) == (200, accepted)
        assert [item["status"] for item in answer.json()["items"]].count("accepted") == accepted
        return len(works)

    many = [make(number) for number in range(1000)]
    body = json.dumps(many).encode()
    assert SMALL_BYTES < len(body) < LARGE_BYTES
    assert count_works(body, 1000) == 0
    assert count_works(json.dumps([*many, {}]).encode(), 0) == 1
    assert count_works(gzip.compress(body), 0, "gzip") == 1
    assert count_works(body + b" " * LARGE_BYTES, 0) == 1
    # What is small takes little time, whatever it is.
    assert count_works(json.dumps([make(1000), {}]).encode(), 1) == 0
    counted = {"accepted": 1001, "duplicate": 3000, "missing_field": 2}
    assert service.store.counters("music") == counted


def test_rejections_alone_are_counted(service):
    answer = service.post("/v1/labels", [make_label(1, time="yesterday"), 5, None, []]).json()
    assert [item["code"] for item in answer["items"]] == ["time_format", *["json_type"] * 3]
    assert service.store.counters("music") == {"time_format": 1, "json_type": 3}


def test_unknown_fields_are_counted_and_named(service):
    answer = service.post("/v1/rankings", make_ranking(1, project="films", color="red"))
    assert answer.json()["unknown_fields"] == {"project": 1, "color": 1}
    assert service.store.counters("music") == {"accepted": 1, "unknown_field": 2}
    assert service.store.projects() == ["music"]


def test_labels_logged_with_a_ranking_are_of_its_answer(service):
    events = [make_ranking(number) for number in range(3)]
    events[1]["items"][0]["labels"] = ["click"]
    assert statuses(service, "/v1/rankings", events) == ["accepted"] * 3
    assert len(service.store.find_labels("music", "r1")) == 1
    assert statuses(service, "/v1/rankings", events[1]) == ["duplicate"]
    events[1]["items"][0]["labels"] = ["buy"]
    assert statuses(service, "/v1/rankings", events[1]) == ["conflict"]


def test_a_line_that_is_no_event_is_refused_alone(service):
    good = [json.dumps(make_ranking(number)).encode() for number in range(len(LINES))]
    body = b"\n".join(b"\n".join((line, one)) for (line, _), one in zip(LINES, good, strict=True))
    said = {"content-type": "application/x-ndjson"}
    answer = service.ask("POST", "/v1/rankings", body, headers=said)
    assert answer.status_code == 200
    told = [(item["status"], item.get("code")) for item in answer.json()["items"]]
    assert told[::2] == [("rejected", code) for _, code in LINES]
    assert told[1::2] == [("accepted", None)] * len(LINES)
    counted = Counter(code for _, code in LINES)
    assert service.store.counters("music") == {"accepted": len(LINES), **counted}


def test_many_at_the_same_time_are_stored_once(service):
    body = json.dumps([make_ranking(number) for number in range(50)]).encode()
    requests = [("POST", "/v1/rankings", body, service.headers(""))] * 8
    answers = [answer.json() for answer in service.ask_all(requests)]
    assert sum(answer["accepted"] for answer in answers) == 50
    assert sum(answer["duplicate"] for answer in answers) == 350


@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("store_overloaded", 429),
        ("store_busy", 503),
        ("store_full", 507),
        ("store_failed", 503),
        ("store_closed", 503),
        ("io", 500),
    ],
)
def test_what_the_store_does_not_take_is_not_accepted(service, make_service, code, status):
    full = FileError("expected room in /var/lib/x.db", code=code, file="/var/lib/x.db")
    refusing = make_service(store=Refusing(service.store, full))
    answer = refusing.post("/v1/rankings", make_ranking(1))
    assert answer.status_code == status
    assert ("retry-after" in answer.headers) == (status != 500)
    assert answer.json()["error"]["code"] == (code if status != 500 else "internal")
    assert "/var" not in answer.text
    assert service.store.last_seq == 0
    assert refusing.last_line()["status"] == status


def test_requests_that_are_refused_are_counted_by_reason(make_service):
    service = make_service(Settings(key_burst=6, batch=2))
    for body, headers in [
        (b"{", {}),
        (b"", {}),
        (b"{}", {"content-type": "text/plain"}),
        (b"{}", {"content-encoding": "br"}),
        (b"[{}, {}, {}]", {}),
        (b"[{}]", {"content-length": "99999999"}),
        (b"[{}]", {}),
    ]:
        service.ask("POST", "/v1/rankings", body, headers=headers)
    # Nobody who has no key for it writes into the store.
    service.post("/v1/rankings", {}, key=None)
    service.post("/v1/rankings", {}, key=service.make_key("music", "read"))
    assert service.counters() == {
        "request:batch_too_large": 1,
        "request:body_too_large": 1,
        "request:content_encoding": 1,
        "request:content_type": 1,
        "request:empty_body": 1,
        "request:json_syntax": 1,
        "request:rate_limit": 1,
    }


def test_what_the_store_cannot_count_now_it_counts_later(service, make_service):
    store = Refusing(service.store, FileError("too much", code="store_overloaded"))
    refusing = make_service(store=store)
    for number in (1, 2):
        assert refusing.post("/v1/rankings", make_ranking(number)).status_code == 429
    store.error = None
    assert refusing.ask("POST", "/v1/rankings", b"{").status_code == 400
    assert refusing.counters() == {"request:json_syntax": 1, "request:store_overloaded": 2}


CONFIGURATION = Configuration(
    definition=define(positive="click", window="1h"), attributes=("device",), baseline=None
)


@pytest.mark.parametrize("count", [2, 1000])
def test_an_attribute_that_has_bins_is_a_number(service, count):
    configuration = {
        "definition": {"attribution": {"positive": {"click": 1}}, "window": "1h"},
        "attributes": ["price"],
        "bins": {"price": [10, 25]},
    }
    key = service.make_key("music", "admin")
    body = json.dumps(configuration).encode()
    answer = service.ask("PUT", "/v1/configuration", body, key=key)
    assert answer.json()["bins"] == {"price": [10, 25]}
    events = [make_ranking(at, attributes={"price": at / 10}) for at in range(count)]
    events[1]["attributes"]["price"] = "12,5"
    for text in (json.dumps(events), "\n".join(map(json.dumps, events))):
        form = "application/json" if text.startswith("[") else "application/x-ndjson"
        told = service.ask(
            "POST", "/v1/rankings", text.encode(), headers={"content-type": form}
        ).json()
        assert told["rejected"] == 1
        assert told["items"][1]["code"] == "attribute_number"
        assert told["items"][1]["field"] == "attributes.price"
    prices = {dict(one.attributes)["price"] for one in service.store.contexts("music").values()}
    known = {"below 10", "10 to below 25", "25 or more"}
    assert prices == (known if count > 250 else {"below 10"})


def test_the_answer_names_what_does_not_match(service):
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


def test_before_a_project_is_configured_nothing_is_said(service):
    assert service.post("/v1/labels", make_label(1, labels="Click")).json()["mismatches"] == []


def find_unmatched(service, docs, **headers):
    labels = [
        make_label(place, event_id=f"{docs} {place}", doc_id=doc) for place, doc in enumerate(docs)
    ]
    body = json.dumps(labels).encode()
    body = gzip.compress(body) if headers else body
    found = service.ask("POST", "/v1/labels", body, headers=headers).json()["mismatches"]
    return [(one["count"], one["of"]) for one in found if one["kind"] == "unmatched_label"]


def test_the_answer_says_that_labels_match_no_document(service, monkeypatch):
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


def test_labels_of_a_damaged_ranking_are_accepted(service):
    service.store.configure("music", CONFIGURATION.to_json(), NOW, "test")
    service.post("/v1/rankings", make_ranking(0))
    damage = update(bodies).values(body=b"damaged")
    service.store.transact(lambda transaction: transaction.connection.execute(damage)).result()
    answer = service.post("/v1/labels", make_label(0, doc_id="x")).json()
    assert (answer["accepted"], answer["mismatches"]) == (1, [])
