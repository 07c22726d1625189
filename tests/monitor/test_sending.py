from __future__ import annotations

import gzip
import json
import random
import threading
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rankscope import FileError, InputError
from rankscope.monitor.client import sink as posting
from rankscope.monitor.client.batches import OVERHEAD, RETRIES, Sender, Sizes, Waiting
from rankscope.monitor.client.http import Answer
from rankscope.monitor.client.sink import ServiceSink
from rankscope.monitor.events.batch import pack_reading
from rankscope.monitor.events.event import Item, Items, Label, Ranking
from rankscope.monitor.events.outcome import STATUSES
from rankscope.monitor.events.reader import EventReader
from rankscope.monitor.events.writer import write_event
from rankscope.monitor.intake.ingestion import Ingestion, StoreSink
from rankscope.monitor.intake.sets import SetSink
from rankscope.monitor.server.api.ingest import answer_events
from rankscope.monitor.store.sqlite.store import SQLiteStore

from tests.generated import examples
from tests.monitor.store.conformance import read_back
from tests.refusals import refuses

DOWN = OSError("refused")


class Service:
    """Answers what it is told to, then takes everything, each event once."""

    def __init__(self, answers=()):
        self.answers = list(answers)
        self.asked = []
        self.stored = []

    def post(self, path, body):
        events = [json.loads(line) for line in gzip.decompress(body).split(b"\n")]
        self.asked.append((path, events))
        answer = self.answers.pop(0) if self.answers else 200
        if isinstance(answer, Exception):
            raise answer
        if not isinstance(answer, int):
            return answer
        if answer != 200:
            return Answer(answer, {})
        new = [event for event in events if event not in self.stored]
        self.stored += new
        return Answer(200, {"accepted": len(new), "duplicate": len(events) - len(new)})


def make_sender(service, **sizes):
    made = Sizes(**{"linger_seconds": 0.0} | sizes)
    return Sender(service, made, threading.Lock(), lambda: 1.0)


def add(sender, *numbers, path="/v1/rankings", since=0.0):
    for number in numbers:
        sender.add(Waiting(path, str(number).encode(), since))


def test_a_batch_is_of_one_kind_and_waits_for_others_until_it_is_full():
    service = Service()
    sender = make_sender(service, linger_seconds=2.0, batch_events=3)
    assert sender.step(0.0) is None
    add(sender, 1, 2, since=10.0)
    assert sender.step(10.5) == 1.5
    assert service.asked == []
    add(sender, 3, 4, since=10.5)
    assert sender.step(10.5) == 0.0
    assert service.asked == [("/v1/rankings", [1, 2, 3])]
    assert sender.step(10.5) == 2.0
    assert sender.step(12.5) == 0.0
    assert sender.step(12.5) is None
    assert service.stored == [1, 2, 3, 4]
    service = Service()
    sender = make_sender(service)
    for number in range(4):
        path = "/v1/labels" if number % 2 else "/v1/rankings"
        add(sender, number, path=path, since=float(number))
    while sender.step(9.0) is not None:
        pass
    assert service.asked == [("/v1/rankings", [0, 2]), ("/v1/labels", [1, 3])]
    service = Service()
    sender = make_sender(service, batch_bytes=5)
    add(sender, 11, 22, 33, 4_444_444)
    while sender.step(0.0) is not None:
        pass
    assert [events for _, events in service.asked] == [[11, 22], [33], [4_444_444]]


@pytest.mark.parametrize("failure", [DOWN, ValueError(), 500, 503, 429, 507, 401, 403, 404, 301])
def test_the_same_is_sent_again_later(failure):
    service = Service([failure] * 3)
    sender = make_sender(service)
    add(sender, 1, 2)
    now, waits = 0.0, []
    while not service.stored:
        wait = sender.step(now)
        waits.append(wait)
        if wait:
            add(sender, 3)
            assert sender.step(now + wait * 0.99) == pytest.approx(wait * 0.01)
        now += wait
    assert waits == [RETRIES.waits[0], 2 * RETRIES.waits[0], 4 * RETRIES.waits[0], 0.0]
    assert {tuple(events) for _, events in service.asked} == {(1, 2)}
    assert sender.counts["retries"] == 3


