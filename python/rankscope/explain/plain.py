"""An explanation as plain values: mappings, lists, texts and numbers."""

from __future__ import annotations

import math

from rankscope.data.policy import Policy
from rankscope.measures import Measure


def to_plain(value: object) -> object:
    """Give a record as a mapping; measures become names, and what is no number becomes `None`."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, tuple | list):
        return [to_plain(item) for item in value]
    if isinstance(value, Measure):
        return value.name
    if isinstance(value, Policy):
        return value.to_dict()
    names: tuple[str, ...] = getattr(type(value), "__match_args__", ())
    return {name: to_plain(getattr(value, name)) for name in names}
