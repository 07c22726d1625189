from __future__ import annotations

import gzip
import json
import signal
import socket
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace

import httpx
import pytest
from httptools import HttpParserError
from rankscope import FileError, UsageError
from rankscope.errors import FormatError
from rankscope.monitor.events.limits import DAY, HOUR, SECOND
from rankscope.monitor.events.times import read_clock
from rankscope.monitor.monitor import Monitor
from rankscope.monitor.rules.kinds import Rule
from rankscope.monitor.server import metrics
from rankscope.monitor.server.access.rates import RateLimiter
from rankscope.monitor.server.access_log import trace_places
from rankscope.monitor.server.api import causes, values
from rankscope.monitor.server.api.fields import check_span
from rankscope.monitor.server.http.body import gunzip
from rankscope.monitor.server.http.problems import RefusedRequestError
from rankscope.monitor.server.http.query import parse_pairs
from rankscope.monitor.server.http.settings import Settings
from rankscope.monitor.server.metrics import find_windows
from rankscope.monitor.server.run.connections import BoundedProtocol, Connections
from rankscope.monitor.server.run.schedule import Scheduler
from rankscope.monitor.server.run.service import serve_store
from rankscope.monitor.shapes import _check_texts
from rankscope.monitor.store.keys import make_key
from rankscope.monitor.store.sqlite.store import SQLiteStore

from tests.monitor.server.music import MUSIC, make_click, make_search
from tests.monitor.server.service import NOW, Refusing, make_ranking
from tests.refusals import refuses

SERVER = Path(__file__).with_name("server.py")


@pytest.fixture
def process(tmp_path):
    """A service whose project has had a rule for 30 hours."""
    with SQLiteStore(tmp_path / "events.db") as store:
        monitor = Monitor(store, clock=lambda: read_clock() - 30 * HOUR)
        monitor.configure(MUSIC)
        monitor.set_rule(Rule(name="quality", measure="nDCG@5", period="hour"))
    with (
        (tmp_path / "log").open("w") as log,
        subprocess.Popen(
            [sys.executable, str(SERVER), str(tmp_path / "events.db"), "0.01"],
            stdout=subprocess.PIPE,
            stderr=log,  # nobody reads a pipe while the service is asked
            text=True,
        ) as made,
    ):
        yield made
        made.kill()


@pytest.mark.slow
def test_it_evaluates_and_notifies_by_itself(process, tmp_path):
    assert process.stdout is not None
    start = read_clock() - 30 * HOUR
    searches = [
        make_search(
            number,
            time=start + number * 60 * SECOND,
            version="3" if number < 120 else "4",
            user_id=f"u{number}",
        )
        for number in range(240)
    ]
    # People choose the first document of version 3, and the last one of version 4.
    clicks = [make_click(search, 4 * (n >= 120)) for n, search in enumerate(searches)]
    for number, click in enumerate(clicks):
        click["event_id"] = f"l{number}"
    with httpx.Client(base_url=process.stdout.readline().strip(), timeout=300) as client:
        for path, events in (("/v1/rankings", searches), ("/v1/labels", clicks)):
            assert client.post(path, json=events).json()["accepted"] == len(events)
        deadline = time.monotonic() + 300
        told, evaluated = [], 0
        while not (told and evaluated == len(searches)) and time.monotonic() < deadline:
            notified = client.get("/v1/notifications").json()["notifications"]
            told = [one["id"] for one in notified if one["status"] == "delivered"]
            series = client.get("/v1/series", params={"measure": "nDCG@5"}).json()
            evaluated = sum(series["rankings"])
        assert evaluated == len(searches)
        assert client.get("/readyz").json()["status"] == "ready"
        assert client.get("/settings", headers={"accept": "text/html"}).status_code == 200
        assert "rankscope_rule_state{" in client.get("/metrics").text
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=300) == 0
    lines = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    assert {line["event"] for line in lines} == {"request", "incidents.changed"}
    changes = [line for line in lines if line["event"] == "incidents.changed"]
    parts = [part for line in changes for part in line["incidents"]]
    assert not any("notified" in part for part in parts)
    assert {(part["rule"], part["stream"]["version"]) for part in parts} == {("quality", "4")}
    assert {line["id"] for line in changes} >= set(told) != set()


