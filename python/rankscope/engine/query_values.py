"""Reads what is given for each query, such as its weight or its cluster."""

from __future__ import annotations

from collections.abc import Mapping

from rankscope.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


def line_up(given: object, queries: Sequence[str]) -> list[object] | str:
    """Return a value for each query, or the first query that has none."""
    given = read_series(given)
    if not isinstance(given, Mapping):
        try:
            return [*given]  # type: ignore[misc]  # a sequence, see above
        except TypeError:
            raise UsageError(
                f"expected a value per query, found {type(given).__name__}",
                hint="write {'q1': 2, 'q2': 1}, or a list in the order of query_ids",
                code="bad_parameter",
            ) from None
    named = name_queries(given, queries)
    lacking = next((query for query in queries if query not in named), None)
    return [named[query] for query in queries] if lacking is None else lacking


def read_series(given: Any) -> Any:  # noqa: ANN401 - any argument of a user
    """Return a pandas Series with an index of queries as a mapping, and anything else as it is.

    A Series whose index only counts its rows has no queries.
    """
    index = getattr(given, "index", None)
    if not hasattr(given, "to_dict") or index is None or type(index).__name__ == "RangeIndex":
        return given
    return given.to_dict()


def name_queries(given: Mapping[Any, Any], queries: Sequence[str]) -> Mapping[Any, Any]:
    """Return a mapping of query to value in which integer queries are text."""
    if all(query in given for query in queries):
        return given
    return {str(query): value for query, value in given.items()}
