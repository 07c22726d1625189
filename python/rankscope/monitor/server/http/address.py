"""The address of a request: the prefix of a proxy, the project, and the path below them."""

from __future__ import annotations

from urllib.parse import quote, unquote

from rankscope.monitor.links import PROJECTS, Links

TYPE_CHECKING = False
if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import Scope


def take_project(scope: Scope) -> None:
    """Take `/projects/NAME` off the path of a request; `links_of` knows it from then on.

    It is read from the path as sent: in a decoded one, a slash of the name would end it.
    """
    path = (scope.get("raw_path") or quote(scope["path"]).encode()).decode("latin-1")
    project = None
    if path.startswith(PROJECTS):
        name, _, rest = path.removeprefix(PROJECTS).partition("/")
        project = unquote(name)
        scope["path"] = f"/{unquote(rest)}"
        scope["raw_path"] = f"/{rest}".encode("latin-1")
    scope["state"]["links"] = Links("", project)


def links_of(request: Request) -> Links:
    """Return what makes the addresses of pages for the caller of a request."""
    links: Links = request.state.links
    return links
