"""Records, tables and tuples as values that JSON can hold."""

from __future__ import annotations

import math
from datetime import datetime, timedelta

from rankscope.monitor.events.times import MICROSECOND, format_time
from rankscope.output.table import Table, name_rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
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
        return format_time(held)
    if isinstance(held, timedelta):
        return held // MICROSECOND
    if isinstance(held, Table):
        return make_plain(name_rows(held))
    if hasattr(held, "to_dict"):
        return make_plain(held.to_dict())
    if hasattr(held, "items"):
        return {str(name): make_plain(each) for name, each in held.items()}
    if isinstance(held, tuple | list | frozenset):
        return [make_plain(each) for each in held]
    return write_record(held)


def write_record(
    made: object, names: Collection[str] = (), times: Collection[str] = ()
) -> dict[str, Any]:
    """Return fields of a record (default: all) as JSON holds them; `times` are microseconds."""
    found = {}
    for name in names or type(made).__match_args__:  # type: ignore[attr-defined]  # of records
        value = getattr(made, name)
        is_time = name in times and value is not None
        found[name] = format_time(value) if is_time else make_plain(value)
    return found
