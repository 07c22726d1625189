"""Reads what is known of each query besides its values: slices, clusters and weights."""

from __future__ import annotations

import math
from collections.abc import Mapping

from rankscope._core import order_texts
from rankscope.errors import FormatError, UsageError
from rankscope.output.ids import MISSING, AttributeColumn
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any, TypeAlias

    from rankscope.settings.interval import Interval
    from rankscope.settings.reading import Reading

    By: TypeAlias = str | Sequence[str] | Mapping[str, object]
    Weights: TypeAlias = Mapping[str, float] | Sequence[float]
    Clusters: TypeAlias = Mapping[str, object] | Sequence[object]
    Groups: TypeAlias = tuple[str, list[str], list[int]]
    """A name, its different values, and which of them each query has."""
    Find: TypeAlias = Callable[[str], Groups]


def _line_up(noun: str, given: object, queries: Sequence[str]) -> list[Any]:
    """Return a value for each query."""
    given = read_series(given)
    if isinstance(given, Mapping):
        named = name_queries(given, queries)
        lacking = next((query for query in queries if query not in named), None)
        if lacking is not None:
            raise _bad_values(noun, f"a {noun} for every query, found none for {lacking!r}")
        return [named[query] for query in queries]
    try:
        values = [*given]  # type: ignore[misc]  # a sequence, see above
    except TypeError:
        raise UsageError(
            f"expected a value per query, found {type(given).__name__}",
            hint="write {'q1': 2, 'q2': 1}, or a list in the order of query_ids",
            code="bad_parameter",
        ) from None
    if len(values) != len(queries):
        raise _bad_values(noun, f"{len(queries)} {noun}s, found {len(values)}")
    return values


def _bad_values(noun: str, what: str) -> FormatError:
    return FormatError(
        f"expected {what}",
        hint=f"pass one {noun} per query: a mapping of query to {noun}, or a list in the order of "
        "query_ids",
        code=f"bad_{noun}s",
        file=noun if noun == "cluster" else f"{noun}s",
    )


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


def weigh_queries(
    weights: str | Weights | None, read_ids: Callable[[], list[str]], find: Find
) -> list[float] | None:
    """Return the weight of each query, if there are weights."""
    if weights is None:
        return None
    if isinstance(weights, str):
        values = _take(weights, find)
        try:
            given: list[Any] = [float(value) for value in values]
        except ValueError as error:
            raise FormatError(
                f"column {weights} has a weight that is not a number",
                hint="a weight is one number per query: how much the query counts",
                code="bad_weights",
            ) from error
    else:
        given = _line_up("weight", weights, read_ids())
    try:
        real = [weight for weight in given if not isinstance(weight, complex)]
        numbers = [float(weight) for weight in real if hasattr(weight, "__float__")]
    except (TypeError, ValueError, OverflowError):
        numbers = []
    if len(numbers) != len(given) or not are_weights(numbers):
        raise _bad_values("weight", f"weights of 0 or more, not all 0, found {given[:5]}")
    return numbers


def are_weights(numbers: Sequence[float]) -> bool:
    """Check whether all weights are finite and none is negative, with at least one above 0."""
    return all(0 <= number < math.inf for number in numbers) and any(numbers)


def cluster_queries(
    cluster: str | Clusters | None, read_ids: Callable[[], list[str]], find: Find
) -> list[int] | None:
    """Return the number of the cluster of each query, if there are clusters."""
    if cluster is None:
        return None
    cluster = read_series(cluster)
    if isinstance(cluster, str):
        return number_clusters(_take(cluster, find))
    clusters = _line_up("cluster", cluster, read_ids())
    try:
        return number_clusters(clusters)
    except (TypeError, ValueError, NotImplementedError):  # of columns, which can't be compared
        kind = type(clusters[0]).__name__
        raise _bad_values("cluster", f"text or a number as a cluster, found {kind}") from None


def _take(name: str, find: Find) -> list[str]:
    """Return the value of each query in a column."""
    _, values, codes = find(name)
    return [values[code] for code in codes]


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


def list_names(by: By, *others: object) -> list[str]:
    """Return the attributes that are named, each once: those of slices, and other texts."""
    names = [] if isinstance(by, Mapping) else [*by]
    return list(dict.fromkeys([*names, *(each for each in others if isinstance(each, str))]))


def read_by(by: object) -> list[str] | Mapping[str, object]:
    """Return the names of the columns to slice by, or the value of each query."""
    by = read_series(by)
    return by if isinstance(by, Mapping) else read_slicing(by)


