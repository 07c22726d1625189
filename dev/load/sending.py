"""Four clients that send at a rate that is given, however soon they are answered."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter, deque
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from multiprocessing import get_context
from typing import TYPE_CHECKING

from dev.load.searches import BATCH, make_batch

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from concurrent.futures import Executor, Future

CLIENTS = 4
SHOWN, TOLD = "/v1/rankings", "/v1/labels"
LABEL_RATE = 1.0
"""How many times as fast as rankings their labels are sent."""
LABELLED = 5
"""Of so many batches, one has its labels sent, where they are sent after all rankings."""
AFTER = 2.0
"""How many seconds after rankings their labels are due, where both are sent together."""
AHEAD = 8
"""Bodies that are made for a client before they are due."""
BUSY = frozenset({429, 503})
WAIT = 0.5
MOST_TRIES = 100


@dataclass(slots=True)
class Sent:
    """What was sent, and how soon it was answered.

    Args:
        events: How many rankings, or labels, were acknowledged.
        seconds: From the first request to the last answer.
        delays: How many seconds after it was due each request was answered.
        refused: How many answers said that there is too much; such requests were sent again.
        errors: What else was answered, by what it was.
    """

    events: int = 0
    seconds: float = 0.0
    delays: list[float] = field(default_factory=list)
    refused: int = 0
    errors: Counter[str] = field(default_factory=Counter)

    def add(self, other: Sent) -> None:
        """Count what another client has sent meanwhile."""
        self.events += other.events
        self.delays += other.delays
        self.refused += other.refused
        self.errors += other.errors


def send_all(
    port: int, key: str, batches: int, rate: float, *, are_together: bool
) -> tuple[Sent, Sent]:
    """Send batches of rankings, and labels.

    Args:
        port: Where the service listens.
        key: What lets requests in.
        batches: How many batches.
        rate: How many rankings a second.
        are_together: Whether the labels of all batches are sent meanwhile, and not those of some
            of them afterwards.

    Returns:
        What was sent of rankings, and of labels.
    """
    labelled = list_labelled(batches, are_together=are_together)

    def begin(rate: float, after: float = 0.0) -> Schedule:
        return Schedule(time.perf_counter() + 0.5 + after, BATCH / rate)

    # Bodies are made by a process of its own: threads that wait for answers would wait for it, and
    # be late, if it were one of them.
    with (
        ProcessPoolExecutor(1, get_context("spawn")) as maker,
        ThreadPoolExecutor(1) as thread,
    ):
        maker.submit(write_body, SHOWN, 0).result()

        def post(path: str, numbers: range, schedule: Schedule) -> Sent:
            return send(port, key, path, numbers, schedule, maker=maker)

        if not are_together:
            shown = post(SHOWN, range(batches), begin(rate))
            return shown, post(TOLD, labelled, begin(LABEL_RATE * rate))
        told = thread.submit(post, TOLD, labelled, begin(LABEL_RATE * rate, AFTER))
        return post(SHOWN, range(batches), begin(rate)), told.result()


def write_body(path: str, number: int) -> bytes:
    """Make a batch, and write its rankings, or its labels."""
    batch = make_batch(number)
    return batch.write_rankings() if path == SHOWN else batch.write_labels()


def write_ahead(maker: Executor, path: str, numbers: Sequence[int]) -> Iterator[bytes]:
    """Write bodies in order, some before they are asked for."""
    coming: deque[Future[bytes]] = deque()
    for number in numbers:
        coming.append(maker.submit(write_body, path, number))
        if len(coming) > AHEAD:
            yield coming.popleft().result()
    while coming:
        yield coming.popleft().result()


def send(
    port: int, key: str, path: str, numbers: range, schedule: Schedule, *, maker: Executor
) -> Sent:
    """Send batches of rankings, or their labels.

    A request that could not be sent when it was due, because the one before was not answered, is
    late from when it was due: no waiting is left out.

    Args:
        port: Where the service listens.
        key: What lets requests in.
        path: Where rankings go, or labels.
        numbers: The batches.
        schedule: When each of them is due.
        maker: Makes bodies.
    """
    clients = [
        Client(schedule, HTTPConnection("127.0.0.1", port, timeout=30), key) for _ in range(CLIENTS)
    ]
    places = range(len(numbers))
    threads = [
        threading.Thread(
            target=client.send,
            args=(
                places[first::CLIENTS],
                write_ahead(maker, path, numbers[first::CLIENTS]),
                path,
            ),
        )
        for first, client in enumerate(clients)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sent = Sent(seconds=time.perf_counter() - schedule.begin)
    for client in clients:
        sent.add(client.sent)
    return sent


def list_labelled(batches: int, *, are_together: bool) -> range:
    """List the batches whose labels are sent."""
    return range(0, batches, 1 if are_together else LABELLED)


@dataclass(frozen=True, slots=True)
class Schedule:
    """When batches are due.

    Args:
        begin: When the first one is.
        interval: From one to the next, in seconds.
    """

    begin: float
    interval: float

    def due(self, turn: int) -> float:
        """Say when a turn is due."""
        return self.begin + turn * self.interval


class Client:
    """Sends batches, one request after the other.

    Args:
        schedule: When they are due.
        connection: To the service.
        key: What lets requests in.
    """

    def __init__(self, schedule: Schedule, connection: HTTPConnection, key: str) -> None:
        self.sent = Sent()
        self._schedule = schedule
        self._connection = connection
        self._headers = {"content-type": "application/json", "authorization": f"Bearer {key}"}

    def send(self, turns: range, bodies: Iterator[bytes], path: str) -> None:
        """Send rankings of batches, or their labels, each in its turn."""
        for turn, body in zip(turns, bodies, strict=True):
            due = self._schedule.due(turn)
            time.sleep(max(0.0, due - time.perf_counter()))
            accepted = self._post(path, body)
            self.sent.delays.append(time.perf_counter() - due)
            self.sent.events += accepted
        self._connection.close()

    def _post(self, path: str, body: bytes) -> int:
        """Send a body until there is room for it, and give how much of it was taken."""
        for _ in range(MOST_TRIES):
            try:
                self._connection.request("POST", path, body, self._headers)
                response = self._connection.getresponse()
                said = response.read()
            except (OSError, HTTPException) as error:
                self._connection.close()
                self.sent.errors[type(error).__name__] += 1
                return 0
            if response.status == 200:
                return int(json.loads(said)["accepted"])
            if response.status not in BUSY:
                self.sent.errors[f"{response.status} {said[:100]!r}"] += 1
                return 0
            self.sent.refused += 1
            time.sleep(WAIT)
        self.sent.errors["no room"] += 1
        return 0
