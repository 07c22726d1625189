from __future__ import annotations

import gzip
import json
import logging
import os
import subprocess
import sys
import threading
from datetime import UTC, datetime
from types import MappingProxyType

import numpy as np
import pytest
from rankscope import UsageError
from rankscope.errors import FormatError
from rankscope.monitor import Client
from rankscope.monitor.client.batches import Sizes
from rankscope.monitor.client.http import Answer, HTTPTransport
from rankscope.monitor.events.times import to_datetime
from rankscope.monitor.store.keys import Secret
from rankscope.monitor.store.sqlite.store import SQLiteStore

from tests.monitor.server.service import NOW as NOW_MICROS
from tests.monitor.server.service import make_label, make_ranking
from tests.monitor.server.test_listening import Listener
from tests.monitor.test_read_events import DIALECTS, LABEL, REFUSED, REFUSED_LABELS, SHOWN
from tests.refusals import refuses

URL = "http://127.0.0.1:9"
NOW = Sizes(linger_seconds=0.0)


class Taking:
    def __init__(self, *, is_open=True):
        self.events = []
        self.asked = threading.Event()
        self.open = threading.Event()
        if is_open:
            self.open.set()

    def post(self, _path, body):
        self.asked.set()
        self.open.wait()
        self.events += map(json.loads, gzip.decompress(body).split(b"\n"))
        return Answer(200, {})


def test_what_is_logged_is_sent():
    taking = Taking()
    with Client(URL, "rk_x", transport=taking) as client:
        assert client.log_ranking(make_ranking(1))
        assert client.log_label(MappingProxyType(make_label(1)))
        assert client.flush()
        assert client.counts().accepted == 2
    assert taking.events == [make_ranking(1), make_label(1)]


def test_what_comes_alone_is_sent_too():
    taking = Taking()
    client = Client(URL, "rk_x", sizes=NOW, transport=taking)
    for number in range(3):
        taking.asked.clear()
        client.log_ranking(make_ranking(number))
        assert taking.asked.wait(300)
    client.close()


def test_an_event_has_a_time_and_numbers_of_numpy():
    taking = Taking()
    now = datetime(2026, 11, 21, 18, tzinfo=UTC)
    moment = round(now.timestamp() * 1000)
    label = {"ranking_id": "r", "doc_id": "a"}
    with Client(URL, "rk_x", transport=taking, now=lambda: now) as client:
        assert client.log_label(label | {"value": np.float32(0.5)})
        assert client.log_label(label | {"value": np.int64(3), "ts": moment - 5})
        assert client.log_ranking({"ranking_id": "r", "doc_id": ["a", "b"], "score": -np.arange(2)})
    assert taking.events == [
        label | {"value": 0.5, "time": moment},
        label | {"value": 3, "ts": moment - 5},
        {"ranking_id": "r", "doc_id": ["a", "b"], "score": [0, -1], "time": moment},
    ]


class Hostile:
    def keys(self):
        raise RuntimeError("no")


@pytest.mark.parametrize(
    "fields", [None, 5, {"a": float("nan")}, {"a": object()}, {"a": {1, 2}}, Hostile()]
)
def test_what_is_no_event_is_counted_and_raises_nothing(fields):
    with Client(URL, "rk_x", transport=Taking()) as client:
        assert client.log_ranking(fields) is False
        assert client.counts().invalid == 1