def read_slicing(by: object) -> list[str]:
    """Return the names of the columns to slice by."""
    names = [by] if isinstance(by, str) else [] if by is None else by
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        raise UsageError(
            f"expected by as the names of columns, or a mapping of query to value, found "
            f"{type(by).__name__}",
            hint="write by='country', by=['country', 'device'], or by={'q1': 'de', 'q2': 'at'}",
            code="bad_parameter",
        )
    return list(dict.fromkeys(names))


def slice_queries(by: By | None, read_ids: Callable[[], list[str]], find: Find) -> list[Groups]:
    """Return the slices of queries; queries that a mapping lacks are `<missing>`."""
    by = read_by(by)
    if not isinstance(by, Mapping):
        return [find(name) for name in by]
    queries = read_ids()
    named = name_queries(by, queries)
    if queries and named.keys().isdisjoint(queries):
        raise UsageError(
            f"the mapping has a slice for none of the queries, such as {queries[0]!r}",
            hint="give a mapping of query to slice",
            code="unknown_attribute",
        )
    return [encode("slice", [_name_value(named.get(query)) for query in queries])]


def join_groups(attributes: Sequence[Groups]) -> Groups | None:
    """Combine several groupings: each distinct combination of values is a group."""
    if len(attributes) < 2:
        return attributes[0] if attributes else None
    combined = list(zip(*(codes for _, _, codes in attributes), strict=True))
    # By number: `a, b` and `c` can read like `a` and `b, c`.
    numbers = {key: number for number, key in enumerate(dict.fromkeys(combined))}
    texts = [
        ", ".join(
            _quote(values[code]) for (_, values, _), code in zip(attributes, key, strict=True)
        )
        for key in numbers
    ]
    name = ", ".join(name for name, _, _ in attributes)
    return name, texts, [numbers[key] for key in combined]


def _quote(text: str) -> str:
    return f'"{text}"' if ", " in text else text


@record(frozen=True, slots=True)
class Attributes:
    """The attributes of queries.

    Args:
        find: Returns the value of each query, by the name of the attribute.
        columns: The attributes as the caller has them, as far as they have types.
    """

    find: Find
    columns: tuple[AttributeColumn, ...] = ()


def read_attributes(
    attributes: object, names: Sequence[str], queries: Sequence[str], reading: Reading
) -> Attributes:
    """Read the attributes that are named, from a table with one row per query."""
    if attributes is None or not names:
        return NONE
    from rankscope._inputs.query_table import QueryTable, read_query_table  # noqa: PLC0415 - few calls need it

    if isinstance(attributes, QueryTable):
        table = attributes
    else:
        query = reading.columns.get("query")
        table = read_query_table(attributes, reading, query=query, texts=list(names))
    at = {query: number for number, query in enumerate(table.query_ids)}
    missing = [query for query in queries if query not in at]
    if missing:
        raise UsageError(
            f"the table of attributes has no row for {len(missing)} of {len(queries)} queries, "
            f"such as {missing[0]!r}",
            hint="add a row for each query of the judgments",
            code="unknown_attribute",
        )
    return Attributes(
        lambda name: encode(name, [table.texts[name][at[query]] for query in queries]),
        tuple(AttributeColumn(name, table.types.get(name, "")) for name in names),
    )


def _refuse_attribute(name: str) -> Groups:
    raise UsageError(
        f"there is no attribute {name!r}",
        hint="pass attributes=, a table with one row per query and this column",
        code="unknown_attribute",
    )


NONE = Attributes(_refuse_attribute)


def encode(name: str, values: Sequence[str]) -> Groups:
    """Number the values of queries."""
    codes = {text: code for code, text in enumerate(dict.fromkeys(values))}
    return name, list(codes), [codes[text] for text in values]


def _name_value(value: object) -> str:
    """Return a value as text, which is the same for all that is missing."""
    return MISSING if value is None or value != value else str(value)  # noqa: PLR0124 - NaN


def order_queries(query_ids: Sequence[str]) -> list[int]:
    """Return the places of queries in the order of their ids as text.

    Whatever resamples queries, or adds up rounded numbers of them, takes them in this order. The
    result then doesn't depend on the order of the rows, or on whether ids are integers or text.
    """
    try:
        return order_texts(query_ids)
    except UnicodeEncodeError:  # lone surrogates aren't UTF-8, which has the same order
        return sorted(range(len(query_ids)), key=query_ids.__getitem__)
