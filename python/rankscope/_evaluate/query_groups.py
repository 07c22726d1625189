"""What is known about queries besides their values: their slices, clusters and weights."""

from __future__ import annotations

from collections.abc import Mapping

from rankscope._evaluate.query_values import (
    name_queries,
    number_clusters,
    read_clusters,
    read_series,
    read_weights,
)
from rankscope.errors import FormatError, UsageError
from rankscope.output.ids import MISSING, AttributeColumn
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeAlias

    from rankscope._evaluate.groups import Groups
    from rankscope._evaluate.query_values import Clusters, Weights
    from rankscope.settings.reading import Reading

    By: TypeAlias = str | Sequence[str] | Mapping[str, object]
    Find: TypeAlias = Callable[[str], Groups]


@record(frozen=True, slots=True)
class Attributes:
    """The attributes of queries.

    Args:
        find: Returns the value of each query, by the name of the attribute.
        columns: The attributes as the caller has them, as far as they have types.
    """

    find: Find
    columns: tuple[AttributeColumn, ...] = ()


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


def cluster_queries(
    cluster: str | Clusters | None, read_ids: Callable[[], list[str]], find: Find
) -> list[int] | None:
    """Return the number of the cluster of each query, if there are clusters."""
    if cluster is None:
        return None
    cluster = read_series(cluster)
    if isinstance(cluster, str):
        _, values, codes = find(cluster)
        return number_clusters(values[code] for code in codes)
    return read_clusters(cluster, read_ids)


def weigh_queries(
    weights: str | Weights | None, read_ids: Callable[[], list[str]], find: Find
) -> list[float] | None:
    """Return the weight of each query."""
    if not isinstance(weights, str):
        return read_weights(weights, read_ids)
    _, values, codes = find(weights)
    try:
        numbers = [float(value) for value in values]
    except ValueError as error:
        raise FormatError(
            f"column {weights} has a weight that is not a number",
            hint="a weight is one number per query: how much the query counts",
            code="bad_weights",
        ) from error
    return read_weights([numbers[code] for code in codes], read_ids)


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
