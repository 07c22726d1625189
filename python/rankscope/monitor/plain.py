"""Records, tables and tuples as values that JSON can hold, and records that are read back."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime, timedelta
from functools import cache
from types import UnionType
from typing import Any, Self, Union, get_args, get_origin, get_type_hints

from rankscope._names import as_dict
from rankscope._show.table import Table, name_rows
from rankscope.monitor.events.times import MICROSECOND, format_time, to_datetime, to_micros


class Stored:
    """A base of records that are stored as JSON and read back by the types of their fields.

    The types have to be known when a program runs.
    """

    __slots__ = ()

    def to_json(self) -> str:
        """Return all of it as JSON that `from_json` reads back."""
        said = make_plain(self, is_stored=True)
        return json.dumps(said, sort_keys=True, separators=(",", ":"), allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read what `to_json` has written."""
        made: Self = read_plain(cls, json.loads(text))
        return made


def make_plain(held: object, *, is_stored: bool = False) -> Any:  # noqa: ANN401 - JSON
    """Make dicts and lists of records, tables and tuples; numbers that are none become `None`.

    What is stored has times in microseconds, and all fields of records.

    Examples:
        >>> make_plain({"values": (0.5, float("nan")), "table": Table({"slice": ["tv"]})})
        {'values': [0.5, None], 'table': [{'slice': 'tv'}]}
    """
    if held is None or isinstance(held, bool | int | str):
        return held
    if isinstance(held, float):
        return held if math.isfinite(held) else None
    if isinstance(held, datetime):
        return to_micros(held) if is_stored else format_time(held)
    if isinstance(held, timedelta):
        return held // MICROSECOND
    if isinstance(held, Table):
        held = name_rows(held)
    elif hasattr(held, "to_dict") and not (is_stored and isinstance(held, Stored)):
        held = held.to_dict()
    if isinstance(held, tuple | list | frozenset):
        return [make_plain(each, is_stored=is_stored) for each in held]
    if not hasattr(held, "items"):
        held = as_dict(held)
    return {str(name): make_plain(each, is_stored=is_stored) for name, each in held.items()}


def write_record(
    made: object, names: Collection[str] = (), times: Collection[str] = ()
) -> dict[str, Any]:
    """Return fields of a record (default: all) as JSON holds them; `times` are microseconds."""
    found = {}
    for name in names or [field.name for field in fields(made)]:  # type: ignore[arg-type]  # a dataclass
        value = getattr(made, name)
        is_time = name in times and value is not None
        found[name] = format_time(value) if is_time else make_plain(value)
    return found


def read_plain(kind: Any, said: Any) -> Any:  # noqa: ANN401 - of that type
    """Read a value of a type from what is stored of it."""
    if get_origin(kind) in {Union, UnionType}:
        [kind] = set(get_args(kind)) - {type(None)}
        return None if said is None else read_plain(kind, said)
    if get_origin(kind) is tuple:
        kinds = get_args(kind)
        kinds = kinds[:1] * len(said) if kinds[-1] is Ellipsis else kinds
        return tuple(read_plain(*each) for each in zip(kinds, said, strict=True))
    if kind is float:
        return math.nan if said is None else said
    if kind is datetime:
        return to_datetime(said)
    if kind is timedelta:
        return timedelta(microseconds=said)
    fields = _find_fields(kind)
    if hasattr(kind, "_fields"):
        return kind(*map(read_plain, fields.values(), said))
    if not fields:
        return said
    if hasattr(kind, "from_dict") and not issubclass(kind, Stored):
        return kind.from_dict(said)
    return kind(**{name: read_plain(fields[name], each) for name, each in said.items()})


@cache
def _find_fields(kind: Any) -> Mapping[str, Any]:  # noqa: ANN401 - any type
    """Return the fields of a record and their types; none of what is no record."""
    return get_type_hints(kind) if is_dataclass(kind) or hasattr(kind, "_fields") else {}