def test_waits_end_somewhere_begin_small_again_and_are_as_long_as_the_service_says():
    service = Service([DOWN] * 12)
    sender = make_sender(service)
    add(sender, 1)
    now, waits = 0.0, []
    for _ in range(12):
        waits.append(sender.step(now) or 0.0)
        now += waits[-1]
    assert waits[-1] == RETRIES.waits[-1]
    assert sender.step(now) == 0.0
    service.answers = [DOWN]
    add(sender, 2)
    assert sender.step(now) == RETRIES.waits[0]
    sender = make_sender(Service([Answer(429, {}, 30.0)]))
    add(sender, 1)
    assert sender.step(0.0) == 30.0 + RETRIES.waits[0]


@pytest.mark.parametrize("status", [400, 415, 422])
def test_what_cannot_be_read_is_not_sent_again(status):
    service = Service([status])
    sender = make_sender(service, batch_events=2)
    add(sender, 1, 2, 3)
    assert [sender.step(0.0) for _ in range(3)] == [0.0, 0.0, None]
    assert (service.stored, sender.counts["refused"]) == ([3], 2)


def test_a_batch_that_is_too_large_is_cut():
    service = Service([413, 413])
    sender = make_sender(service)
    add(sender, *range(5))
    while sender.step(0.0) is not None:
        pass
    asked = [events for _, events in service.asked]
    assert asked == [[0, 1, 2, 3, 4], [0, 1], [0], [1], [2, 3, 4]]
    service.answers = [413]
    add(sender, 9)
    assert [sender.step(0.0), sender.step(0.0)] == [0.0, None]
    assert sender.counts["refused"] == 1


def test_the_oldest_make_room_but_not_what_is_being_sent():
    service = Service([DOWN])
    sender = make_sender(service, spool_bytes=4 * (OVERHEAD + 1), batch_events=2)
    add(sender, 1, 2, 3)
    sender.step(0.0)
    add(sender, 4, 5, 6)
    assert (sender.counts["dropped"], sender.waiting) == (2, 4)
    while sender.step(99.0) is not None:
        pass
    assert service.stored == [1, 2, 5, 6]
    assert not sender.add(Waiting("/", b" " * 10_000, 0.0))
    assert sender.waiting == 0


def test_what_the_service_says_is_counted():
    counts = dict(zip(STATUSES, (1, 2, 3, 4), strict=True))
    sender = make_sender(Service([Answer(200, counts), Answer(200, {})]), batch_events=10)
    add(sender, *range(12))
    while sender.step(0.0) is not None:
        pass
    assert sender.counts == Counter(counts) + Counter(accepted=2)


@examples(50)
@given(
    st.lists(st.sampled_from([200, 503, 400, 413]) | st.just(DOWN), max_size=30),
    st.lists(st.integers(0, 8), max_size=20),
    st.integers(0, 2**32),
)
def test_every_event_is_counted_once(answers, adds, seed):
    service = Service(answers)
    sender = make_sender(service, spool_bytes=10 * (OVERHEAD + 3), batch_events=4)
    drawn = random.Random(seed)
    logged, now = 0, 0.0
    for count in adds:
        for _ in range(count):
            path = drawn.choice(["/v1/rankings", "/v1/labels"])
            add(sender, 100 + logged, path=path, since=now)
            logged += 1
        now += drawn.random() * 10
        sender.step(now, hurries=drawn.random() < 0.5)
        kept = {one: sender.counts[one] for one in (*STATUSES, "refused", "dropped")}
        assert sum(kept.values()) + sender.waiting == logged
    while sender.step(now, hurries=True) is not None:
        pass
    assert len(service.stored) == len(set(service.stored)) == sender.counts["accepted"]
    assert sender.waiting == 0


NOW = 1_795_284_000_000_000
TIMES = st.integers(NOW - 10**14, NOW)
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
IDS = TEXTS.filter(bool)
NUMBERS = st.none() | st.floats(allow_nan=False, allow_infinity=False)


