"""The queries of a comparison: their order, their slices, and the clusters they depend within."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from rankscope._compare.notes import format_ends
from rankscope._compare.pair import Compared
from rankscope._compare.result import Comparison, SliceAttribute
from rankscope._evaluate.evaluation import Evaluation
from rankscope._evaluate.query_values import (
    Groups,
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
from rankscope._evaluate.rankings import Rankings
from rankscope._evaluate.settings import Settings as EvaluateSettings
from rankscope._evaluate.settings import read_policy
from rankscope._explain.bounds import bound
from rankscope._explain.ties import Spread, spread_ties
from rankscope._settings import Policy, Reading
from rankscope._show.progress import follow
from rankscope._show.table import AttributeColumn, SourceIds
from rankscope.errors import UsageError
from rankscope.measures import Measure
from rankscope.measures.parse import read_measure


@dataclass(frozen=True, slots=True)
class Axis:
    """The queries of a comparison, their slices and their clusters."""

    order: list[int]  # the places of the queries, in the order in which they are resampled
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
        order, by = order_queries(query_ids), read_by(settings.by)
        read = read_attributes(settings.attributes, settings.list_attributes(), query_ids, reading)
        source, find = SourceIds(attributes=read.columns), read.find
        if rankings is not None and settings.attributes is None and rankings.attributes:
            source = rankings.source

            def find(name: str) -> Groups:
                return encode(name, rankings.attribute(name))

        parts = [
            encode(name, [values[codes[at]] for at in order])
            for name, values, codes in slice_queries(by, lambda: query_ids, find)
        ]
        groups, clusters, weights = join_groups(parts), None, None
        cluster = read_series(settings.cluster)
        numbers = cluster_queries(cluster, lambda: query_ids, find)
        if numbers is not None:
            name = cluster if isinstance(cluster, str) else "cluster"
            clusters = encode(name, [str(numbers[at]) for at in order])
        of_queries = weigh_queries(settings.weights, lambda: query_ids, find)
        if of_queries is not None:
            weights = np.asarray(of_queries)[order]
        attributes: list[SliceAttribute] = []
        if groups is not None and not isinstance(by, Mapping):
            attributes += [_split(groups, part, source.attribute(part[0])) for part in parts]
        return cls(order, groups, clusters, weights, tuple(attributes))


def _split(groups: Groups, part: Groups, column: AttributeColumn) -> SliceAttribute:
    """Return the value that each group has in one of the attributes."""
    (_, labels, codes), (_, values, own) = groups, part
    pairs = dict(zip(codes, own, strict=True))
    return SliceAttribute(column, {labels[code]: values[at] for code, at in pairs.items()})


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """The lowest and highest difference of two runs over what isn't known of their documents.

    That is the grades of unjudged documents, or the order of tied ones, of which those of one run
    are ordered independently of those of the other. This is not a confidence interval: it doesn't
    cover the choice of queries.

    Args:
        lowest: The lowest mean difference.
        highest: The highest.
        documents: The number of unjudged documents in the lists of either run; or of documents that
            have the same score as another one of their list, in both runs.
        scale: The grades that an unjudged document can have; empty for ties.
        is_exact: Whether some grades of the unjudged documents reach both ends. Otherwise, the ends
            are valid, but the true ones could be closer together.
    """

    lowest: float
    highest: float
    documents: int
    scale: tuple[float, ...] = ()
    is_exact: bool = True

    @property
    def is_certain(self) -> bool:
        """Whether the same run wins, or both tie, whatever the grades or the order are."""
        return self.lowest > 0 or self.highest < 0 or self.lowest == self.highest == 0


def describe_reach(unjudged: Reach | None, tied: Reach | None) -> Iterator[str]:
    """Yield what unjudged documents and ties could change, and what that doesn't cover."""
    covered = []
    for name, documents, when, reach in (
        ("unjudged documents", "unjudged documents", "if judged", unjudged),
        ("ties", "tied documents", "in other orders", tied),
    ):
        if reach is not None and reach.documents:
            covered.append(name)
            ends = format_ends(reach.lowest, reach.highest)
            certain = "yes" if reach.is_certain else "no"
            yield f"{documents}: {reach.documents:,}; {when}: {ends}; winner certain: {certain}"
    if covered:
        subject = "These ranges are not confidence intervals: they cover"
        if len(covered) == 1:
            subject = "This range is not a confidence interval: it covers"
        yield f"{subject} {' and '.join(covered)}, not the choice of queries."


def range_despite_unjudged(
    run: Rankings,
    baseline: Rankings,
    measure: Measure | str,
    policy: Policy | str | None = None,
    threads: int | None = None,
) -> Reach | None:
    """Return the range of a mean difference over all grades of unjudged documents.

    An unjudged document that both runs retrieved has the same unknown grade in both. Documents that
    are neither retrieved nor judged don't count as relevant.
    """
    try:
        bounds = bound(run, measure, scale=None, against=baseline, policy=policy, threads=threads)
    except UsageError:
        return None
    return Reach(
        lowest=bounds.mean.lower,
        highest=bounds.mean.upper,
        documents=bounds.openness.unjudged,
        scale=bounds.scale,
        is_exact=bounds.is_exact,
    )


