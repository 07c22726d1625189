"""Records, tables and tuples as values that JSON can hold."""

from __future__ import annotations

import math
from datetime import datetime, timedelta

from rankscope.monitor.events.times import MICROSECOND, to_micros
from rankscope.output.table import Table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def make_plain(held: object) -> Any:  # noqa: ANN401 - JSON
    """Make dicts and lists of records, tables and tuples; numbers that are none become `None`.

    Examples:
        >>> make_plain({"values": (0.5, float("nan")), "table": Table({"slice": ["tv"]})})
        {'values': [0.5, None], 'table': [{'slice': 'tv'}]}
    """
    if held is None or isinstance(held, bool | int | str):
        return held
    if isinstance(held, float):
        return held if math.isfinite(held) else None
    if isinstance(held, datetime):
        return to_micros(held)
    if isinstance(held, timedelta):
        return held // MICROSECOND
    if isinstance(held, Table):
        return [make_plain(dict(zip(held.names, row, strict=True))) for row in held.rows()]
    if hasattr(held, "to_dict"):
        return make_plain(held.to_dict())
    if hasattr(held, "items"):
        return {str(name): make_plain(each) for name, each in held.items()}
    if isinstance(held, tuple | list | frozenset):
        return [make_plain(each) for each in held]
    names: tuple[str, ...] = type(held).__match_args__  # type: ignore[attr-defined]  # of records
    return {name: make_plain(getattr(held, name)) for name in names}
