"""Makes the addresses of pages, wherever they are written: pages, forms, redirects, messages."""

from __future__ import annotations

from urllib.parse import quote, urlencode

from rankscope.records import record

PROJECTS = "/projects/"


@record(frozen=True, slots=True)
class Links:
    """Makes addresses, below the prefix of a proxy and a project.

    Args:
        base: The prefix of the proxy, such as `/ranking`, or the public address of the dashboard.
        project: The project whose pages are meant; `None` for pages outside of projects.

    Examples:
        >>> Links("/ranking", "a/b")("/rankings", id="../a b&c", measure=None)
        '/ranking/projects/a%2Fb/rankings?id=..%2Fa%20b%26c'
        >>> Links("https://example.com", "music").top("/sign-in", next="/")
        'https://example.com/sign-in?next=%2F'
    """

    base: str = ""
    project: str | None = None

    def __call__(self, path: str, **parameters: str | int | list[str] | None) -> str:
        """Make the address of a page of the project.

        Ids stand in parameters, not in the path: browsers take `..` in a path for a way up.
        """
        inside = "" if self.project is None else f"{PROJECTS}{quote(self.project, safe='')}"
        return self.top(f"{inside}{path}", **parameters)

    def top(self, path: str, **parameters: str | int | list[str] | None) -> str:
        """Make the address of a page outside of projects."""
        given = {name: value for name, value in parameters.items() if value is not None}
        # What cannot be written as UTF-8 cannot have been stored either.
        query = urlencode(given, doseq=True, quote_via=quote, safe="", errors="replace")
        return f"{self.base}{path}?{query}" if query else f"{self.base}{path}"
