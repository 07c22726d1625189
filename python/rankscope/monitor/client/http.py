"""Sends bodies to the service over HTTP, with the standard library only."""

from __future__ import annotations

import http.client
import json
from contextlib import closing
from urllib.parse import urlsplit

from rankscope.errors import UsageError
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from rankscope.monitor.store.keys import Secret

MOST_BYTES = 16 << 20
SENT_STATUSES = ("accepted", "duplicate", "conflict", "rejected")


@record(frozen=True, slots=True)
class Answer:
    """The answer of the service.

    Args:
        status: Of HTTP.
        counts: How many events were accepted, a duplicate, a conflict and rejected.
        retry_after: After how many seconds to ask again; 0 where nothing is said.
        items: For each event what became of it, and why; empty where that is not said.
    """

    status: int
    counts: Mapping[str, int]
    retry_after: float = 0.0
    items: tuple[Mapping[str, str], ...] = ()


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
        """Send a gzipped body of JSON lines.

        Raises:
            OSError: The service cannot be reached, or hangs.
            HTTPException: It answers something that is not HTTP.
        """
        kind = http.client.HTTPSConnection if self._is_safe else http.client.HTTPConnection
        with closing(kind(self._host, self._port, timeout=self._seconds)) as connection:
            headers = {"Content-Type": "application/x-ndjson", "Content-Encoding": "gzip"}
            if self._key.reveal():
                headers["Authorization"] = f"Bearer {self._key.reveal()}"
            connection.request("POST", self._path + path, body, headers)
            answer = connection.getresponse()
            said = answer.read(MOST_BYTES)
            counts, items = _read_answer(said) if answer.status == 200 else ({}, ())
            seconds = _read_seconds(answer.getheader("retry-after", ""))
            return Answer(answer.status, counts, seconds, items)


def _read_answer(said: bytes) -> tuple[dict[str, int], tuple[Mapping[str, str], ...]]:
    """Read the counts and statuses in an answer, `None` if it has none."""
    try:
        told: Any = json.loads(said)
        counts = {status: int(told[status]) for status in SENT_STATUSES}
        items = tuple({name: str(text) for name, text in one.items()} for one in told["items"])
    except (ValueError, TypeError, KeyError, RecursionError, AttributeError):
        return {}, ()
    is_whole = all(one.get("status") in SENT_STATUSES for one in items)
    return counts, items if is_whole else ()


def _read_seconds(said: str) -> float:
    return float(said) if said.isascii() and said.isdigit() and len(said) < 7 else 0.0
