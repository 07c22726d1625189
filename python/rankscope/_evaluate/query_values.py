"""Reads what is given for each query, such as its weight or its cluster."""

from __future__ import annotations

import math
from collections.abc import Mapping

from rankscope._core import order_texts
from rankscope.errors import FormatError, UsageError
from rankscope.names import quote
from rankscope.output.ids import MISSING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any, TypeAlias

    from rankscope.settings.interval import Interval

    Weights: TypeAlias = Mapping[str, float] | Sequence[float]
    Clusters: TypeAlias = Mapping[str, object] | Sequence[object]


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


def _line_up_all(
    noun: str, given: object, queries: Sequence[str], refuse: Callable[[str], FormatError]
) -> list[object]:
    values = line_up(given, queries)
    if isinstance(values, str):
        raise refuse(f"a {noun} for every query, found none for {values!r}")
    if len(values) != len(queries):
        raise refuse(f"{len(queries)} {noun}s, found {len(values)}")
    return values


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


def read_weights(given: object, read_ids: Callable[[], list[str]]) -> list[float] | None:
    """Read the weight of each query, in the order of the queries."""
    if given is None:
        return None
    queries = read_ids()
    if isinstance(given, str):
        raise _bad_weights(f"weights, found the text {quote(given)}")
    weights = _line_up_all("weight", given, queries, _bad_weights)
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


def read_clusters(given: Clusters, read_ids: Callable[[], list[str]]) -> list[int]:
    """Read the cluster of each query, in the order of the queries, as a number."""
    clusters = _line_up_all("cluster", given, read_ids(), _bad_clusters)
    try:
        return number_clusters(clusters)
    except (TypeError, ValueError, NotImplementedError):  # of columns, which can't be compared
        kind = type(clusters[0]).__name__
        raise _bad_clusters(f"text or a number as a cluster, found {kind}") from None


def number_clusters(clusters: Iterable[object]) -> list[int]:
    """Return a number for each query, equal for queries of the same cluster.

    A query without a cluster (`None`, NaN or `<missing>`) is a cluster of its own.
    """
    numbers: dict[object, int] = {}
    codes = []
    for at, cluster in enumerate(clusters):
        is_missing = cluster is None or cluster == MISSING or cluster != cluster  # noqa: PLR0124 - NaN
        codes.append(-1 - at if is_missing else numbers.setdefault(cluster, len(numbers)))
    return codes


def refuse_cluster_alone(cluster: object, interval: Interval | None) -> None:
    """Raise an error for clusters without an interval, on which they would have no effect."""
    if cluster is not None and interval is None:
        raise UsageError(
            "cluster has no effect without an interval",
            hint="add interval=0.95, or remove cluster",
            code="bad_parameter",
        )


def check_cluster_column(cluster: object) -> None:
    """Raise an error for clusters of a table that aren't the name of a column."""
    if cluster is not None and not isinstance(cluster, str):
        raise UsageError(
            f"expected the name of a column as cluster, found {type(cluster).__name__}",
            hint="add the clusters to the table as a column, such as cluster='user_id'",
            code="bad_parameter",
        )


def _bad_clusters(what: str) -> FormatError:
    return FormatError(
        f"expected {what}",
        hint="pass one cluster per query, by query or in the order of query_ids",
        code="bad_clusters",
        file="cluster",
    )


def order_queries(query_ids: Sequence[str]) -> list[int]:
    """Return the places of queries in the order of their ids as text.

    Whatever resamples queries, or adds up rounded numbers of them, takes them in this order. The
    result then doesn't depend on the order of the rows, or on whether ids are integers or text.
    """
    try:
        return order_texts(query_ids)
    except UnicodeEncodeError:  # lone surrogates aren't UTF-8, which has the same order
        return sorted(range(len(query_ids)), key=query_ids.__getitem__)
