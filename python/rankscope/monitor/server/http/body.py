"""Request bodies: received and decompressed within limits, and read as JSON."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rankscope.monitor.events.json import EventJSON
from rankscope.monitor.events.rejection import RefusedError, show
from rankscope.monitor.server.http.problems import CLOSE, RefusedRequestError, ask_again
from rankscope.monitor.server.http.settings import Settings
from rankscope.monitor.strict_json import Flaw

if TYPE_CHECKING:
    from starlette.requests import Request


LINES = frozenset({"application/x-ndjson", "application/ndjson", "application/jsonl"})
FORMS = LINES | {"application/json"}
ARROW = "application/vnd.apache.arrow.stream"


class MemoryBudget:
    """Limits how many bytes of bodies are in memory, over all requests.

    Args:
        most: The most bytes.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._held = 0

    @contextmanager
    def reserve(self) -> Iterator[Callable[[int], None]]:
        """Return a function that counts bytes; they are released when the context ends.

        It raises `RefusedRequestError` when there is no room.
        """
        own = 0

        def add(size: int) -> None:
            nonlocal own
            if self._held + size > self._most:
                raise RefusedRequestError(
                    503,
                    "expected less to be sent at a time: nothing was stored",
                    code="busy",
                    headers=ask_again(1) | CLOSE,
                )
            self._held += size
            own += size

        try:
            yield add
        finally:
            self._held -= own


def read_media_type(request: Request, *others: str) -> str:
    """Return the media type of a body."""
    given = request.headers.getlist("content-type")
    form, _, parameters = (given[0] if len(given) == 1 else "").partition(";")
    form = form.strip().lower()
    charset = parameters.replace('"', "").replace(" ", "").lower()
    if form not in FORMS.union(others) or charset not in {"", "charset=utf-8"}:
        accepted = ("application/json", "application/x-ndjson", *others)
        raise RefusedRequestError(
            415,
            f"expected a body of {' or '.join(accepted)}, text in UTF-8"
            if others
            else "expected a body of application/json or application/x-ndjson in UTF-8",
            code="content_type",
            headers={"accept": ", ".join(accepted)},
        )
    if find_encoding(request) not in {"", "identity", "gzip"}:
        raise RefusedRequestError(
            415,
            "expected a body as it is, or packed by gzip once",
            code="content_encoding",
            headers={"accept-encoding": "gzip"},
        )
    return form


def find_encoding(request: Request) -> str:
    """Return the content encoding of a body."""
    return ",".join(request.headers.getlist("content-encoding")).strip().lower()


def check_length(request: Request, settings: Settings) -> None:
    """Refuse a body whose declared length is too large, before it is read."""
    said = request.headers.get("content-length")
    if said is None:
        return
    if not (said.isascii() and said.isdigit()):
        raise RefusedRequestError(
            400, "expected a length in content-length", code="content_length", headers=CLOSE
        )
    # A number of that many digits is too large, whatever it is.
    if len(said) > 18 or int(said) > settings.body_bytes:
        raise _too_large(settings)


async def receive_body(request: Request, settings: Settings, hold: Callable[[int], None]) -> bytes:
    """Receive a body."""
    pieces: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(settings.body_seconds):
            async for piece in request.stream():
                size += len(piece)
                if size > settings.body_bytes:
                    raise _too_large(settings)
                hold(len(piece))
                pieces.append(piece)
    except TimeoutError:
        raise RefusedRequestError(
            408,
            f"expected a body within {settings.body_seconds:g} seconds",
            code="body_timeout",
            headers=CLOSE,
        ) from None
    return b"".join(pieces)


def _too_large(settings: Settings) -> RefusedRequestError:
    return RefusedRequestError(
        413,
        f"expected a body of at most {settings.body_bytes} bytes, found more",
        code="body_too_large",
        headers=CLOSE,
    )


GZIP = 16 + zlib.MAX_WBITS
PIECE = 1 << 16
FREE = 1 << 20
"""Bytes of output that may exceed the ratio."""


def gunzip(packed: bytes, settings: Settings) -> bytes:
    """Decompress a body.

    Examples:
        >>> import gzip
        >>> from rankscope.monitor.server.http.settings import Settings
        >>> gunzip(gzip.compress(b"a") + gzip.compress(b"b"), Settings())
        b'ab'
    """
    most = min(settings.plain_bytes, max(FREE, settings.ratio * len(packed)))
    plain = bytearray()
    members = 0
    member = None
    for start in range(0, len(packed), PIECE):
        piece = packed[start : start + PIECE]
        while piece:
            if member is None:
                members += 1
                if members > settings.members:
                    raise _too_much(f"at most {settings.members} members of gzip")
                member = zlib.decompressobj(GZIP)
            try:
                plain += member.decompress(piece, most - len(plain) + 1)
            except zlib.error:
                raise _damaged("something else") from None
            if len(plain) > most:
                raise _too_much(f"at most {most} bytes once unpacked")
            piece = member.unused_data if member.eof else member.unconsumed_tail
            if member.eof:
                member = None
    if member is not None or not members:
        raise _damaged("it cut off")
    return bytes(plain)


def _too_much(expected: str) -> RefusedRequestError:
    return RefusedRequestError(413, f"expected {expected}, found more", code="body_too_large")


def _damaged(found: str) -> RefusedRequestError:
    return RefusedRequestError(400, f"expected a body in gzip, found {found}", code="bad_gzip")


BOM = b"\xef\xbb\xbf"


def parse_events(body: bytes, most: int, *, is_lines: bool) -> list[object]:
    r"""Read a body of JSON strictly; a mistake in one object refuses that object only.

    Examples:
        >>> parse_events(b'{"rank": 1}', 2, is_lines=False)
        [{'rank': 1}]
        >>> refused, taken = parse_events(b'{"a": 1, "a": 2}\n{}', 2, is_lines=True)
        >>> print(refused, taken)
        expected each name once, found 'a' twice {}
    """
    _check_start(body)
    json = EventJSON()
    objects: list[object] = []
    if is_lines:
        for line in filter(bytes.strip, body.split(b"\n")):
            if len(objects) == most:
                raise _too_many(most)
            try:
                objects.append(json.settle(json.load(line)))
            except RefusedError as error:
                objects.append(error)
    else:
        value = _load(json, body)
        if not isinstance(value, list | dict | Flaw):
            raise RefusedRequestError(
                422, f"expected an event, or a list of them, found {show(value)}", code="json_type"
            )
        listed = value if isinstance(value, list) else [value]
        if len(listed) > most:
            raise _too_many(most)
        objects += map(json.settle, listed)
    if not objects:
        raise RefusedRequestError(400, "expected an event, found none", code="empty_body")
    return objects


def parse_value(body: bytes) -> object:
    """Read a body that is one value."""
    _check_start(body)
    json = EventJSON()
    return json.settle(_load(json, body))


def _load(json: EventJSON, body: bytes) -> object:
    try:
        return json.load(body)
    except RefusedError as error:
        raise RefusedRequestError(400, error.message, code=error.code) from None


def _too_many(most: int) -> RefusedRequestError:
    return RefusedRequestError(
        413, f"expected at most {most} events, found more", code="batch_too_large"
    )


def _check_start(body: bytes) -> None:
    if not body.strip():
        raise RefusedRequestError(400, "expected JSON, found nothing", code="empty_body")
    if body.startswith(BOM):
        raise RefusedRequestError(
            400, "expected JSON, found a byte order mark before it", code="json_syntax"
        )
