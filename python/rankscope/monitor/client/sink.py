"""Sends events to a service over HTTP, and waits until it has stored them."""

from __future__ import annotations

import gzip
import random
import time
from http.client import HTTPException

from rankscope.errors import FileError
from rankscope.monitor.events.event import Ranking
from rankscope.monitor.events.outcome import Outcome, tell_statuses
from rankscope.monitor.events.rejection import Rejection
from rankscope.monitor.events.writer import write_event
from rankscope.monitor.retry import RetryPolicy, double

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from rankscope.monitor.client.batches import Transport
    from rankscope.monitor.client.http import Answer
    from rankscope.monitor.events.event import Event
    from rankscope.monitor.events.rejection import Reading

MOST_BYTES = 4 << 20
MOST_TRIES = 8
LONGEST_ASKED = 30.0
RETRIES = RetryPolicy(waits=double(0.5, 30.0), least=0.5, spread=0.5)
# With 200, the answer was cut: sending again tells what became of the events.
AGAIN = frozenset({200, 408, 429, 500, 502, 503, 504, 507})
LEVEL = 5


class ServiceSink:
    """Posts events, and retries with the same ids while the service is unavailable.

    Args:
        transport: What sends bodies.
        wait: Waits for some seconds.
        chance: Gives a number between 0 and 1, so that not all come back at once.
    """

    def __init__(
        self,
        transport: Transport,
        wait: Callable[[float], object] = time.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._transport = transport
        self._wait = wait
        self._chance = chance

    def take(self, reading: Reading) -> Sequence[str | Rejection]:
        """Send the events of a batch.

        Raises:
            FileError: The service cannot be reached, or takes none of them.
        """
        told: list[Mapping[str, str]] = []
        for path, lines in _cut(reading.events):
            told += self._post(path, lines)
        # A service rejects what this side takes only where its limits are others.
        outcomes = [
            Outcome("accepted" if one["status"] == "rejected" else one["status"], 0)  # type: ignore[arg-type]  # a status
            for one in told
        ]
        statuses: list[str | Rejection] = [*tell_statuses(reading, outcomes)]
        rest = iter(told)
        for at, answer in enumerate(reading.answers):
            if isinstance(answer, Rejection):
                continue
            for one in [next(rest) for _ in answer]:
                if one["status"] == "rejected":
                    statuses[at] = _reject(at, one)
        return statuses

    def _post(self, path: str, lines: list[bytes]) -> Sequence[Mapping[str, str]]:
        body = gzip.compress(b"\n".join(lines), LEVEL, mtime=0)
        problem = ""
        for failures in range(1, MOST_TRIES + 1):
            answer: Answer | None = None
            try:
                answer = self._transport.post(path, body)
                problem = f"status {answer.status}"
            except (OSError, HTTPException) as error:
                problem = str(error) or type(error).__name__
            if answer is not None and answer.status == 200 and len(answer.items) == len(lines):
                return answer.items
            if answer is not None and answer.status not in AGAIN:
                break
            asked = 0.0 if answer is None else min(answer.retry_after, LONGEST_ASKED)
            if failures < MOST_TRIES:
                self._wait(asked + RETRIES.wait(failures, self._chance()))
        raise FileError(
            f"expected the service to take {len(lines)} events, found {problem:.200}",
            hint="is its address right, and may its key send events? what was taken stays, and "
            "may be sent again",
            code="service_refused",
        )


def _cut(events: Sequence[Event]) -> Iterator[tuple[str, list[bytes]]]:
    """Split events into bodies of one kind, in order."""
    before, lines, size = "", list[bytes](), 0
    for event in events:
        path = "/v1/rankings" if isinstance(event, Ranking) else "/v1/labels"
        line = write_event(event)
        if lines and (path != before or size + len(line) > MOST_BYTES):
            yield before, lines
            lines, size = [], 0
        before = path
        lines.append(line)
        size += len(line)
    if lines:
        yield before, lines


def _reject(at: int, said: Mapping[str, str]) -> Rejection:
    message = said.get("message", "").removeprefix("expected ")
    expected, _, found = message.partition(", found ")
    hint = said.get("hint", "")
    return Rejection(at, said.get("code", "rejected"), said.get("field", ""), expected, found, hint)
