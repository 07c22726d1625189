"""Sends bodies to the service over HTTP, with the standard library only."""

from __future__ import annotations

import http.client
import json
import re
from contextlib import closing
from urllib.parse import urlsplit

from rankscope.errors import UsageError
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from rankscope.monitor.store.keys import Secret

MOST_BYTES = 16 << 20
MOST_TOLD = 100
"""How many different mismatches are kept."""
NUMBERS = re.compile(r"[0-9,]+ of [0-9,]+|all [0-9,]+")
PACKED_LINES = {"Content-Type": "application/x-ndjson", "Content-Encoding": "gzip"}
SENT_STATUSES = ("accepted", "duplicate", "conflict", "rejected")


@record(frozen=True, slots=True)
class Answer:
    """The answer of the service.

    Args:
        status: Of HTTP.
        counts: How many events were accepted, a duplicate, a conflict and rejected.
        retry_after: After how many seconds to ask again; 0 where nothing is said.
        items: For each event what became of it, and why; empty where that is not said.
        mismatches: What the service says of names that don't match its configuration.
    """

    status: int
    counts: Mapping[str, int]
    retry_after: float = 0.0
    items: tuple[Mapping[str, str], ...] = ()
    mismatches: tuple[str, ...] = ()


@record(frozen=True, slots=True)
class JsonAnswer:
    """What the service has said in JSON.

    Args:
        status: Of HTTP.
        said: The fields of the answer; empty where it is no object.
        retry_after: After how many seconds to ask again; 0 where nothing is said.
    """

    status: int
    said: Mapping[str, Any]
    retry_after: float = 0.0


class Mismatches:
    """What a service has said of names that don't match its configuration, each once."""

    def __init__(self) -> None:
        self.told: dict[str, str] = {}

    def choose_new(self, told: Iterable[str]) -> list[str]:
        """Return what wasn't said before; the numbers differ from batch to batch."""
        found = []
        for each in told:
            name = NUMBERS.sub("", each)
            if name not in self.told and len(self.told) < MOST_TOLD:
                self.told[name] = each
                found.append(each)
        return found


class HTTPTransport:
    """Sends bodies to a service, each over its own connection.

    Args:
        url: The address of the service, such as `http://127.0.0.1:8000`.
        key: A key with the scope `ingest`; empty for a service on this machine that has no keys.
        seconds: How long to wait for an answer, and for each of its pieces.

    Raises:
        UsageError: The address or the key is none.
    """

    def __init__(self, url: str, key: Secret, seconds: float) -> None:
        try:
            parts = urlsplit(url)
            host, port = parts.hostname, parts.port
        except ValueError:
            host, port, parts = None, None, urlsplit("")
        is_plain = not (parts.query or parts.fragment or parts.username or parts.password)
        if parts.scheme not in {"http", "https"} or not host or not is_plain:
            raise UsageError(
                "expected an address such as http://127.0.0.1:8000, found another",
                hint="the key is an argument of its own",
                code="service_address",
            )
        if not (key.reveal().isascii() and key.reveal().isprintable()):
            raise UsageError(
                "expected a key such as rk_..., found other characters",
                hint="give the key as it was shown",
                code="service_key",
            )
        self._is_safe = parts.scheme == "https"
        self._host, self._port = host, port
        self._path = parts.path.rstrip("/")
        self._key = key
        self._seconds = seconds

    def post(self, path: str, body: bytes) -> Answer:
        """Send a gzipped body of JSON lines."""
        status, said, seconds = self._ask("POST", path, body, PACKED_LINES)
        counts, items, mismatches = _read_answer(said) if status == 200 else ({}, (), ())
        return Answer(status, counts, seconds, items, mismatches)

    def put_lines(self, path: str, body: bytes) -> JsonAnswer:
        """Send a gzipped body of JSON lines that takes the place of what is there."""
        return _tell(*self._ask("PUT", path, body, PACKED_LINES))

    def ask(self, method: str, path: str, said: object = None) -> JsonAnswer:
        """Send JSON if there is some, and read JSON."""
        if said is None:
            return _tell(*self._ask(method, path, None, {}))
        body = json.dumps(said).encode()
        return _tell(*self._ask(method, path, body, {"Content-Type": "application/json"}))

    def _ask(
        self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]
    ) -> tuple[int, bytes, float]:
        kind = http.client.HTTPSConnection if self._is_safe else http.client.HTTPConnection
        with closing(kind(self._host, self._port, timeout=self._seconds)) as connection:
            sent = dict(headers)
            if self._key.reveal():
                sent["Authorization"] = f"Bearer {self._key.reveal()}"
            connection.request(method, self._path + path, body, sent)
            answer = connection.getresponse()
            said = answer.read(MOST_BYTES)
            return answer.status, said, _read_seconds(answer.getheader("retry-after", ""))


def _tell(status: int, said: bytes, seconds: float) -> JsonAnswer:
    try:
        value = json.loads(said)
    except (ValueError, RecursionError):
        value = None
    return JsonAnswer(status, value if isinstance(value, dict) else {}, seconds)


def _read_answer(
    said: bytes,
) -> tuple[dict[str, int], tuple[Mapping[str, str], ...], tuple[str, ...]]:
    """Read the counts, statuses and mismatches in an answer; all are empty if it has none."""
    try:
        told: Any = json.loads(said)
        counts = {status: int(told[status]) for status in SENT_STATUSES}
        items = tuple({name: str(text) for name, text in one.items()} for one in told["items"])
        mismatches = tuple(str(one["message"]) for one in told.get("mismatches", ()))
    except (ValueError, TypeError, KeyError, RecursionError, AttributeError):
        return {}, (), ()
    is_whole = all(item.get("status") in SENT_STATUSES for item in items)
    return counts, items if is_whole else (), mismatches


def _read_seconds(said: str) -> float:
    return float(said) if said.isascii() and said.isdigit() and len(said) < 7 else 0.0
