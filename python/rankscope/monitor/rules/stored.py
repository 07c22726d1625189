"""Records that are stored as JSON and read back, by the types of their fields."""

from __future__ import annotations

import json
import math
from datetime import datetime, timedelta
from functools import cache
from types import UnionType
from typing import TYPE_CHECKING, Any, Self, Union, get_args, get_origin, get_type_hints

from rankscope.monitor.events.times import MICROSECOND, format_time, to_datetime, to_micros

if TYPE_CHECKING:
    from collections.abc import Mapping


class Stored:
    """A base of records, whose types have to be known when a program runs."""

    __slots__ = ()

    def to_json(self) -> str:
        """Return all of it as JSON that `from_json` reads back."""
        return json.dumps(write(self), sort_keys=True, separators=(",", ":"), allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read what `to_json` has written."""
        made: Self = read(cls, json.loads(text))
        return made


def show_time(moment: datetime | None) -> str | None:
    """Return a time as people and programs read it."""
    return None if moment is None else format_time(moment)


def write(value: Any) -> Any:  # noqa: ANN401 - of any type, as JSON
    """Return a value as JSON holds it; a number that is none is `None`."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, datetime):
        return to_micros(value)
    if isinstance(value, timedelta):
        return value // MICROSECOND
    if isinstance(value, tuple):
        return [write(each) for each in value]
    if hasattr(value, "__match_args__"):
        if not isinstance(value, Stored) and hasattr(value, "to_dict"):
            return value.to_dict()
        return {name: write(getattr(value, name)) for name in value.__match_args__}
    return value


def read(kind: Any, said: Any) -> Any:  # noqa: ANN401 - of that type
    """Read a value of a type from what `write` returned."""
    if get_origin(kind) in {Union, UnionType}:
        [kind] = set(get_args(kind)) - {type(None)}
        return None if said is None else read(kind, said)
    if get_origin(kind) is tuple:
        kinds = get_args(kind)
        kinds = kinds[:1] * len(said) if kinds[-1] is Ellipsis else kinds
        return tuple(read(*each) for each in zip(kinds, said, strict=True))
    if kind is float:
        return math.nan if said is None else said
    if kind is datetime:
        return to_datetime(said)
    if kind is timedelta:
        return timedelta(microseconds=said)
    fields = find_fields(kind)
    if hasattr(kind, "_fields"):
        return kind(*map(read, fields.values(), said))
    if not fields:
        return said
    if hasattr(kind, "from_dict") and not issubclass(kind, Stored):
        return kind.from_dict(said)
    return kind(**{name: read(fields[name], each) for name, each in said.items()})


@cache
def find_fields(kind: Any) -> Mapping[str, Any]:  # noqa: ANN401 - any type
    """Return the fields of a record and their types; none of what is no record."""
    return get_type_hints(kind) if hasattr(kind, "__match_args__") else {}
