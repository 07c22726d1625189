"""The address of a request: the prefix of a proxy, the project, and the path below them."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from rankscope.monitor.links import PROJECTS, Links

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import Scope


def take_address(scope: Scope, prefix: str) -> None:
    """Take the prefix and `/projects/NAME` off the path of a request; `links_of` knows them.

    They are read from the path as sent: in a decoded one, a slash of the name would end it.
    """
    sent = (scope.get("raw_path") or quote(scope["path"]).encode()).decode("latin-1")
    path = sent.removeprefix(prefix) if sent.startswith(f"{prefix}/") else sent
    project = None
    if path.startswith(PROJECTS):
        name, _, path = path.removeprefix(PROJECTS).partition("/")
        project, path = unquote(name), f"/{path}"
    if path != sent:
        scope["path"], scope["raw_path"] = unquote(path), path.encode("latin-1")
    scope["state"]["links"] = Links(prefix or scope["state"].get("prefix", ""), project)


def links_of(request: Request) -> Links:
    """Return what makes the addresses of pages for the caller of a request."""
    links: Links = request.state.links
    return links
