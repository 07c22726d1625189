"""Reads the weights of queries."""

from __future__ import annotations

import math

from rankscope.engine.query_values import line_up
from rankscope.errors import FormatError
from rankscope.names import quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import TypeAlias

    Weights: TypeAlias = Mapping[str, float] | Sequence[float]


def read_weights(given: object, read_ids: Callable[[], list[str]]) -> list[float] | None:
    """Read the weight of each query, in the order of the queries."""
    if given is None:
        return None
    queries = read_ids()
    if isinstance(given, str):
        raise _bad_weights(f"weights, found the text {quote(given)}")
    weights = line_up(given, queries)
    if isinstance(weights, str):
        raise _bad_weights(f"a weight for every query, found none for {weights!r}")
    if len(weights) != len(queries):
        raise _bad_weights(f"{len(queries)} weights, found {len(weights)}")
    try:
        real = [weight for weight in weights if not isinstance(weight, complex)]
        numbers = [float(weight) for weight in real if hasattr(weight, "__float__")]
    except (TypeError, ValueError, OverflowError):
        numbers = []
    if len(numbers) != len(weights) or not are_weights(numbers):
        raise _bad_weights(f"weights of 0 or more, not all 0, found {weights[:5]}")
    return numbers


def are_weights(numbers: Sequence[float]) -> bool:
    """Check whether all weights are finite and none is negative, with at least one above 0."""
    return all(0 <= number < math.inf for number in numbers) and any(numbers)


def _bad_weights(what: str) -> FormatError:
    return FormatError(
        f"expected {what}",
        hint="pass one weight per query: a mapping of query to weight, or a list in the order of "
        "query_ids",
        code="bad_weights",
        file="weights",
    )
