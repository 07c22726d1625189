"""Content that never changes while the service runs: hashed and compressed once.

Each file is a route of its own; no name from a request is joined to a folder.
"""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from hashlib import sha256
from pathlib import PurePath
from typing import TYPE_CHECKING

from starlette.responses import Response

from rankscope.monitor.server.routing.endpoint import Call, Endpoint

if TYPE_CHECKING:
    from starlette.requests import Request


TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
"""The media type of a file, by the end of its name."""

KEPT = "public, max-age=31536000, immutable"


class Content:
    """Bytes that are sent as they are, or compressed to clients that accept gzip.

    Args:
        content: The bytes.
        media_type: Their type.
        cache: The value of the header `cache-control`.
    """

    def __init__(self, content: bytes, media_type: str, cache: str) -> None:
        self._plain = content
        self._packed = gzip.compress(content, mtime=0)
        # Weak, because both forms have the same one.
        self._tag = f'W/"{sha256(content).hexdigest()[:32]}"'
        self._headers = {
            "content-type": media_type,
            "cache-control": cache,
            "etag": self._tag,
            "vary": "accept-encoding",
        }

    def answer(self, request: Request) -> Response:
        """Answer a request; with 304 where the client has the same content already."""
        if self._tag in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=self._headers)
        if _accepts_gzip(request.headers.get("accept-encoding", "")):
            headers = {**self._headers, "content-encoding": "gzip"}
            return Response(self._packed, headers=headers)
        return Response(self._plain, headers=self._headers)


def name_files(files: Mapping[str, bytes]) -> dict[str, str]:
    """Return the address of each file, by its name.

    Examples:
        >>> name_files({"page.css": b""})
        {'page.css': '/static/page-e3b0c44298fc.css'}
    """
    return {name: _address(name, content) for name, content in files.items()}


def serve_files(files: Mapping[str, bytes]) -> tuple[Endpoint, ...]:
    """Make the routes of files, by their names; the end of a name is one of `TYPES`."""
    return tuple(_serve(name, content) for name, content in files.items())


def _serve(name: str, content: bytes) -> Endpoint:
    made = Content(content, TYPES[PurePath(name).suffix], KEPT)

    async def answer(call: Call) -> Response:
        return made.answer(call.request)

    return Endpoint(
        "GET", _address(name, content), None, answer, "file", f"The file {name} of the pages."
    )


def _address(name: str, content: bytes) -> str:
    path = PurePath(name)
    return f"/static/{path.stem}-{sha256(content).hexdigest()[:12]}{path.suffix}"


def _accepts_gzip(accepted: str) -> bool:
    """Whether a client takes gzip; `gzip;q=0` says that it doesn't."""
    for one in accepted.lower().split(","):
        name, _, weight = one.replace(" ", "").partition(";")
        if name == "gzip":
            return weight not in {"q=0", "q=0.0", "q=0.00", "q=0.000"}
    return False
