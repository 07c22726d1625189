"""Reads which queries depend on one another."""

from __future__ import annotations

from rankscope.engine.query_values import line_up
from rankscope.errors import FormatError, UsageError
from rankscope.output.ids import MISSING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import TypeAlias

    from rankscope.settings.interval import Interval

    Clusters: TypeAlias = Mapping[str, object] | Sequence[object]


def read_clusters(given: Clusters, read_ids: Callable[[], list[str]]) -> list[int]:
    """Read the cluster of each query, in the order of the queries, as a number."""
    queries = read_ids()
    clusters = line_up(given, queries)
    if isinstance(clusters, str):
        raise _bad_clusters(f"a cluster for every query, found none for {clusters!r}")
    if len(clusters) != len(queries):
        raise _bad_clusters(f"{len(queries)} clusters, found {len(clusters)}")
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
