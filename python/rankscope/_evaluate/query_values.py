"""Reads the slices, clusters and weights of queries."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from rankscope._core import Evaluation, order_texts
from rankscope._settings import Interval, Reading, stream_of
from rankscope._show.diagnostics import Estimate, read_estimate
from rankscope._show.table import MISSING, AttributeColumn, Cell, SourceIds, Table
from rankscope.errors import FormatError, LimitError, UsageError

By: TypeAlias = str | Sequence[str] | Mapping[str, object]
Weights: TypeAlias = Mapping[str, float] | Sequence[float]
Clusters: TypeAlias = Mapping[str, object] | Sequence[object]
Groups: TypeAlias = tuple[str, list[str], list[int]]
"""A name, its different values, and which of them each query has."""
Find: TypeAlias = Callable[[str], Groups]
Estimator: TypeAlias = Callable[[list[int], int], list[list[Estimate]]]
"""Estimates each measure by group, from the group of each query and their number."""

if TYPE_CHECKING:
    from rankscope._show.table import Column, ColumnValues
    from rankscope.measures import Measure


def bad_parameter(message: str, hint: str) -> UsageError:
    """Return the error for an argument that is invalid or has no effect."""
    return UsageError(message, hint=hint, code="bad_parameter")


def _read_values(
    noun: str,
    source: Any,  # noqa: ANN401 - any argument of a user
    read_ids: Callable[[], list[str]],
    find: Find,
) -> list[Any]:
    """Return a value for each query: of a column, a mapping, or a sequence."""
    source = read_series(source)
    if isinstance(source, str):
        _, values, codes = find(source)
        return [values[code] for code in codes]
    queries = read_ids()
    if isinstance(source, Mapping):
        named = name_queries(source, queries)
        lacking = next((query for query in queries if query not in named), None)
        if lacking is not None:
            raise _bad_values(noun, f"a {noun} for every query, found none for {lacking!r}")
        return [named[query] for query in queries]
    try:
        values = [*source]
    except TypeError:
        raise bad_parameter(
            f"expected a value per query, found {type(source).__name__}",
            "write {'q1': 2, 'q2': 1}, or a list in the order of query_ids",
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


def read_series(values: Any) -> Any:  # noqa: ANN401 - any argument of a user
    """Return a pandas Series with an index of queries as a mapping, and anything else as it is.

    A Series whose index only counts its rows has no queries.
    """
    index = getattr(values, "index", None)
    if not hasattr(values, "to_dict") or index is None or type(index).__name__ == "RangeIndex":
        return values
    return values.to_dict()


def name_queries(values: Mapping[Any, Any], queries: Sequence[str]) -> Mapping[Any, Any]:
    """Return a mapping of query to value in which integer queries are text."""
    if all(query in values for query in queries):
        return values
    return {str(query): value for query, value in values.items()}


def weigh_queries(
    weights: str | Weights | None, read_ids: Callable[[], list[str]], find: Find
) -> list[float] | None:
    """Return the weight of each query, if there are weights."""
    if weights is None:
        return None
    values = _read_values("weight", weights, read_ids, find)
    try:
        numbers = [
            float(value)
            for value in values
            if isinstance(weights, str)
            or (hasattr(value, "__float__") and not isinstance(value, complex))
        ]
    except (TypeError, ValueError, OverflowError):
        numbers = []
    if len(numbers) != len(values) or not are_weights(numbers):
        raise _bad_values("weight", f"weights of 0 or more, not all 0, found {values[:5]}")
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
    clusters = _read_values("cluster", cluster, read_ids, find)
    try:
        return number_clusters(clusters)
    except (TypeError, ValueError, NotImplementedError):  # of columns, which can't be compared
        kind = type(clusters[0]).__name__
        raise _bad_values("cluster", f"text or a number as a cluster, found {kind}") from None


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
        raise bad_parameter(
            "cluster has no effect without an interval", "add interval=0.95, or remove cluster"
        )


def check_cluster_column(cluster: object) -> None:
    """Raise an error for clusters of a table that aren't the name of a column."""
    if cluster is not None and not isinstance(cluster, str):
        raise bad_parameter(
            f"expected the name of a column as cluster, found {type(cluster).__name__}",
            "add the clusters to the table as a column, such as cluster='user_id'",
        )


