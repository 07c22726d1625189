"""Request bodies: read within limits, unpacked within limits."""

from __future__ import annotations

import asyncio
import zlib
from contextlib import contextmanager

from rankscope.monitor.server.http.problems import CLOSE, RefusedRequestError, ask_again

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from starlette.requests import Request

    from rankscope.monitor.server.settings import Settings

LINES = frozenset({"application/x-ndjson", "application/ndjson", "application/jsonl"})
FORMS = LINES | {"application/json"}


class Held:
    """Bytes of bodies that are there, of all requests.

    Args:
        most: How many there may be at a time.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._held = 0

    @contextmanager
    def hold(self) -> Iterator[Callable[[int], None]]:
        """Give what counts bytes as they come; all of them are gone in the end.

        It raises `RefusedRequestError` when there are too many already.
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


def read_form(request: Request) -> str:
    """Give the type of a body that can be read.

    Raises:
        RefusedRequestError: It is of another type, or packed otherwise than by gzip.
    """
    given = request.headers.getlist("content-type")
    form, _, parameters = (given[0] if len(given) == 1 else "").partition(";")
    form = form.strip().lower()
    charset = parameters.replace('"', "").replace(" ", "").lower()
    if form not in FORMS or charset not in {"", "charset=utf-8"}:
        raise RefusedRequestError(
            415,
            "expected a body of application/json or application/x-ndjson in UTF-8",
            code="content_type",
            headers={"accept": "application/json, application/x-ndjson"},
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
    """Give how a body is packed, as its headers say."""
    return ",".join(request.headers.getlist("content-encoding")).strip().lower()


def check_length(request: Request, settings: Settings) -> None:
    """Refuse a body by what is said of its length, before anything of it is read.

    Raises:
        RefusedRequestError: It has more bytes than are allowed.
    """
    said = request.headers.get("content-length")
    if said is None:
        return
    if not (said.isascii() and said.isdigit()):
        raise RefusedRequestError(
            400, "expected a length in content-length", code="content_length", headers=CLOSE
        )
    # More digits than any length has are more than is allowed.
    if len(said) > 18 or int(said) > settings.body_bytes:
        raise _too_large(settings)


async def receive_body(request: Request, settings: Settings, hold: Callable[[int], None]) -> bytes:
    """Receive a body.

    Args:
        request: The request.
        settings: How large it may be, and how long it may take.
        hold: Counts its bytes.

    Raises:
        RefusedRequestError: It is larger than allowed, or takes too long, or there is no room.
        ClientDisconnect: Whoever sends it has gone.
    """
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
"""Bytes of output whose ratio does not count."""


def gunzip(packed: bytes, settings: Settings) -> bytes:
    """Unpack a body.

    Args:
        packed: One or more members of gzip, and nothing else.
        settings: How much comes out of them at most.

    Raises:
        RefusedRequestError: They are damaged or cut off, or too much comes out.

    Examples:
        >>> import gzip
        >>> from rankscope.monitor.server.settings import Settings
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