@st.composite
def rankings(draw):
    doc_ids = draw(st.lists(IDS, unique=True, max_size=4))
    count = len(doc_ids)
    ranks = draw(st.lists(st.integers(1, 1000), min_size=count, max_size=count, unique=True))
    items = [
        Item(doc_id, rank, draw(NUMBERS), draw(NUMBERS))
        for doc_id, rank in zip(doc_ids, ranks, strict=True)
    ]
    return Ranking(
        draw(IDS),
        draw(IDS),
        draw(TIMES),
        Items.of(items),
        *(draw(TEXTS) for _ in range(4)),
        draw(st.sampled_from(["production", "validation", "training"])),
        tuple(sorted(draw(st.dictionaries(IDS, TEXTS, max_size=3)).items())),
    )


@st.composite
def labels(draw):
    said = draw(
        st.sampled_from([{"kind": "retraction"}, {"value": 2.5}, {"labels": ("a", "b")}, {}])
    )
    return Label(draw(IDS), draw(IDS), draw(IDS), draw(TIMES), **said)


@given(rankings() | labels())
def test_a_line_is_read_as_the_event_that_it_was_written_of(event):
    reader = EventReader()
    read = reader.read_rankings if isinstance(event, Ranking) else reader.read_labels
    assert read([json.loads(write_event(event))], now=NOW).events == [event]


class FakeService:
    """Answers as the service does, after some other answers."""

    def __init__(self, store):
        self.bodies = []
        self.waits = []
        self.before = []
        self._store = store
        self._reader = EventReader()

    def post(self, path, body):
        self.bodies.append(body)
        if self.before:
            first = self.before.pop(0)
            if isinstance(first, OSError):
                raise first
            return first
        objects = [json.loads(line) for line in gzip.decompress(body).split(b"\n")]
        is_ranking = path == "/v1/rankings"
        read = self._reader.read_rankings if is_ranking else self._reader.read_labels
        decoded = pack_reading(read(objects, now=NOW))
        stored = self._store.submit("music", decoded.batch).result()
        answer = answer_events(decoded, stored.statuses)
        return Answer(200, answer)

    def ask(self, method, path, said=None):
        assert (method, path) == ("POST", "/v1/discarded")
        self._store.append(
            "music", [], said["rejected"] | {"unknown_field": said["unknown_fields"]}
        )
        return Answer(204, {})

    def put_lines(self, path, body):
        objects = [json.loads(line) for line in gzip.decompress(body).split(b"\n")]
        events = self._reader.read_rankings(objects, now=NOW).events
        deleted = self._store.replace_set("music", path.rpartition("/")[2], events)
        return Answer(200, {"replaced": deleted.rankings})

    def sink(self):
        return ServiceSink(self, self.waits.append, lambda: 1.0)


