"""Addresses of pages, with whatever text in their parameters."""

from __future__ import annotations

from urllib.parse import quote, urlencode


def make_address(path: str, **parameters: str | int | None) -> str:
    """Make the address of a page.

    Ids stand in parameters, not in the path: browsers take `..` in a path for a way up.

    Args:
        path: The page.
        parameters: What it is about; those that are `None` are left out.

    Examples:
        >>> make_address("/rankings", id="../a b&c", measure=None)
        '/rankings?id=..%2Fa%20b%26c'
    """
    given = {name: value for name, value in parameters.items() if value is not None}
    # What cannot be written as UTF-8 cannot have been stored either.
    query = urlencode(given, quote_via=quote, safe="", errors="replace")
    return f"{path}?{query}" if query else path