def list_names(by: By, *others: object) -> list[str]:
    """Return the attributes that are named, each once: those of slices, and other texts."""
    names = [] if isinstance(by, Mapping) else by
    return list(dict.fromkeys([*names, *(name for name in others if isinstance(name, str))]))


def read_by(by: object) -> list[str] | Mapping[str, object]:
    """Return the names of the columns to slice by, or the value of each query."""
    by = read_series(by)
    return by if isinstance(by, Mapping) else read_slicing(by)


def read_slicing(by: object) -> list[str]:
    """Return the names of the columns to slice by."""
    names = [by] if isinstance(by, str) else [] if by is None else by
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        raise bad_parameter(
            f"expected by as the names of columns, or a mapping of query to value, found "
            f"{type(by).__name__}",
            "write by='country', by=['country', 'device'], or by={'q1': 'de', 'q2': 'at'}",
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
    quoted = [
        [f'"{value}"' if ", " in value else value for value in values]
        for _, values, _ in attributes
    ]
    texts = [
        ", ".join(values[code] for values, code in zip(quoted, key, strict=True)) for key in numbers
    ]
    name = ", ".join(name for name, _, _ in attributes)
    return name, texts, [numbers[key] for key in combined]


class Attributes(NamedTuple):
    """The attributes of queries by name, and their columns with the types of the input."""

    find: Find
    columns: tuple[AttributeColumn, ...] = ()


def read_attributes(
    attributes: object, names: Sequence[str], queries: Sequence[str], reading: Reading
) -> Attributes:
    """Read the attributes that are named, from a table with one row per query."""
    if attributes is None or not names:
        return Attributes(_refuse_attribute)
    from rankscope._inputs.tabular import QueryTable, read_query_table

    table = attributes
    if not isinstance(table, QueryTable):
        query = reading.columns.get("query")
        table = read_query_table(table, reading, query=query, texts=list(names))
    places = {query: place for place, query in enumerate(table.query_ids)}
    missing = [query for query in queries if query not in places]
    if missing:
        raise UsageError(
            f"the table of attributes has no row for {len(missing)} of {len(queries)} queries, "
            f"such as {missing[0]!r}",
            hint="add a row for each query of the judgments",
            code="unknown_attribute",
        )
    return Attributes(
        lambda name: encode(name, [table.texts[name][places[query]] for query in queries]),
        tuple(AttributeColumn(name, table.types.get(name, "")) for name in names),
    )


def _refuse_attribute(name: str) -> Groups:
    raise UsageError(
        f"there is no attribute {name!r}",
        hint="pass attributes=, a table with one row per query and this column",
        code="unknown_attribute",
    )


def encode(name: str, values: Sequence[str]) -> Groups:
    """Number the values of queries."""
    codes = {text: code for code, text in enumerate(dict.fromkeys(values))}
    return name, list(codes), [codes[text] for text in values]


def _name_value(value: object) -> str:
    """Return a value as text, the same for all missing values."""
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


class Slices(Table):
    """A table with one row per slice, largest slice first.

    The first columns are the attributes. They have the types of the input, and `None` for queries
    without a value, which are printed as `<missing>`.

    Examples:
        >>> import rankscope as rs
        >>> log = {"qid": [1, 2, 3], "label": [1, 1, 0], "score": [3, 2, 1]}
        >>> log |= {"country": ["de", "de", "at"], "is_new": [True, True, None]}
        >>> slices = rs.evaluate(log, "P@1", by=["country", "is_new"]).slices
        >>> print(slices)
        country  is_new     queries     P@1  P@1 n
        de       true             2  1.0000      2
        at       <missing>        1  0.0000      1
        >>> slices.column("is_new")
        (True, None)
    """

    def __init__(
        self, attributes: Sequence[AttributeColumn], columns: Mapping[str, Column]
    ) -> None:
        super().__init__(columns)
        self._attributes = tuple(attributes)

    @property
    def attributes(self) -> tuple[str, ...]:
        """The names of the attributes."""
        return tuple(attribute.name for attribute in self._attributes)

    @property
    def labels(self) -> tuple[str, ...]:
        """The values of each slice as one text, such as `de, true`."""
        return tuple(map(", ".join, self.texts()))

    def texts(self) -> list[tuple[str, ...]]:
        """Return the values of each slice as texts, one for each attribute."""
        columns = (map(str, self._read(name)) for name in self.attributes)
        return list(zip(*columns, strict=True))

    def to_dict(self) -> dict[Any, dict[str, Cell]]:
        """Return the other columns of each row by the value of its slice.

        The value is a text, or a tuple of texts if there are several attributes.
        """
        first = len(self._attributes)
        return {
            texts if first > 1 else texts[0]: dict(
                zip(self.names[first:], row[first:], strict=True)
            )
            for texts, row in zip(self.texts(), self.rows(), strict=True)
        }

    def describe(self, columns: Mapping[str, Column]) -> Slices:
        """Return a table of the same slices with other columns."""
        texts = {name: self._read(name) for name in self.attributes}
        return Slices(self._attributes, {**texts, **columns})

    def keep(self, names: Sequence[str]) -> Slices:
        """Return the slices with some of the columns, among them the attributes."""
        return Slices(self._attributes, {name: self._read(name) for name in names})

    def _restore(self, name: str) -> ColumnValues:
        for attribute in self._attributes:
            if attribute.name == name:
                return attribute.restore_column([str(cell) for cell in self._read(name)])
        return super()._restore(name)


MOST_SLICES = 100_000


def make_slices(
    answer: Evaluation,
    measures: list[Measure],
    attributes: Sequence[Groups],
    estimate: Estimator | None,
    source: SourceIds,
) -> Slices | None:
    """Make the table of measures by group, the largest group first."""
    groups = join_groups(attributes)
    if groups is None:
        return None
    _, values, codes = groups
    count, sizes = len(values), Counter(codes)
    queries = {code: query for query, code in enumerate(codes)}
    return tabulate_slices(
        [source.attribute(name) for name, *_ in attributes],
        measures,
        [
            tuple(words[numbers[queries[group]]] for _, words, numbers in attributes)
            for group in range(count)
        ],
        [sizes[group] for group in range(count)],
        means=answer.over(codes, count),
        estimates=estimate and estimate(codes, count),
    )


def tabulate_slices(
    attributes: Sequence[AttributeColumn],
    measures: Sequence[Measure],
    keys: Sequence[tuple[str, ...]],
    sizes: Sequence[int],
    *,
    means: Sequence[Sequence[tuple[float, int]]],
    estimates: Sequence[Sequence[Estimate]] | None = None,
) -> Slices:
    """Make the table of slices from their values, sizes, and means and counts by measure.

    Raises:
        LimitError: There are too many slices.
        UsageError: An attribute has the name of another column.
    """
    names = [attribute.name for attribute in attributes]
    if len(keys) > MOST_SLICES:
        raise LimitError(
            f"expected at most {MOST_SLICES} slices, found {len(keys)} values of "
            f"{', '.join(names)}",
            hint="slice by something with fewer values",
            code="slices",
        )
    largest_first = sorted(range(len(keys)), key=lambda group: (-sizes[group], keys[group]))
    columns: dict[str, list[str | int | float]] = {
        "queries": [sizes[group] for group in largest_first]
    }
    for index, measure in enumerate(measures):
        columns[measure.name] = [means[index][group][0] for group in largest_first]
        columns[f"{measure.name} n"] = [means[index][group][1] for group in largest_first]
        if estimates:
            ends = [estimates[index][group] for group in largest_first]
            columns[f"{measure.name} lower"] = [estimate.lower for estimate in ends]
            columns[f"{measure.name} upper"] = [estimate.upper for estimate in ends]
    doubled = [name for name in names if name in columns]
    if doubled:
        raise bad_parameter(
            f"expected an attribute with a name of its own, found {doubled[0]!r}",
            "rename the attribute: the table of slices has a column of this name",
        )
    shown = {name: [keys[group][at] for group in largest_first] for at, name in enumerate(names)}
    return Slices(attributes, {**shown, **columns})


def make_estimates(
    answer: Evaluation,
    measures: list[Measure],
    codes: list[int],
    count: int,
    *,
    interval: Interval,
    order: Sequence[int],
    clusters: Sequence[int] | None,
    threads: int,
) -> list[list[Estimate]]:
    """Estimate each measure over the queries of each group, resampled in an order."""
    groups = answer.intervals(
        order,
        codes,
        count,
        clusters,
        [(measure.row.value_range, stream_of(interval.seed, measure.name)) for measure in measures],
        interval.level,
        interval.method,
        interval.resamples,
        threads,
    )
    is_clustered = clusters is not None
    return [
        [read_estimate(row, interval.level, is_clustered=is_clustered) for row in rows]
        for rows in groups
    ]
