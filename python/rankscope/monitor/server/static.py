"""The files that pages load: read once, each at an address with the hash of its content.

No name of a request is ever joined to a folder: each file is a route of its own.
"""

from __future__ import annotations

from hashlib import sha256
from pathlib import PurePath

from starlette.responses import Response

from rankscope.monitor.server.endpoint import Endpoint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankscope.monitor.server.endpoint import Asked

TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
"""The media type of a file, by the end of its name."""

KEPT = "public, max-age=31536000, immutable"


def name_files(files: Mapping[str, bytes]) -> dict[str, str]:
    """Give the addresses of files, by their names.

    Examples:
        >>> name_files({"page.css": b""})
        {'page.css': '/static/page-e3b0c44298fc.css'}
    """
    return {name: _address(name, content) for name, content in files.items()}


def serve_files(files: Mapping[str, bytes]) -> tuple[Endpoint, ...]:
    """Make the routes of files, by their names; the end of a name is one of `TYPES`."""
    return tuple(_serve(name, content) for name, content in files.items())


def _serve(name: str, content: bytes) -> Endpoint:
    media_type = TYPES[PurePath(name).suffix]

    async def answer(_asked: Asked) -> Response:
        return Response(content, media_type=media_type, headers={"cache-control": KEPT})

    return Endpoint(
        "GET", _address(name, content), None, answer, "file", f"The file {name} of the pages."
    )


def _address(name: str, content: bytes) -> str:
    path = PurePath(name)
    return f"/static/{path.stem}-{sha256(content).hexdigest()[:12]}{path.suffix}"
