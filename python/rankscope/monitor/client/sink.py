"""Sends events to a service over HTTP, and waits until it has stored them."""

from __future__ import annotations

import gzip
import json
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from http.client import HTTPException
from typing import Any, Protocol, TypeVar

from rankscope.errors import FileError
from rankscope.monitor.client import batches
from rankscope.monitor.client.http import Answer, Mismatches
from rankscope.monitor.events.event import Event, Label, Ranking
from rankscope.monitor.events.outcome import Outcome, count_rejections, tell_statuses
from rankscope.monitor.events.rejection import CODES, Reading, Rejection
from rankscope.monitor.events.writer import write_event
from rankscope.monitor.retry import RetryPolicy, double

T = TypeVar("T")


class Transport(batches.Transport, Protocol):
    """Sends bodies, and asks for answers."""

    def put_lines(self, path: str, body: bytes) -> Answer:
        """Send a gzipped body of JSON lines that takes the place of what is there."""

    def ask(self, method: str, path: str, said: object = None) -> Answer:
        """Send JSON if there is some, and read JSON."""


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
        self.mismatches = Mismatches()

    @property
    def takes_prepared(self) -> bool:
        """It writes events as JSON again."""
        return False

    def take(self, reading: Reading) -> Sequence[str | Rejection]:
        """Send the events of a batch."""
        told: list[Mapping[str, str]] = []
        for path, lines in _cut(reading.events):
            told += self._post(path, lines)
        # A service rejects what this side takes only where its limits are others.
        outcomes = [
            Outcome("accepted" if one["status"] == "rejected" else one["status"], 0)  # type: ignore[arg-type]  # a status
            for one in told
        ]
        self._count_discarded(reading)
        statuses: list[str | Rejection] = [*tell_statuses(reading, outcomes)]
        rest = iter(told)
        for at, answer in enumerate(reading.answers):
            if isinstance(answer, Rejection):
                continue
            for one in [next(rest) for _ in answer]:
                if one["status"] == "rejected":
                    statuses[at] = _reject(at, one)
        return statuses

    def read_attributes(self) -> list[str]:
        """Return the attributes that the project slices by."""
        told = self._ask("GET", "/v1/attributes")
        names = told.get("attributes", [])
        return [name for name in names if isinstance(name, str)]

    def replace_set(
        self, environment: str, events: Sequence[Event], rejected: Mapping[str, int]
    ) -> int:
        """Replace a set of the project, and return how many rankings it had."""
        path = f"/v1/sets/{environment}"
        body = gzip.compress(b"\n".join(_embed_labels(events)), LEVEL, mtime=0)
        told = self._retry_json(lambda: self._transport.put_lines(path, body), "the set")
        if rejected:
            self._tell_discarded({}, rejected.get("unknown_field", 0))
        return int(told.get("replaced", 0))

    def _count_discarded(self, reading: Reading) -> None:
        """Let the service count what was discarded here; if an answer is lost, it counts twice."""
        counts = count_rejections(reading)
        unknown = counts.pop("unknown_field", 0)
        if counts or unknown:
            self._tell_discarded(counts, unknown)

    def _tell_discarded(self, rejected: Mapping[str, int], unknown: int) -> None:
        known = {code: count for code, count in rejected.items() if code in CODES}
        other = sum(rejected.values()) - sum(known.values())
        said = {"rejected": known | ({"other": other} if other else {}), "unknown_fields": unknown}
        self._ask("POST", "/v1/discarded", said)

    def _ask(self, method: str, path: str, said: object = None) -> Mapping[str, Any]:
        return self._retry_json(lambda: self._transport.ask(method, path, said), "a request")

    def _retry_json(self, ask: Callable[[], Answer], what: str) -> Mapping[str, Any]:
        hint = "is its address right, and is the key allowed to do this?"
        return self._retry(ask, _read_json, what, hint)

    def _post(self, path: str, lines: list[bytes]) -> Sequence[Mapping[str, str]]:
        body = gzip.compress(b"\n".join(lines), LEVEL, mtime=0)

        def read(answer: Answer) -> Sequence[Mapping[str, str]] | None:
            items = answer.items
            if answer.status != 200 or len(items) != len(lines):
                return None
            self.mismatches.choose_new(answer.mismatches)
            return items

        hint = "is its address right, and may its key send events? what was taken stays, and may "
        hint += "be sent again"
        return self._retry(
            lambda: self._transport.post(path, body), read, f"{len(lines)} events", hint
        )

    def _retry(
        self, ask: Callable[[], Answer], read: Callable[[Answer], T | None], what: str, hint: str
    ) -> T:
        """Ask until the service gives an answer that can be read, and return what was read."""
        problem = ""
        for failures in range(1, MOST_TRIES + 1):
            asked = 0.0
            try:
                told = ask()
            except (OSError, HTTPException) as error:
                problem = str(error) or type(error).__name__
            else:
                result = read(told)
                if result is not None:
                    return result
                refused = told.said.get("error", {})
                problem = f"status {told.status}: {refused.get('message', '')}".rstrip(": ")
                hint = str(refused.get("hint", "")) or hint
                if told.status not in AGAIN:
                    break
                asked = min(told.retry_after, LONGEST_ASKED)
            if failures < MOST_TRIES:
                self._wait(asked + RETRIES.wait(failures, self._chance()))
        raise FileError(
            f"expected the service to take {what}, found {problem:.200}",
            hint=hint,
            code="service_refused",
        )


def _read_json(told: Answer) -> Mapping[str, Any] | None:
    return told.said if 200 <= told.status < 300 else None


def _embed_labels(events: Sequence[Event]) -> Iterator[bytes]:
    """Write rankings with the labels that were logged with them."""
    labels: dict[str, dict[str, list[str]]] = {}
    for event in events:
        if isinstance(event, Label):
            labels.setdefault(event.ranking_id, {})[event.doc_id] = list(event.labels)
    for event in events:
        if isinstance(event, Ranking):
            own = labels.get(event.ranking_id)
            line = write_event(event)
            if own:
                said = json.loads(line)
                for item in said["items"]:
                    if item["doc_id"] in own:
                        item["labels"] = own[item["doc_id"]]
                line = json.dumps(said, separators=(",", ":")).encode()
            yield line


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