@pytest.mark.slow
def test_without_files_for_connections_it_waits_and_goes_on(tmp_path):
    command = [sys.executable, str(SERVER), str(tmp_path / "events.db"), "0.01"]
    with subprocess.Popen(
        ["/bin/sh", "-c", 'ulimit -n 64; exec "$@"', "sh", *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        port = int(address.rstrip("/").rpartition(":")[2])
        with ExitStack() as held:
            for _ in range(100):
                held.enter_context(socket.create_connection(("127.0.0.1", port)))
            with pytest.raises(httpx.TimeoutException):
                httpx.get(f"{address}healthz", timeout=2)
        with httpx.Client(base_url=address, timeout=300) as client:
            search = make_search(1, time=read_clock())
            assert client.post("/v1/rankings", json=[search]).json()["accepted"] == 1
            assert client.get("/healthz").json() == {"status": "ok"}
        process.send_signal(signal.SIGTERM)
        _, log = process.communicate(timeout=300)
    assert process.returncode == 0
    said = [json.loads(line) for line in log.splitlines()]
    waiting = [line["problem"] for line in said if line["event"] == "connections.waiting"]
    assert waiting == ["EMFILE"]


def test_readiness_says_whether_evaluation_lags(make_service):
    now = NOW
    scheduler = Scheduler(list, lambda _: None, seconds=10, now=lambda: now, report=lambda *_: None)
    service = make_service(is_late=lambda: scheduler.is_late)
    ready = {"status": "ready", "evaluation": "on time"}
    assert service.ask("GET", "/readyz", key=None).json() == ready
    now += HOUR
    late = service.ask("GET", "/readyz", key=None)
    assert (late.status_code, late.json()) == (200, ready | {"evaluation": "late"})


@pytest.fixture
def refusing(service, make_service):
    return make_service(store=Refusing(service.store))


def is_ready(service):
    """Whether it says so, in both ways in which it says it."""
    answer = service.ask("GET", "/readyz", key=None)
    ready = answer.status_code == 200
    assert (answer.status_code, answer.json()["status"]) == (
        (200, "ready") if ready else (503, "not ready")
    )
    return ready


@pytest.mark.parametrize("code", ["store_full", "store_failed", "store_closed", "io"])
def test_it_is_not_ready_while_events_are_refused(refusing, code):
    assert is_ready(refusing)
    refusing.store.error = FileError("expected room, found none", code=code)
    assert refusing.post("/v1/rankings", make_ranking(1)).status_code >= 500
    refusing.seconds += 5
    assert not is_ready(refusing)
    assert refusing.ask("GET", "/healthz", key=None).status_code == 200
    refusing.store.error = None
    refusing.seconds += 1
    assert is_ready(refusing)
    assert refusing.post("/v1/rankings", make_ranking(1)).status_code == 200


@pytest.mark.parametrize(
    ("code", "seconds"), [("", 5.0), ("store_busy", 1.0), ("file_disk_full", 1.0)]
)
def test_a_write_is_tried_every_five_seconds_and_every_second_while_events_are_refused(
    refusing, code, seconds
):
    refusing.store.error = FileError("busy", code=code) if code else None
    for refusing.seconds, probes in ((0.0, 1), (seconds - 0.001, 1), (seconds, 2)):
        refusing.ask("GET", "/readyz", key=None)
        assert refusing.store.probes == probes


@pytest.mark.parametrize(("seconds", "stays"), [(9.999, True), (10.0, False), (10.001, False)])
def test_a_service_whose_store_is_busy_for_ten_seconds_is_not_ready(refusing, seconds, *, stays):
    refusing.store.error = FileError("busy", code="store_busy")
    assert is_ready(refusing)
    refusing.seconds = seconds
    assert is_ready(refusing) == stays


def test_it_listens_where_nobody_else_does(tmp_path):
    told = []

    def serve_again(address):
        told.append(address)
        port = int(address.rstrip("/").rpartition(":")[2])
        serve_store(store, port=port, announce=told.append)

    with (
        SQLiteStore(tmp_path / "events.db") as store,
        pytest.raises(FileError, match="can't listen on"),
    ):
        serve_store(store, port=0, announce=serve_again)
    assert len(told) == 1


def test_it_is_open_to_others_only_where_keys_are_needed(tmp_path):
    class AnnouncedError(Exception):
        pass

    def stop(_address):
        raise AnnouncedError

    with SQLiteStore(tmp_path / "events.db") as store:
        with pytest.raises(UsageError, match="expected people or keys"):
            serve_store(store, host="0.0.0.0", port=0, announce=stop)  # noqa: S104 - the question
        key, _ = make_key("music", ["read"], name="test", now=0)
        store.add_key(key, "test")
        with pytest.raises(AnnouncedError):
            serve_store(store, host="0.0.0.0", port=0, announce=stop)  # noqa: S104
        store.revoke_key("music", key.key_id, 1, "test")
        with refuses(UsageError, "no_keys"):
            serve_store(store, host="0.0.0.0", port=0, announce=stop)  # noqa: S104


MIB = 1 << 20
MOMENT = 20_000 * DAY


def is_refused(call, *said, **named):
    try:
        call(*said, **named)
    except (RefusedRequestError, FormatError, UsageError):
        return True
    return False


@pytest.mark.parametrize("count", [99_999, 100_000, 100_001])
def test_the_rates_of_100_000_names_are_known(count):
    rates = RateLimiter(1.0, 1, lambda: 0.0)
    assert rates.take("first") == 0
    rates._buckets |= {str(number): (0.0, 0.0) for number in range(count - 2)}
    rates.take("last")
    # What is forgotten begins with a full bucket.
    assert rates.take("first") == (1 if count <= 100_000 else 0)


@pytest.mark.parametrize("count", [499, 500, 501])
def test_a_form_has_at_most_500_fields(count):
    assert is_refused(parse_pairs, "&".join(["a=1"] * count)) == (count > 500)


@pytest.mark.parametrize("length", [(1 << 18) - 1, 1 << 18, (1 << 18) + 1])
def test_a_text_in_a_body_has_at_most_256_kib(length):
    text = "x" * length
    for value in (text, [text], {"a": text}, {text: 1}):
        assert is_refused(_check_texts, value) == (length > 1 << 18)


@pytest.mark.parametrize("size", [MIB - 1, MIB, MIB + 1])
def test_a_body_may_be_packed_as_well_as_can_be_up_to_a_mebibyte(size):
    # 250 times its size is less than that.
    assert is_refused(gunzip, gzip.compress(bytes(size)), Settings()) == (size > MIB)


@pytest.mark.parametrize("windows", [4999, 5000, 5001])
def test_an_answer_has_at_most_5_000_windows(windows, monkeypatch):
    for every, length in (("hour", HOUR), ("day", DAY)):
        query = {"since": MOMENT - windows * length}
        assert is_refused(check_span, query, MOMENT, every) == (windows > 5000)
    monkeypatch.setattr(values, "check_span", lambda *_: None)
    monkeypatch.setattr(values, "order_slice", lambda parts, _: parts)
    rows = [(number,) for number in range(windows)]
    table = SimpleNamespace(names=["rank"], rows=lambda: rows)

    class Series(list[int]):
        every = "hour"

        def to_dict(self):
            return {}

    monitor = SimpleNamespace(
        clock=lambda: MOMENT,
        configuration=None,
        series=lambda *_, **__: Series(range(windows)),
        slices=lambda *_, **__: table,
    )
    call = SimpleNamespace(query={"measure": "nDCG@5"})
    assert is_refused(values.get_series, monitor, call) == (windows > 5000)
    found = values.get_slices(monitor, call)
    assert (len(found["slices"]), found["left_out"]) == (min(windows, 5000), max(windows - 5000, 0))


def test_a_trace_and_a_comparison_read_a_million_rankings():
    asked = []

    class Asked(Exception):  # noqa: N818 - no error
        pass

    def ask(*_, **said):
        asked.append(said.get("sample") or said["most_rankings"])
        raise Asked

    monitor = SimpleNamespace(
        clock=lambda: MOMENT, trace=ask, compare=ask, suggest_spans=lambda: ("before", "after")
    )
    for get in (causes.get_trace, causes.get_comparison):
        call = SimpleNamespace(query={})
        with pytest.raises(Asked):
            get(monitor, call)
    assert asked == [1_000_000] * 2


@pytest.mark.parametrize("depth", [19, 20, 21])
def test_the_last_20_frames_of_an_error_are_logged(depth):
    def fail(left):
        if left == 1:
            raise ValueError("deep")
        fail(left - 1)

    with pytest.raises(ValueError, match="deep") as raised:
        fail(depth - 1)
    found = trace_places(raised.value)
    assert len(found) == min(depth, 20)
    assert found[-1].endswith(" fail")


@pytest.mark.parametrize(("every", "days"), [("hour", 15), ("day", 28)])
def test_metrics_are_of_versions_that_ranked_in_the_last_two_weeks(every, days, monkeypatch):
    asked = []

    def find(*said):
        asked.append(said[4])
        return []

    monkeypatch.setattr(metrics, "find_newest_cells", find)
    definition = SimpleNamespace(window=3600)
    monitor = SimpleNamespace(
        clock=lambda: MOMENT + HOUR + {"hour": HOUR, "day": DAY}[every],
        configuration=SimpleNamespace(definition=definition, digest=b""),
        store=None,
        project="music",
    )
    find_windows(monitor, every)
    # The newest window of a version may begin a day or two weeks before its last ranking.
    assert asked == [MOMENT - days * DAY]


def make_protocol():
    """A connection without a socket, which notes whether it is cut off."""
    protocol = object.__new__(BoundedProtocol)
    protocol.aborted = 0

    def abort():
        protocol.aborted += 1

    protocol.transport = SimpleNamespace(abort=abort)
    return protocol


@pytest.mark.parametrize(
    ("chunks", "size", "is_small"),
    [
        (999, 999, False),
        (1000, 1000, False),
        (1001, 1001, True),
        (1001, 64 * 1001 - 1, True),
        (1001, 64 * 1001, False),
        (1001, 64 * 1001 + 1, False),
    ],
)
def test_a_body_of_more_than_1_000_pieces_has_64_bytes_in_each(
    chunks, size, monkeypatch, *, is_small
):
    taken = []
    monkeypatch.setattr(BoundedProtocol.__base__, "on_body", lambda _, body: taken.append(body))
    protocol = make_protocol()
    protocol._chunks, protocol._body_bytes = chunks - 1, size - 1
    if is_small:
        with pytest.raises(HttpParserError, match="too small"):
            protocol.on_body(b"x")
    else:
        protocol.on_body(b"x")
    assert taken == [b"x"] * (not is_small)


@pytest.mark.parametrize("more", [-1, 0, 1])
def test_a_mebibyte_is_read_after_a_request_was_refused(more):
    protocol = make_protocol()
    protocol._discarded = MIB - 1
    protocol.data_received(b"x" * (1 + more))
    assert protocol.aborted == (more > 0)


@pytest.mark.parametrize(("seconds", "reports"), [(59.999, 1), (60.0, 2), (60.001, 2)])
def test_malformed_requests_are_reported_once_a_minute(seconds, reports):
    told = []
    connections = Connections(Settings(), lambda event, fields: told.append((event, dict(fields))))
    for now in (0.0, seconds):
        connections.report_malformed(now)
    assert told == [("request.malformed", {"requests": 1})] * reports
