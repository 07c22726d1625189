"""How far unjudged documents and ties could change the difference of two runs."""

from __future__ import annotations

import math

from rankscope.bounds.compute import bound
from rankscope.comparison.ranges import TieRange, UnjudgedRange
from rankscope.deferred import np
from rankscope.engine.requests import read_measure, read_policy
from rankscope.errors import UsageError
from rankscope.records import replace
from rankscope.settings.policy import Policy
from rankscope.ties.compute import spread_ties

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.evaluation.rankings import Rankings
    from rankscope.measures import Measure


def range_despite_unjudged(
    run: Rankings,
    baseline: Rankings,
    measure: Measure | str,
    policy: Policy | str | None = None,
    threads: int | None = None,
) -> UnjudgedRange | None:
    """Return the range of a mean difference over all grades of unjudged documents.

    An unjudged document that both runs retrieved has the same unknown grade in both. Documents that
    are neither retrieved nor judged don't count as relevant.
    """
    try:
        bounds = bound(run, measure, scale=None, against=baseline, policy=policy, threads=threads)
    except UsageError:
        return None
    return UnjudgedRange(
        if_unjudged_lowest=bounds.mean.lower,
        if_unjudged_highest=bounds.mean.upper,
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
) -> TieRange | None:
    """Return the range of a mean difference over all orders of tied documents.

    The ties of the runs are broken independently of each other. The highest difference is therefore
    the highest mean of the run minus the lowest mean of the baseline, over the queries for which
    both have a value.
    """
    asked = read_measure(measure)
    chosen = read_policy(policy, Policy(ties=run.tie_policy))
    try:
        values, found = spread_ties(run, asked, chosen, threads)
        other = replace(chosen, ties=baseline.tie_policy)
        other_values, other_found = spread_ties(baseline, asked, other, threads)
    except UsageError:
        return None
    is_paired = ~np.isnan(values - other_values)
    count = int(is_paired.sum())
    lowest, highest = (
        math.fsum(column[is_paired].tolist()) / count if count else math.nan
        for column in (found.lower - other_found.upper, found.upper - other_found.lower)
    )
    tied = found.tied[is_paired].sum() + other_found.tied[is_paired].sum()
    return TieRange(if_ties_lowest=lowest, if_ties_highest=highest, documents=int(tied))
