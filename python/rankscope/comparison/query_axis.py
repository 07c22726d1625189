"""The queries of a comparison: their order, their slices, and the clusters they depend within."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rankscope.comparison.result import SliceAttribute
from rankscope.engine.query_values import line_up, number_clusters, order_queries, read_series
from rankscope.errors import UsageError
from rankscope.evaluation.groups import join_groups
from rankscope.inputs.query_table import QueryTable, read_query_table
from rankscope.output.ids import MISSING, AttributeColumn
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

    from rankscope.evaluation.groups import Groups
    from rankscope.evaluation.rankings import Rankings
    from rankscope.settings.reading import Reading

    Attribute: TypeAlias = str | Mapping[str, object]


@record(frozen=True, slots=True, kw_only=True)
class Axis:
    """The queries of a comparison, their slices and their clusters.

    Args:
        order: The places of the queries, in the order in which they are resampled.
        groups: The slices, or `None`. Like clusters, they are in that order.
        clusters: The clusters, or `None`.
        attributes: The attributes of the slices, unless they come from a mapping.
    """

    order: list[int]
    groups: Groups | None
    clusters: Groups | None
    attributes: tuple[SliceAttribute, ...] = ()

    @classmethod
    def read(
        cls,
        query_ids: list[str],
        attributes: object,
        by: Attribute | Sequence[str] | None,
        cluster: Attribute | None,
        reading: Reading,
        *,
        rankings: Rankings | None = None,
    ) -> Axis:
        """Read the slices and the clusters of queries."""
        order = order_queries(query_ids)
        query_ids = [query_ids[at] for at in order]
        by, cluster = read_series(by), read_series(cluster)
        for each in (by, cluster):
            if each is not None and not isinstance(each, str | Mapping | list | tuple):
                raise UsageError(
                    f"expected the name of a column, or a mapping of query to value, found "
                    f"{type(each).__name__}",
                    hint="write {'q1': 'ann', 'q2': 'bob'}, or name a column: 'user_id'",
                    code="bad_parameter",
                )
        named = [each for each in (by, cluster) if isinstance(each, str)]
        named += [*by] if isinstance(by, Sequence) and not isinstance(by, str) else []
        held, types = _read_attributes(attributes, list(dict.fromkeys(named)), query_ids, reading)

        def group(given: Attribute) -> Groups:
            if isinstance(given, Mapping):
                values = line_up(given, query_ids)
                if isinstance(values, str):
                    raise UsageError(
                        f"some queries have no value, such as {values!r}",
                        hint="give a value for each query of the judgments",
                        code="unknown_attribute",
                    )
                return _encode("slice", [*map(_name_value, values)])
            if given in held:
                return _encode(given, held[given])
            if rankings is None or attributes is not None or not rankings.attributes:
                raise UsageError(
                    f"there is no attribute {given!r}",
                    hint="pass attributes=, a table with one row per query and this column",
                    code="unknown_attribute",
                )
            texts = rankings.attribute(given)
            return _encode(given, [texts[at] for at in order])

        def describe(name: str) -> AttributeColumn:
            if name in types or rankings is None:
                return AttributeColumn(name, types.get(name, ""))
            return rankings.source.attribute(name)

        several = [by] if isinstance(by, str | Mapping) else [*(by or [])]
        parts = [group(each) for each in several]
        groups = join_groups(parts)
        return cls(
            order=order,
            groups=groups,
            clusters=None if cluster is None else _name_cluster(group(cluster), cluster),
            attributes=()
            if groups is None or isinstance(by, Mapping)
            else tuple(_split(groups, part, describe(part[0])) for part in parts),
        )


def _split(groups: Groups, part: Groups, column: AttributeColumn) -> SliceAttribute:
    """Return the value that each group has in one of the attributes."""
    _, labels, codes = groups
    _, values, own = part
    pairs = dict(zip(codes, own, strict=True))
    return SliceAttribute(column, {labels[code]: values[at] for code, at in pairs.items()})


def _name_cluster(groups: Groups, given: Attribute) -> Groups:
    """Name the clusters, and make each query whose value is missing a cluster of its own."""
    name, values, codes = groups
    numbers = number_clusters(values[code] for code in codes)
    places = {number: code for code, number in enumerate(dict.fromkeys(numbers))}
    name = "cluster" if isinstance(given, Mapping) else given
    # Only their number matters: clusters are not shown.
    return name, list(map(str, places)), [places[number] for number in numbers]


def _name_value(value: object) -> str:
    """Return a value as text, which is the same for all that is missing."""
    return MISSING if value is None or value != value else str(value)  # noqa: PLR0124 - NaN


def _encode(name: str, values: Sequence[str]) -> Groups:
    codes = {text: code for code, text in enumerate(dict.fromkeys(values))}
    return name, list(codes), [codes[text] for text in values]


def _read_attributes(
    attributes: object, names: list[str], query_ids: list[str], reading: Reading
) -> tuple[dict[str, list[str]], Mapping[str, str]]:
    """Return the attributes of queries as text, and their types, by name."""
    if attributes is None:
        return {}, {}

    table = (
        attributes
        if isinstance(attributes, QueryTable)
        else read_query_table(attributes, reading, texts=names)
    )
    at = {query: number for number, query in enumerate(table.query_ids)}
    missing = [query for query in query_ids if query not in at]
    if missing:
        raise UsageError(
            f"the table of attributes has no row for {len(missing)} of {len(query_ids)} queries, "
            f"such as {missing[0]!r}",
            hint="add a row for each query of the judgments",
            code="unknown_attribute",
        )
    texts = {name: [table.texts[name][at[query]] for query in query_ids] for name in names}
    return texts, table.types
