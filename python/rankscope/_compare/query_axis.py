"""The queries of a comparison: their order, their slices, and the clusters they depend within."""

from __future__ import annotations

from collections.abc import Mapping

from rankscope._compare.result import SliceAttribute
from rankscope._evaluate.query_values import (
    cluster_queries,
    encode,
    join_groups,
    order_queries,
    read_attributes,
    read_by,
    read_series,
    slice_queries,
    weigh_queries,
)
from rankscope.deferred import np
from rankscope.output.ids import SourceIds
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rankscope._evaluate.query_values import Groups
    from rankscope._evaluate.rankings import Rankings
    from rankscope._evaluate.settings import Settings as EvaluateSettings
    from rankscope.output.ids import AttributeColumn
    from rankscope.settings.reading import Reading


@record(frozen=True, slots=True, kw_only=True)
class Axis:
    """The queries of a comparison, their slices and their clusters.

    Args:
        order: The places of the queries, in the order in which they are resampled.
        groups: The slices, or `None`. Like clusters, they are in that order.
        clusters: The clusters, or `None`.
        weights: The weight of each query, or `None`.
        attributes: The attributes of the slices, unless they come from a mapping.
    """

    order: list[int]
    groups: Groups | None
    clusters: Groups | None
    weights: NDArray[np.float64] | None = None
    attributes: tuple[SliceAttribute, ...] = ()

    @classmethod
    def read(
        cls,
        query_ids: list[str],
        settings: EvaluateSettings,
        reading: Reading,
        *,
        rankings: Rankings | None = None,
    ) -> Axis:
        """Read the slices, the clusters and the weights of queries."""
        attributes, cluster = settings.attributes, read_series(settings.cluster)
        order, asked = order_queries(query_ids), read_by(settings.by)
        held = read_attributes(attributes, settings.list_attributes(), query_ids, reading)
        source = SourceIds(attributes=held.columns)
        find = held.find
        if rankings is not None and attributes is None and rankings.attributes:
            source = rankings.source

            def find(name: str) -> Groups:
                return encode(name, rankings.attribute(name))

        def put_in_order(groups: Groups) -> Groups:
            name, values, codes = groups
            return encode(name, [values[codes[at]] for at in order])

        parts = [put_in_order(each) for each in slice_queries(asked, lambda: query_ids, find)]
        groups = join_groups(parts)
        weights = weigh_queries(settings.weights, lambda: query_ids, find)
        clusters, numbers = None, cluster_queries(cluster, lambda: query_ids, find)
        if numbers is not None:
            name = cluster if isinstance(cluster, str) else "cluster"
            clusters = put_in_order(_name_cluster(name, numbers))
        return cls(
            order=order,
            groups=groups,
            clusters=clusters,
            weights=None if weights is None else np.asarray(weights)[order],
            attributes=()
            if groups is None or isinstance(asked, Mapping)
            else tuple(_split(groups, part, source.attribute(part[0])) for part in parts),
        )


def _split(groups: Groups, part: Groups, column: AttributeColumn) -> SliceAttribute:
    """Return the value that each group has in one of the attributes."""
    _, labels, codes = groups
    _, values, own = part
    pairs = dict(zip(codes, own, strict=True))
    return SliceAttribute(column, {labels[code]: values[at] for code, at in pairs.items()})


def _name_cluster(name: str, numbers: Sequence[int]) -> Groups:
    """Return clusters as groups; only how many there are matters, for they aren't shown."""
    places = {number: code for code, number in enumerate(dict.fromkeys(numbers))}
    return name, list(map(str, places)), [places[number] for number in numbers]
