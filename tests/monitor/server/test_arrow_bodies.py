"""Streams of Arrow as bodies: they say what JSON says, and nothing that is sent does harm."""

from __future__ import annotations

import io
import random

import pyarrow as pa
import pytest
from rankscope.errors import FormatError
from rankscope.monitor.intake.streams import read_stream

from tests.monitor.server.service import Service, make_label, make_ranking

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

ARROW = "application/vnd.apache.arrow.stream"
EVENTS = [make_ranking(number) for number in range(3)]


def write(table: pa.Table, **options: Any) -> bytes:  # noqa: ANN401 - options of Arrow's writer
    stream = io.BytesIO()
    made = pa.ipc.IpcWriteOptions(**options)
    with pa.ipc.new_stream(stream, table.schema, options=made) as writer:
        writer.write_table(table)
    return stream.getvalue()


def post(service: Service, path: str, body: bytes) -> Any:  # noqa: ANN401 - an answer
    return service.ask("POST", path, body, headers={"content-type": ARROW})


def list_of(events: list[dict[str, Any]]) -> pa.Table:
    """A ranking a row."""
    heads = [{name: value for name, value in one.items() if name != "items"} for one in events]
    rows = [
        head | {name: [item[name] for item in one["items"]] for name in one["items"][0]}
        for head, one in zip(heads, events, strict=True)
    ]
    return pa.Table.from_pylist(rows)


def documents_of(events: list[dict[str, Any]]) -> pa.Table:
    """A document a row."""
    rows = [
        {name: value for name, value in one.items() if name not in {"items", "attributes"}} | item
        for one in events
        for item in one["items"]
    ]
    return pa.Table.from_pylist(rows)


def test_rankings_as_rows_of_lists_are_those_of_json(service: Service) -> None:
    answer = post(service, "/v1/rankings", write(list_of(EVENTS)))
    assert answer.status_code == 200
    assert answer.json()["accepted"] == 3
    assert service.post("/v1/rankings", EVENTS).json()["duplicate"] == 3


def test_rankings_as_rows_of_documents_are_those_of_json(service: Service) -> None:
    events = [{**one, "attributes": {}} for one in EVENTS]
    answer = post(service, "/v1/rankings", write(documents_of(events)))
    assert answer.status_code == 200
    assert answer.json()["accepted"] == 3
    assert service.post("/v1/rankings", events).json()["duplicate"] == 3


def test_labels_are_those_of_json(service: Service) -> None:
    labels = [make_label(number) for number in range(3)]
    answer = post(service, "/v1/labels", write(pa.Table.from_pylist(labels)))
    assert answer.json()["accepted"] == 3
    assert service.post("/v1/labels", labels).json()["duplicate"] == 3


def test_what_is_rejected_says_which_and_why(service: Service) -> None:
    events = [EVENTS[0], EVENTS[1] | {"time": 0}, EVENTS[2]]
    table = list_of([one | {"time": 1} for one in events])
    answer = post(service, "/v1/rankings", write(table)).json()
    assert [item["code"] for item in answer["items"]] == ["too_old"] * 3


TABLE = pa.table({"ranking_id": ["a", "b"], "doc_id": [["x"], ["y", "z"]], "time": [1, 2]})


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b"", 400, "bad_arrow"),
        (b"[]", 400, "bad_arrow"),
        (write(TABLE)[:300], 400, "bad_arrow"),
        (write(TABLE, compression="zstd"), 400, "bad_arrow"),
        (write(pa.table({"a": pa.array(["x", "y"]).dictionary_encode()})), 400, "bad_arrow"),
        (write(pa.table({"a": pa.nulls(1_000_000)})), 400, "bad_arrow"),
        (write(pa.table({"a": pa.array([[]], pa.list_(pa.struct([])))})), 400, "bad_arrow"),
        (write(TABLE.slice(0, 0)), 400, "empty_body"),
        (write(pa.table({"a": [1]})), 422, "columns"),
        (write(pa.table({"qid": ["a"], "ranking_id": ["a"]})), 422, "ambiguous_field"),
        (
            write(pa.table({"query_id": ["a"] * 20_000, "doc_ids": [["a"]] * 20_000})),
            413,
            "batch_too_large",
        ),
    ],
)
def test_a_stream_that_is_refused(service: Service, body: bytes, status: int, code: str) -> None:
    answer = post(service, "/v1/rankings", body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    assert service.store.last_seq == 0


def count_rows(body: bytes) -> int | str:
    """The rows of a stream, or the code of the error with which it is refused."""
    try:
        return sum(len(part.places) for part in read_stream(body, 100))
    except FormatError as error:
        return error.code


def test_a_damaged_stream_is_refused_or_read() -> None:
    chance, whole = random.Random(7), write(TABLE)
    assert count_rows(whole) == 2
    for _ in range(500):
        damaged = bytearray(whole)
        for _ in range(chance.choice([1, 1, 2, 4])):
            damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        assert count_rows(bytes(damaged)) in {0, 1, 2, "bad_arrow"}


@pytest.mark.parametrize("is_map", [False, True], ids=["struct", "map"])
def test_attributes_are_a_column_of_structs_or_maps(service: Service, *, is_map: bool) -> None:
    kind = pa.map_(pa.string(), pa.string()) if is_map else pa.struct([("device", pa.string())])
    told = [("device", "tv")] if is_map else {"device": "tv"}
    table = pa.table(
        {
            "ranking_id": ["a"],
            "time": [EVENTS[0]["time"]],
            "doc_ids": [["x", "y"]],
            "attributes": pa.array([told], kind),
            "color": ["red"],
        }
    )
    answer = post(service, "/v1/rankings", write(table)).json()
    assert (answer["accepted"], answer["unknown_fields"]) == (1, {"color": 1})
    found = service.store.find_ranking("music", "a")
    assert found is not None
    assert found.attributes == (("device", "tv"),)
