"""Makes the addresses of pages, wherever they are written: pages, forms, redirects, messages."""

from __future__ import annotations

from dataclasses import dataclass, replace
from urllib.parse import quote, urlencode

PROJECTS = "/projects/"


@dataclass(frozen=True, slots=True)
class Links:
    """Makes addresses, below the prefix of a proxy and a project.

    Args:
        base: The prefix of the proxy, such as `/ranking`, or the public address of the dashboard.
        project: The project whose pages are meant; `None` for pages outside of projects.

    Examples:
        >>> Links("/ranking", "a/b")("/rankings", id="r1")
        '/ranking/projects/a%2Fb/rankings?id=r1'
        >>> Links("https://example.com", "music").top("/sign-in", next="/")
        'https://example.com/sign-in?next=%2F'
    """

    base: str = ""
    project: str | None = None

    def of(self, project: str | None) -> Links:
        """Return what makes the addresses of another project."""
        return replace(self, project=project)

    def __call__(self, path: str, **parameters: str | int | list[str] | None) -> str:
        """Make the address of a page of the project, from its path in the project."""
        if self.project is None:
            return self.top(path, **parameters)
        # Chat clients end a link at two dots.
        name = quote(self.project, safe="").replace("..", "%2E%2E")
        return self.top(f"{PROJECTS}{name}{path}", **parameters)

    def top(self, path: str, **parameters: str | int | list[str] | None) -> str:
        """Make the address of a page outside of projects."""
        return f"{self.base}{add_query(path, **parameters)}"


def add_query(path: str, **parameters: str | int | list[str] | None) -> str:
    """Add parameters to a path.

    Ids stand in parameters, not in the path: browsers take `..` in a path for a way up.

    Examples:
        >>> add_query("/rankings", id="../a b&c", measure=None)
        '/rankings?id=..%2Fa%20b%26c'
    """
    given = {name: value for name, value in parameters.items() if value is not None}
    # What cannot be written as UTF-8 cannot have been stored either.
    query = urlencode(given, doseq=True, quote_via=quote, safe="", errors="replace")
    return f"{path}?{query}" if query else path