def shown(at, **more):
    items = [{"doc_id": "a", "labels": ["click"]}, {"doc_id": "b"}]
    return {"ranking_id": f"r{at}", "time": NOW // 1000, "items": items, **more}


@pytest.fixture
def service(tmp_path):
    with SQLiteStore(tmp_path / "there.db") as there:
        yield FakeService(there)


def ingest(sink, objects, kind="rankings", now=NOW):
    made = Ingestion(sink, kind, now=lambda: now)
    made.take_objects(objects)
    return made.ingested


OBJECTS = [shown(1), shown(2), {"ranking_id": "r3"}, shown(1), shown(2, version="5")]


def test_a_service_and_a_store_tell_the_same(tmp_path):
    with SQLiteStore(tmp_path / "here.db") as here, SQLiteStore(tmp_path / "there.db") as there:
        told = ingest(StoreSink(here, "music"), OBJECTS)
        assert ingest(FakeService(there).sink(), OBJECTS) == told
        assert (told.accepted, told.duplicate, told.conflict) == (2, 1, 1)
        assert here.find_ranking("music", "r1") == there.find_ranking("music", "r1") is not None
        assert here.find_labels("music", "r1") == there.find_labels("music", "r1") != []


@pytest.mark.slow
def test_a_service_and_a_store_replace_and_count_the_same(tmp_path):
    old = [shown(at, environment="training") for at in range(3)]
    new = [shown(at, environment="training", user_id="u", color=1) for at in (1, 7)]
    with SQLiteStore(tmp_path / "here.db") as here, SQLiteStore(tmp_path / "there.db") as there:
        for store, sink in ((here, StoreSink(here, "music")), (there, FakeService(there).sink())):
            store.append("music", EventReader().read_rankings(old, now=NOW).events)
            collected = SetSink("training", sink)
            assert collected.replace(ingest(collected, new)) == 3
            assert store.count_replaced("music") == 3
            assert store.counters("music")["unknown_field"] == 2
        assert read_back(here, "music") == read_back(there, "music")
        assert here.find_ranking("music", "r0") is None
        assert [label.doc_id for label in there.find_labels("music", "r7")] == ["a"]


@pytest.mark.parametrize(
    ("objects", "code"),
    [
        ([shown(1, environment="training"), {"ranking_id": "r2"}], "set_refused"),
        ([shown(1)], "set_refused"),
        ([shown(1, environment="training", user_id=user) for user in "uv"], "set_refused"),
        ([], "empty_input"),
    ],
    ids=["rejected", "production", "twice", "none"],
)
def test_a_set_that_is_not_whole_replaces_nothing(objects, code, tmp_path):
    old = [shown(at, environment="training") for at in range(3)]
    with SQLiteStore(tmp_path / "here.db") as here:
        here.append("music", EventReader().read_rankings(old, now=NOW).events)
        before = read_back(here, "music")
        collected = SetSink("training", StoreSink(here, "music"))
        ingested = ingest(collected, objects)
        with refuses(InputError, code, match="stays as it was"):
            collected.replace(ingested)
        assert read_back(here, "music") == before


def test_what_only_the_service_rejects_has_its_place(service):
    ahead = NOW + 10**9
    objects = [shown(1), shown(2, time=ahead // 1000)]
    ingested = ingest(service.sink(), objects, now=ahead)
    (refused,) = ingested.refused
    assert (refused.place, refused.code) == (2, "future_time")
    assert (ingested.accepted, ingested.rejected) == (1, 1)


def test_a_service_that_cannot_now_is_asked_again_with_the_same_bytes(service):
    service.before += [Answer(503, {}, 2.0), ConnectionRefusedError(), Answer(200, {})]
    click = {"ranking_id": "r", "doc_id": "a", "time": NOW // 1000, "labels": "click"}
    assert ingest(service.sink(), [click], "labels").accepted == 1
    assert len(set(service.bodies)) == 1
    assert len(service.bodies) == 4
    assert service.waits == [2.0 + 0.5, 1.0, 2.0]


@pytest.mark.parametrize(
    ("answers", "tries"),
    [
        ([Answer(401, {})], 1),
        ([Answer(422, {})], 1),
        ([Answer(503, {}, 1e9)] * 20, posting.MOST_TRIES),
        ([TimeoutError("too slow")] * 20, posting.MOST_TRIES),
    ],
    ids=["key", "body", "busy", "silent"],
)
def test_a_service_that_does_not_take_events_ends_it(answers, tries, service):
    service.before += answers
    made = Ingestion(service.sink(), "rankings", now=lambda: NOW)
    with refuses(FileError, "service_refused"):
        made.take_objects([shown(1)])
    assert len(service.bodies) == tries
    assert max(service.waits, default=0.0) <= 2 * posting.LONGEST_ASKED
    assert made.ingested.objects == 0


def test_bodies_are_bounded(service, monkeypatch):
    monkeypatch.setattr(posting, "MOST_BYTES", 600)
    objects = [shown(at) | {"items": ["a", "b"]} for at in range(20)]
    assert ingest(service.sink(), objects).accepted == 20
    assert len(service.bodies) > 5
    assert max(len(gzip.decompress(body)) for body in service.bodies) <= 600
