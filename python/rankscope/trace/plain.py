"""Records that leave as dicts and lists."""

from __future__ import annotations

from rankscope.output.table import Table, name_rows
from rankscope.records import as_dict


class Plain:
    """A record that leaves as dicts and lists, which can be written as JSON."""

    __slots__ = ()

    def to_dict(self) -> dict[str, object]:
        """Return the fields as dicts and lists."""
        return {name: _plain(held) for name, held in as_dict(self).items()}


def _plain(held: object) -> object:
    """Return records, tables and tuples as dicts and lists."""
    if isinstance(held, Table):
        return name_rows(held)
    if hasattr(held, "to_dict"):
        return held.to_dict()
    if hasattr(held, "items"):
        return {name: _plain(each) for name, each in held.items()}
    if isinstance(held, tuple):
        return [_plain(each) for each in held]
    return held
