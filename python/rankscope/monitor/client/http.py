"""Sends bodies to the service over HTTP, with the standard library only."""

from __future__ import annotations

import http.client
import json
import re
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from rankscope.errors import UsageError
from rankscope.monitor.events.outcome import STATUSES
from rankscope.monitor.store.keys import Secret

MOST_BYTES = 16 << 20
MOST_TOLD = 100
"""How many different mismatches are kept."""
NUMBERS = re.compile(r"(?<![0-9,])[0-9,]+ of [0-9,]+|all [0-9,]+")
PACKED_LINES = {"Content-Type": "application/x-ndjson", "Content-Encoding": "gzip"}


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of the service.

    Args:
        status: Of HTTP.
        said: The fields of the answer in JSON, among them how many events were accepted, a
            duplicate, a conflict and rejected; empty where it is no object.
        retry_after: After how many seconds to ask again; 0 where nothing is said.
    """

    status: int
    said: Mapping[str, Any]
    retry_after: float = 0.0

    @property
    def counts(self) -> dict[str, int]:
        """How many events became what; empty where that is not said."""
        counts = {status: self.said.get(status, 0) for status in STATUSES}
        return counts if all(isinstance(count, int) for count in counts.values()) else {}

    @property
    def items(self) -> list[Mapping[str, str]]:
        """For each event what became of it, and why; empty where that is not said."""
        items = self._list("items")
        is_whole = all(item.get("status") in STATUSES for item in items)
        return [{name: str(text) for name, text in item.items()} for item in items if is_whole]

    @property
    def mismatches(self) -> list[str]:
        """What is said of names that don't match the configuration of the project."""
        return [str(each.get("message", "")) for each in self._list("mismatches")]

    def _list(self, name: str) -> list[Mapping[str, Any]]:
        held = self.said.get(name)
        is_list = isinstance(held, list) and all(isinstance(each, dict) for each in held)
        return held if is_list else []  # type: ignore[return-value]  # checked above


class Mismatches:
    """What a service has said of names that don't match its configuration, each once."""

    def __init__(self) -> None:
        self.told: dict[str, str] = {}

    def choose_new(self, told: Iterable[str]) -> list[str]:
        """Return what wasn't said before; the numbers differ from batch to batch."""
        new = []
        for each in told:
            name = NUMBERS.sub("", each)
            if name not in self.told and len(self.told) < MOST_TOLD:
                self.told[name] = each
                new.append(each)
        return new


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
        answer = self._ask("POST", path, body, PACKED_LINES)
        return answer if answer.status == 200 else Answer(answer.status, {}, answer.retry_after)

    def put_lines(self, path: str, body: bytes) -> Answer:
        """Send a gzipped body of JSON lines that takes the place of what is there."""
        return self._ask("PUT", path, body, PACKED_LINES)

    def ask(self, method: str, path: str, said: object = None) -> Answer:
        """Send JSON if there is some, and read JSON."""
        if said is None:
            return self._ask(method, path, None, {})
        return self._ask(method, path, json.dumps(said), {"Content-Type": "application/json"})

    def _ask(
        self, method: str, path: str, body: str | bytes | None, headers: Mapping[str, str]
    ) -> Answer:
        kind = http.client.HTTPSConnection if self._is_safe else http.client.HTTPConnection
        with closing(kind(self._host, self._port, timeout=self._seconds)) as connection:
            sent = dict(headers)
            if self._key.reveal():
                sent["Authorization"] = f"Bearer {self._key.reveal()}"
            connection.request(method, self._path + path, body, sent)
            answer = connection.getresponse()
            try:
                said = json.loads(answer.read(MOST_BYTES))
            except (ValueError, RecursionError):
                said = None
            wait = answer.getheader("retry-after", "")
            is_known = wait.isascii() and wait.isdigit() and len(wait) < 7
            return Answer(
                answer.status,
                said if isinstance(said, dict) else {},
                float(wait) if is_known else 0.0,
            )
