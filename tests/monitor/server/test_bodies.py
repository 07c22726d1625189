from __future__ import annotations

import asyncio
import gzip
import io
import json
import random
import zlib

import pyarrow as pa
import pytest
from rankscope.errors import FormatError
from rankscope.monitor.intake.streams import read_stream
from rankscope.monitor.server.http.body import gunzip
from rankscope.monitor.server.http.problems import RefusedRequestError
from rankscope.monitor.server.http.settings import Settings

from tests.monitor.server.service import make_label, make_ranking

PACKED = {"content-encoding": "gzip"}


def refuse(service, body, **headers):
    """The status and code of a request that is refused, after which nothing is stored."""
    said = {name.replace("_", "-"): value for name, value in headers.items()}
    answer = service.ask("POST", "/v1/rankings", body, headers=said)
    assert service.store.last_seq == 0
    assert service.last_line()["status"] == answer.status_code
    code = answer.json()["error"]["code"]
    assert service.last_line()["code"] == code
    return answer.status_code, code


MIB = 1 << 20
EMPTY, BRACES = (gzip.compress(plain, mtime=0) for plain in (b"", b"{}"))
NO_JSON = [
    (b"", "empty_body"),
    (b" \r\n\t", "empty_body"),
    (b"[]", "empty_body"),
    (b"\xef\xbb\xbf{}", "json_syntax"),
    ("{}".encode("utf-16"), "not_utf8"),
    (b'{"a": "\xff"}', "not_utf8"),
    (b"{} {}", "json_syntax"),
    (b"{}\n{}", "json_syntax"),
    (b"[{},]", "json_syntax"),
    (b"[" * 100_000, "depth"),
    (b'{"a":' * 100_000, "depth"),
    (b"\0", "json_syntax"),
]
GZIPS = [
    (gzip.compress(b" " * 17 * MIB, mtime=0), 413, "body_too_large"),  # too much
    (gzip.compress(b" " * 2 * MIB, mtime=0), 413, "body_too_large"),  # for how little it was
    (EMPTY * 101, 413, "body_too_large"),
    (EMPTY * 50_000, 413, "body_too_large"),
    *((body, 400, "bad_gzip") for body in (b"", b"{}", BRACES[:-1], BRACES + b"\0")),
    (BRACES[:-8] + b"\0" * 8, 400, "bad_gzip"),
    (zlib.compress(b"{}"), 400, "bad_gzip"),
    (gzip.compress(BRACES, mtime=0), 400, "not_utf8"),
    (EMPTY, 400, "empty_body"),
]
TYPES = [
    *("", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"),
    *("application/json; charset=latin-1", "application/json, application/json"),
    "application/vnd.apache.parquet",
]
REFUSED = [
    *((body, {}, 400, code) for body, code in NO_JSON),
    *((body, PACKED, status, code) for body, status, code in GZIPS),
    *((b"{}", {"content_type": form}, 415, "content_type") for form in TYPES),
    *(
        (b"{}", {"content_encoding": encoding}, 415, "content_encoding")
        for encoding in ("br", "deflate", "gzip, gzip", "zstd", "gzip;q=1")
    ),
]


@pytest.mark.parametrize(("body", "headers", "status", "code"), REFUSED)
def test_a_body_that_cannot_be_read_is_refused(shared, body, headers, status, code):
    assert refuse(shared, body, **headers) == (status, code)


def test_a_length_beyond_the_limit_is_refused_before_the_body_is_read(make_service):
    service = make_service(Settings(body_bytes=100))

    async def send():
        raise AssertionError("it was read")
        yield b""

    for length in ("101", "9" * 400):
        assert refuse(service, send(), content_length=length) == (413, "body_too_large")
    for length in ("-1", "1e3", "0x10", ""):
        assert refuse(service, b"{}", content_length=length) == (400, "content_length")


def test_a_body_without_length_is_read_up_to_the_limit(make_service):
    service = make_service(Settings(body_bytes=100))
    sent = 0

    async def send():
        nonlocal sent
        while True:
            sent += 1
            yield b" " * 30

    assert refuse(service, send()) == (413, "body_too_large")
    assert sent == 4


def test_a_body_that_never_ends_is_given_up(make_service):
    service = make_service(Settings(body_seconds=0.01))

    async def send():
        yield b"{"
        await asyncio.Event().wait()

    assert refuse(service, send()) == (408, "body_timeout")


def test_bodies_that_are_too_many_at_a_time_come_back_later(make_service):
    body = json.dumps([make_ranking(number) for number in range(20)]).encode()
    service = make_service(Settings(held_bytes=len(body)))
    requests = [("POST", "/v1/rankings", body, service.headers(""))] * 5
    answers = service.ask_all(requests)
    statuses = sorted(answer.status_code for answer in answers)
    assert (statuses[0], statuses[-1], set(statuses)) == (200, 503, {200, 503})
    assert all("retry-after" in one.headers for one in answers if one.status_code == 503)
    # What was held is let go.
    assert service.ask(*requests[0][:3]).json()["duplicate"] == 20


def test_a_batch_has_a_limit(make_service):
    service = make_service(Settings(batch=3))
    events = [make_ranking(number) for number in range(4)]
    assert refuse(service, json.dumps(events).encode()) == (413, "batch_too_large")
    lines = "\n".join(map(json.dumps, events)).encode()
    assert refuse(service, lines, content_type="application/x-ndjson") == (413, "batch_too_large")
    assert service.post("/v1/rankings", events[:3]).json()["accepted"] == 3


@pytest.mark.parametrize("size", [0, 1, 65_535, 65_536, 65_537, 1_000_000])
def test_gzip_gives_what_was_packed(size):
    plain = zlib.compress(bytes(range(256)) * 4000)[:size] + bytes(range(256)) * (size // 256)
    half = len(plain) // 2
    packed = gzip.compress(plain[:half]) + gzip.compress(plain[half:])
    assert gunzip(packed, Settings()) == plain
    assert gunzip(packed, Settings(plain_bytes=len(plain))) == plain
    if plain:
        with pytest.raises(RefusedRequestError):
            gunzip(packed, Settings(plain_bytes=len(plain) - 1))


def test_nothing_is_stored_of_a_body_whose_client_disconnects(shared):
    before = shared.counters()
    half = {"type": "http.request", "body": b'{"ranking_id":', "more_body": True}
    told = shared.abandon("POST", "/v1/rankings", half)
    assert (told, shared.counters(), shared.store.last_seq) == ([], before, 0)
    assert shared.last_line()["status"] == 499


ARROW = "application/vnd.apache.arrow.stream"
EVENTS = [make_ranking(number) for number in range(3)]


def write_stream(table, **options):
    stream = io.BytesIO()
    made = pa.ipc.IpcWriteOptions(**options)
    with pa.ipc.new_stream(stream, table.schema, options=made) as writer:
        writer.write_table(table)
    return stream.getvalue()


def post_stream(service, path, body):
    return service.ask("POST", path, body, headers={"content-type": ARROW})


def list_of(events):
    """A ranking a row."""
    heads = [{name: value for name, value in one.items() if name != "items"} for one in events]
    rows = [
        head | {name: [item[name] for item in one["items"]] for name in one["items"][0]}
        for head, one in zip(heads, events, strict=True)
    ]
    return pa.Table.from_pylist(rows)


def documents_of(events):
    """A document a row."""
    rows = [
        {name: value for name, value in one.items() if name not in {"items", "attributes"}} | item
        for one in events
        for item in one["items"]
    ]
    return pa.Table.from_pylist(rows)


@pytest.mark.parametrize(
    ("path", "events", "make"),
    [
        ("/v1/rankings", EVENTS, list_of),
        ("/v1/rankings", [one | {"attributes": {}} for one in EVENTS], documents_of),
        ("/v1/labels", [make_label(number) for number in range(3)], pa.Table.from_pylist),
    ],
)
def test_events_of_a_stream_are_those_of_json(service, path, events, make):
    answer = post_stream(service, path, write_stream(make(events)))
    assert (answer.status_code, answer.json()["accepted"]) == (200, 3)
    assert service.post(path, events).json()["duplicate"] == 3


def test_what_is_rejected_says_which_and_why(service):
    events = [EVENTS[0], EVENTS[1] | {"time": 0}, EVENTS[2]]
    table = list_of([one | {"time": 1} for one in events])
    answer = post_stream(service, "/v1/rankings", write_stream(table)).json()
    assert [item["code"] for item in answer["items"]] == ["too_old"] * 3


TABLE = pa.table({"ranking_id": ["a", "b"], "doc_id": [["x"], ["y", "z"]], "time": [1, 2]})


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b"", 400, "bad_arrow"),
        (b"[]", 400, "bad_arrow"),
        (write_stream(TABLE)[:300], 400, "bad_arrow"),
        (write_stream(TABLE, compression="zstd"), 400, "bad_arrow"),
        (write_stream(pa.table({"a": pa.array(["x", "y"]).dictionary_encode()})), 400, "bad_arrow"),
        (write_stream(pa.table({"a": pa.nulls(1_000_000)})), 400, "bad_arrow"),
        (write_stream(pa.table({"a": pa.array([[]], pa.list_(pa.struct([])))})), 400, "bad_arrow"),
        (write_stream(TABLE.slice(0, 0)), 400, "empty_body"),
        (write_stream(pa.table({"a": [1]})), 422, "columns"),
        (write_stream(pa.table({"qid": ["a"], "ranking_id": ["a"]})), 422, "ambiguous_field"),
        (
            write_stream(pa.table({"query_id": ["a"] * 20_000, "doc_ids": [["a"]] * 20_000})),
            413,
            "batch_too_large",
        ),
    ],
)
def test_a_stream_that_is_refused(service, body, status, code):
    answer = post_stream(service, "/v1/rankings", body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    assert service.store.last_seq == 0


def count_rows(body):
    try:
        return sum(len(part.places) for part in read_stream(body, 100))
    except FormatError as error:
        return error.code


def test_a_damaged_stream_is_refused_or_read():
    chance, whole = random.Random(7), write_stream(TABLE)
    assert count_rows(whole) == 2
    for _ in range(500):
        damaged = bytearray(whole)
        for _ in range(chance.choice([1, 1, 2, 4])):
            damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        assert count_rows(bytes(damaged)) in {0, 1, 2, "bad_arrow"}


@pytest.mark.parametrize("is_map", [False, True], ids=["struct", "map"])
def test_attributes_are_a_column_of_structs_or_maps(service, *, is_map):
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
    answer = post_stream(service, "/v1/rankings", write_stream(table)).json()
    assert (answer["accepted"], answer["unknown_fields"]) == (1, {"color": 1})
    found = service.store.find_ranking("music", "a")
    assert found is not None
    assert found.attributes == (("device", "tv"),)
