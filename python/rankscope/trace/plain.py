"""Records that leave as dicts and lists."""

from __future__ import annotations

from rankscope.output.table import Table


class Plain:
    """A record that leaves as dicts and lists, which can be written as JSON."""

    __slots__ = ()

    def to_dict(self) -> dict[str, object]:
        """Return the fields as dicts and lists."""
        names: tuple[str, ...] = type(self).__match_args__  # type: ignore[attr-defined]  # of records
        return {name: _plain(getattr(self, name)) for name in names}


def _plain(held: object) -> object:
    """Return records, tables and tuples as dicts and lists."""
    if isinstance(held, Table):
        return [dict(zip(held.names, row, strict=True)) for row in held.rows()]
    if hasattr(held, "to_dict"):
        return held.to_dict()
    if hasattr(held, "items"):
        return {name: _plain(each) for name, each in held.items()}
    if isinstance(held, tuple):
        return [_plain(each) for each in held]
    return held
