"""Reads the weights of queries."""

from __future__ import annotations

import math
from collections.abc import Mapping

from rankscope.errors import FormatError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeAlias

    Weights: TypeAlias = Mapping[str, float] | Sequence[float]


def read_weights(given: Weights | None, read_ids: Callable[[], list[str]]) -> list[float] | None:
    """Read the weight of each query, in the order of the queries.

    Raises:
        FormatError: A query has no weight, or a weight is none.
    """
    if given is None:
        return None
    queries = read_ids()
    if isinstance(given, Mapping):
        lacking = [query for query in queries if query not in given]
        if lacking:
            raise _bad_weights(f"a weight for every query, found none for {lacking[0]!r}")
        weights = [given[query] for query in queries]
    else:
        weights = [*given]
    if len(weights) != len(queries):
        raise _bad_weights(f"{len(queries)} weights, found {len(weights)}")
    numbers = [float(weight) for weight in weights if hasattr(weight, "__float__")]
    if len(numbers) != len(weights) or not are_weights(numbers):
        raise _bad_weights(f"weights of 0 or more, not all 0, found {weights[:5]}")
    return numbers


def are_weights(numbers: Sequence[float]) -> bool:
    """Check whether all weights are finite and none is negative, with at least one above 0."""
    return all(0 <= number < math.inf for number in numbers) and any(numbers)


def _bad_weights(what: str) -> FormatError:
    return FormatError(
        f"expected {what}",
        hint="give one weight a query, in the order of query_ids or by query",
        code="bad_weights",
        file="weights",
    )