CATALOGUE = [
    *(("/v1/rankings", SHOWN | change) for change, _, _ in REFUSED.values()),
    *(("/v1/labels", LABEL | change) for change, _ in REFUSED_LABELS.values()),
    *(("/v1/rankings", shown) for shown in DIALECTS.values()),
    ("/v1/rankings", {1: "a", "1": "b", **SHOWN}),
    ("/v1/rankings", SHOWN | {"time": NOW_MICROS // 1000 + 5 * 60_000 + 1}),
    ("/v1/rankings", SHOWN | {"time": NOW_MICROS // 1_000_000}),
    ("/v1/rankings", SHOWN),
    ("/v1/labels", LABEL),
]


def test_the_client_refuses_what_the_service_rejects_and_nothing_else(service):
    clock = lambda: to_datetime(NOW_MICROS)  # noqa: E731 - of the service of tests, too
    client = Client(URL, "rk_x", transport=Taking(), is_strict=True, now=clock)
    seen = {"accepted": 0, "rejected": 0}
    for path, event in CATALOGUE:
        log = client.log_ranking if path == "/v1/rankings" else client.log_label
        try:
            body = json.dumps(event).encode()
        except ValueError:  # an integer of more digits than Python writes
            with pytest.raises(FormatError):
                log(event)
            continue
        [told] = service.ask("POST", path, body).json()["items"]
        status = "rejected" if told["status"] == "rejected" else "accepted"
        seen[status] += 1
        if status == "accepted":
            assert log(event), event
            continue
        with pytest.raises(FormatError) as refused:
            log(event)
        error = refused.value
        where = f"{told['field']}: " if told.get("field") else ""
        assert error.message.endswith(f": {where}{told['message']}")
        assert (error.code, error.hint) == (told["code"], told.get("hint", ""))
        ranking_id = dict(event).get("ranking_id")
        if isinstance(ranking_id, str) and 0 < len(ranking_id) < 99 and ranking_id.isprintable():
            named = "ranking" if path == "/v1/rankings" else "label of"
            assert error.message.startswith(f"{named} '{ranking_id}': ")
    # Of what is refused, one is deep for smaller limits only, and one is no JSON.
    accepted = len(DIALECTS) + 3
    assert seen == {"accepted": accepted, "rejected": len(CATALOGUE) - accepted - 1}
    client.close(0.0)


def test_an_invalid_event_is_counted_and_its_field_is_logged_once(caplog):
    taking = Taking()
    wrong = make_ranking(1, items=[{"doc_id": "a", "rank": 1}, {"doc_id": "b", "rank": 1}])
    with (
        caplog.at_level(logging.WARNING, "rankscope.monitor"),
        Client(URL, "rk_x", transport=taking) as client,
    ):
        assert client.log_ranking(wrong) is False
        assert client.log_ranking(wrong) is False
        assert client.log_ranking(make_ranking(2)) is True
        assert client.flush()
        counts = client.counts()
    assert (counts.invalid, counts.accepted, counts.rejected) == (2, 1, 0)
    [message] = caplog.messages
    assert message.startswith("not sent: ranking 'r1': items[1].rank: expected ")
    assert message.endswith(" [duplicate_rank]")
    assert taking.events == [make_ranking(2)]


def test_nobody_waits_for_a_service_that_hangs(caplog):
    taking = Taking(is_open=False)
    sizes = Sizes(linger_seconds=0.0, spool_bytes=5000)
    client = Client(URL, "rk_x", sizes=sizes, transport=taking)
    client.log_ranking(make_ranking(0))
    assert taking.asked.wait(300)
    for number in range(1, 100):
        assert client.log_ranking(make_ranking(number))
    counts = client.counts()
    assert (counts.dropped + counts.waiting, counts.accepted) == (100, 0)
    assert not client.flush(0.0)
    with caplog.at_level(logging.WARNING, "rankscope.monitor"):
        client.close(0.0)
    assert caplog.messages == ["100 events were not sent"]
    assert client.log_ranking(make_ranking(1)) is False
    taking.open.set()


def test_a_service_that_is_not_there_raises_nothing():
    client = Client("http://127.0.0.1:1", "rk_x", sizes=NOW)
    assert client.log_ranking(make_ranking(1))
    assert not client.flush(0.05)
    client.close(0.0)
    assert client.counts().waiting == 1
    assert client.counts().retries >= 1


def test_many_threads_log_at_a_time():
    taking = Taking()
    client = Client(URL, "rk_x", sizes=Sizes(batch_events=7), transport=taking)

    def log(thread):
        for number in range(200):
            client.log_label(make_label(1000 * thread + number))

    threads = [threading.Thread(target=log, args=(thread,)) for thread in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    client.close(30.0)
    assert len({event["event_id"] for event in taking.events}) == len(taking.events) == 800


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # a fork beside threads: as it happens
def test_a_child_has_a_client_of_its_own():
    taking = Taking(is_open=False)
    client = Client(URL, "rk_x", sizes=NOW, transport=taking)
    client.log_ranking(make_ranking(1))
    assert taking.asked.wait(300)
    with client._changed:  # as it is when another thread is logging
        child = os.fork()
        if child == 0:
            taking.open.set()
            assert client.counts().waiting == 0
            client.log_ranking(make_ranking(2))
            is_sent = client.flush(30.0)
            sent = [event["event_id"] for event in taking.events]
            os._exit(0 if is_sent and sent == ["e2"] else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    taking.open.set()
    client.close(30.0)
    assert [event["event_id"] for event in taking.events] == ["e1"]


PROGRAM = """
import sys
from rankscope.monitor import Client
client = Client(sys.argv[1], sys.argv[2], exit_seconds=float(sys.argv[3]))
for number in range(1000):
    client.log_label({"event_id": f"l{number}", "ranking_id": "r", "doc_id": "a", "labels": "x"})
"""


def test_a_process_that_ends_sends_what_waits(tmp_path):
    listener = Listener(tmp_path / "events.db")
    try:
        url = f"http://127.0.0.1:{listener.port}"
        program = [sys.executable, "-c", PROGRAM, url, listener.shown.reveal(), "300"]
        subprocess.run(program, check=True, timeout=300)
        with Client(url, listener.shown.reveal()) as client:
            client.log_label(make_label(0, ranking_id="other"))
            client.log_label({"ranking_id": "r"})
            client.log_ranking(make_ranking(5))
            client.log_ranking(make_ranking(5))
            assert client.flush(30.0)
            counts = client.counts()
        told = (counts.accepted, counts.duplicate, counts.conflict, counts.invalid)
        assert told == (1, 1, 1, 1)
        wrong = HTTPTransport(url, Secret("rk_x"), 30.0)
        assert wrong.post("/v1/labels", gzip.compress(b"{}")) == Answer(401, {})
    finally:
        listener.process.kill()
        listener.process.communicate()
    with SQLiteStore(tmp_path / "events.db") as store:
        assert store.counters("music")["accepted"] == 1001


@pytest.mark.slow
def test_a_process_ends_though_the_service_is_gone():
    program = [sys.executable, "-c", PROGRAM, "http://127.0.0.1:1", "rk_x", "2"]
    ended = subprocess.run(program, check=True, timeout=300, capture_output=True, text=True)
    assert ended.stderr == "1000 events were not sent\n"


@pytest.mark.parametrize(
    "url",
    ["", "localhost:8000", "ftp://a", "http://", "http://u:p@a", "http://a:b", "http://a?k=1"],
)
def test_an_address_is_one(url):
    with refuses(UsageError, "service_address"):
        Client(url, "rk_x")


@pytest.mark.parametrize("key", ["rk_\r\nX: 1", "rk_é"])
def test_a_key_is_one(key):
    with refuses(UsageError, "service_key"):
        Client(URL, key)
