"""What waits is sent until the service has it: the clock and the service are made up."""

from __future__ import annotations

import gzip
import json
import random
import threading
from collections import Counter
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rankscope.monitor.client.batches import OVERHEAD, RETRIES, Sender, Sizes, Waiting
from rankscope.monitor.client.http import Answer
from rankscope.monitor.events.outcome import STATUSES

from tests.generated import examples

DOWN = OSError("refused")


class Service:
    """Answers what it is told to, then takes everything, each event once."""

    def __init__(self, answers: Iterable[Answer | Exception | int] = ()) -> None:
        self.answers = list(answers)
        self.asked: list[tuple[str, list[int]]] = []
        self.stored: list[int] = []

    def post(self, path: str, body: bytes) -> Answer:
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


def make_sender(service: Service, **sizes: float) -> Sender:
    made = Sizes(**{"linger_seconds": 0.0} | sizes)  # type: ignore[arg-type]
    return Sender(service, made, threading.Lock(), lambda: 1.0)


def add(sender: Sender, *numbers: int, path: str = "/v1/rankings", since: float = 0.0) -> None:
    for number in numbers:
        sender.add(Waiting(path, str(number).encode(), since))


def test_a_batch_waits_for_others_until_it_is_full() -> None:
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


def test_rankings_and_labels_go_each_to_their_place() -> None:
    service = Service()
    sender = make_sender(service)
    for number in range(4):
        path = "/v1/labels" if number % 2 else "/v1/rankings"
        add(sender, number, path=path, since=float(number))
    while sender.step(9.0) is not None:
        pass
    assert service.asked == [("/v1/rankings", [0, 2]), ("/v1/labels", [1, 3])]


def test_a_batch_has_so_many_bytes() -> None:
    service = Service()
    sender = make_sender(service, batch_bytes=5)
    add(sender, 11, 22, 33, 4_444_444)
    while sender.step(0.0) is not None:
        pass
    assert [events for _, events in service.asked] == [[11, 22], [33], [4_444_444]]


@pytest.mark.parametrize("failure", [DOWN, ValueError(), 500, 503, 429, 507, 401, 403, 404, 301])
def test_the_same_is_sent_again_later(failure: Exception | int) -> None:
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


def test_waits_end_somewhere_and_begin_small_again() -> None:
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


def test_a_service_is_not_asked_sooner_than_it_says() -> None:
    sender = make_sender(Service([Answer(429, {}, 30.0)]))
    add(sender, 1)
    assert sender.step(0.0) == 30.0 + RETRIES.waits[0]


@pytest.mark.parametrize("status", [400, 415, 422])
def test_what_cannot_be_read_is_not_sent_again(status: int) -> None:
    service = Service([status])
    sender = make_sender(service, batch_events=2)
    add(sender, 1, 2, 3)
    assert [sender.step(0.0) for _ in range(3)] == [0.0, 0.0, None]
    assert (service.stored, sender.counts["refused"]) == ([3], 2)


def test_a_batch_that_is_too_large_is_cut() -> None:
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


def test_the_oldest_make_room_but_not_what_is_being_sent() -> None:
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


def test_what_the_service_says_is_counted() -> None:
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
def test_every_event_is_counted_once(
    answers: list[int | Exception], adds: list[int], seed: int
) -> None:
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
