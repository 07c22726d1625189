"""An explanation as plain values: mappings, lists, texts and numbers."""

from __future__ import annotations

import math

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.explain.explanation import Explanation


def to_dict(explanation: Explanation) -> dict[str, object]:
    """Give an explanation as plain values; measure and policy become texts."""
    plain = _plain(explanation)
    if not isinstance(plain, dict):
        raise TypeError(explanation)
    written = {"measure": explanation.measure.name, "policy": explanation.policy.to_dict()}
    grades = [{"grade": grade, "gain": gain} for grade, gain in explanation.gains]
    return plain | written | {"gains": grades, "formula": explanation.formula}


def _plain(value: object) -> object:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    names: tuple[str, ...] = getattr(type(value), "__match_args__", ())
    return {name: _plain(getattr(value, name)) for name in names}
