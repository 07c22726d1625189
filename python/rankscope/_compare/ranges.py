"""How far unjudged documents and ties could change the difference of two runs."""

from __future__ import annotations

import math

from rankscope._compare.notes import format_ends
from rankscope._evaluate.settings import read_policy
from rankscope.bounds.compute import bound
from rankscope.deferred import np
from rankscope.errors import UsageError
from rankscope.measures.reading import read_measure
from rankscope.output.progress import follow
from rankscope.records import record, replace
from rankscope.settings.policy import Policy
from rankscope.ties.compute import spread_ties

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from rankscope._compare.pair import Compared
    from rankscope._compare.result import Comparison
    from rankscope._evaluate.evaluation import Evaluation
    from rankscope._evaluate.rankings import Rankings
    from rankscope.measures import Measure
    from rankscope.ties.compute import Spread


@record(frozen=True, slots=True, kw_only=True)
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
    for what, when, reach in (
        ("unjudged documents", "if judged", unjudged),
        ("tied documents", "in other orders", tied),
    ):
        if reach is not None and reach.documents:
            covered.append(what.replace("tied documents", "ties"))
            ends = format_ends(reach.lowest, reach.highest)
            certain = "yes" if reach.is_certain else "no"
            yield f"{what}: {reach.documents:,}; {when}: {ends}; winner certain: {certain}"
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
    chosen = read_policy(policy, Policy(ties=run.tie_policy))
    return range_of_spreads(
        spread_run(run, measure, chosen, threads), spread_run(baseline, measure, chosen, threads)
    )


def spread_run(
    run: Rankings, measure: Measure | str, policy: Policy, threads: int | None
) -> tuple[NDArray[np.float64], Spread] | None:
    """Return the values of a run and their spread over all orders of ties, if there is one."""
    try:
        chosen = replace(policy, ties=run.tie_policy)
        return spread_ties(run, read_measure(measure), chosen, threads)
    except UsageError:
        return None


def range_of_spreads(
    run: tuple[NDArray[np.float64], Spread] | None,
    baseline: tuple[NDArray[np.float64], Spread] | None,
) -> Reach | None:
    """Return the range of a mean difference, from the spreads of both runs."""
    if run is None or baseline is None:
        return None
    (values, found), (other_values, other_found) = run, baseline
    is_paired = ~np.isnan(values - other_values)
    count = int(is_paired.sum())
    lowest, highest = (
        math.fsum(column[is_paired].tolist()) / count if count else math.nan
        for column in (found.lower - other_found.upper, found.upper - other_found.lower)
    )
    tied = found.tied[is_paired].sum() + other_found.tied[is_paired].sum()
    return Reach(lowest=lowest, highest=highest, documents=int(tied))


MOST_DOCUMENTS = 10_000_000
"""So many documents in the lists of all pairs take about a second."""
MOST_SQUARES = 50_000_000
"""So do so many squared list lengths for AP, whose bounds compare ranks with ranks."""


def add_ranges(
    made: Comparison,
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
    measures = {measure.name: measure for measure in evaluation.measures}
    if bounds is None:
        kept = {name for name, measure in measures.items() if _is_quick(made, rankings, measure)}
    else:
        kept = {*measures} if bounds else set()
    policy = evaluation.policy
    spreads: dict[tuple[str, str], tuple[NDArray[np.float64], Spread] | None] = {}

    def spread(run: str, name: str) -> tuple[NDArray[np.float64], Spread] | None:
        if (run, name) not in spreads:
            spreads[run, name] = spread_run(rankings[run], measures[name], policy, threads)
        return spreads[run, name]

    def add(each: Compared) -> Compared:
        if each.slice is not None or each.measure not in kept:
            return each
        run, baseline, measure = rankings[each.run], rankings[each.baseline], measures[each.measure]
        return replace(
            each,
            unjudged=range_despite_unjudged(run, baseline, measure, policy, threads),
            tied=range_of_spreads(
                spread(each.run, each.measure), spread(each.baseline, each.measure)
            ),
        )

    if not kept and bounds is not None:
        return made
    every = follow(made.comparisons, "bounding differences", is_shown=is_shown)
    left = [name for name in measures if name not in kept]
    warnings = made.warnings
    if left:
        sentence = (
            "what unjudged documents and ties could change was not computed for "
            f"{', '.join(left)}, because it takes long; bounds=True (--bounds) computes it"
        )
        warnings = (*warnings, sentence)
    return replace(made, comparisons=tuple(map(add, every)), warnings=warnings)


def _is_quick(made: Comparison, rankings: Mapping[str, Rankings], measure: Measure) -> bool:
    """Return whether the bounds of all pairs by a measure take about a second at most."""
    documents, squares = {}, {}
    for name, each in rankings.items():
        sizes = np.diff(each.offsets)
        documents[name] = int(sizes.sum())
        reached = sizes if measure.k is None else np.minimum(sizes, measure.k)
        squares[name] = int((reached.astype(np.int64) ** 2).sum())
    pairs = made.over_all(measure)
    if sum(documents[each.run] + documents[each.baseline] for each in pairs) > MOST_DOCUMENTS:
        return False
    if measure.row.kernel != "ap":
        return True
    return sum(max(squares[each.run], squares[each.baseline]) for each in pairs) <= MOST_SQUARES