def range_despite_ties(
    run: Rankings,
    baseline: Rankings,
    measure: Measure | str,
    policy: Policy | str | None = None,
    threads: int | None = None,
) -> Reach | None:
    """Return the range of a mean difference over all orders of tied documents.

    The ties of the runs are broken independently of each other. The highest difference is therefore
    the highest mean of the run minus the lowest mean of the baseline, over the queries for which
    both have a value.
    """
    averaged = read_policy(policy, Policy(ties=run.tie_policy))
    return range_of_spreads(
        *(spread_run(rankings, measure, averaged, threads) for rankings in (run, baseline))
    )


def spread_run(
    run: Rankings, measure: Measure | str, policy: Policy, threads: int | None
) -> tuple[NDArray[np.float64], Spread] | None:
    """Return the values of a run and their spread over all orders of ties, if there is one."""
    try:
        own = replace(policy, ties=run.tie_policy)
        return spread_ties(run, read_measure(measure), own, threads)
    except UsageError:
        return None


def range_of_spreads(
    run: tuple[NDArray[np.float64], Spread] | None,
    baseline: tuple[NDArray[np.float64], Spread] | None,
) -> Reach | None:
    """Return the range of a mean difference, from the spreads of both runs."""
    if run is None or baseline is None:
        return None
    (values, spread), (baseline_values, baseline_spread) = run, baseline
    is_paired = ~np.isnan(values - baseline_values)
    count = int(is_paired.sum())
    lowest, highest = (
        math.fsum(column[is_paired].tolist()) / count if count else math.nan
        for column in (spread.lower - baseline_spread.upper, spread.upper - baseline_spread.lower)
    )
    tied = spread.tied[is_paired].sum() + baseline_spread.tied[is_paired].sum()
    return Reach(lowest=lowest, highest=highest, documents=int(tied))


MOST_DOCUMENTS = 10_000_000
"""So many documents in the lists of all pairs take about a second."""
MOST_SQUARES = 50_000_000
"""So do so many squared list lengths for AP, whose bounds compare ranks with ranks."""


def add_ranges(
    comparison: Comparison,
    rankings: Mapping[str, Rankings],
    evaluation: Evaluation,
    threads: int | None,
    *,
    bounds: bool | None,
    is_shown: bool,
) -> Comparison:
    """Add what unjudged documents and ties could change about each difference over all queries.

    Without a choice of the caller, it is left out where it takes long: by all measures for many
    pairs of long lists, and by AP for lists far deeper than a pool, most of whose documents are
    unjudged, so that the ranges would be too wide to decide anything.
    """
    if bounds is False:
        return comparison
    policy = evaluation.policy
    measures = {
        measure.name: measure
        for measure in evaluation.measures
        if bounds or _is_quick(comparison, rankings, measure)
    }

    @cache
    def spread(run: str, name: str) -> tuple[NDArray[np.float64], Spread] | None:
        return spread_run(rankings[run], measures[name], policy, threads)

    def add(pair: Compared) -> Compared:
        name = pair.measure
        if pair.slice is not None or name not in measures:
            return pair
        run, baseline = rankings[pair.run], rankings[pair.baseline]
        return replace(
            pair,
            unjudged=range_despite_unjudged(run, baseline, measures[name], policy, threads),
            tied=range_of_spreads(spread(pair.run, name), spread(pair.baseline, name)),
        )

    pairs = follow(comparison.comparisons, "bounding differences", is_shown=is_shown)
    warnings = comparison.warnings
    left_out = [measure.name for measure in evaluation.measures if measure.name not in measures]
    if left_out:
        left = ", ".join(left_out)
        sentence = (
            "what unjudged documents and ties could change was not computed for "
            f"{left}, because it takes long; bounds=True (--bounds) computes it"
        )
        warnings = (*warnings, sentence)
    return replace(comparison, comparisons=tuple(map(add, pairs)), warnings=warnings)


def _is_quick(comparison: Comparison, rankings: Mapping[str, Rankings], measure: Measure) -> bool:
    """Return whether the bounds of all pairs by a measure take about a second at most."""
    documents, squares = {}, {}
    for name, run in rankings.items():
        sizes = np.diff(run.offsets)
        documents[name] = int(sizes.sum())
        reached = sizes if measure.k is None else np.minimum(sizes, measure.k)
        squares[name] = int((reached.astype(np.int64) ** 2).sum())
    pairs = [(pair.run, pair.baseline) for pair in comparison.over_all(measure)]
    if sum(documents[name] for pair in pairs for name in pair) > MOST_DOCUMENTS:
        return False
    if measure.row.kernel != "ap":
        return True
    return sum(max(squares[run], squares[baseline]) for run, baseline in pairs) <= MOST_SQUARES
