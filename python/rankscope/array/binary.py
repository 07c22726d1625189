"""Measures of where relevant documents are ranked, of padded batches.

What ties are worth is in McSherry and Najork, *Computing information retrieval performance measures
efficiently in the presence of tied scores*, 2008.
"""

from __future__ import annotations

from rankscope.array.ranked import Values
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.array.ranked import Ranked
    from rankscope.array.space import Array
    from rankscope.measures import Measure


@record(frozen=True, slots=True)
class Found:
    """Where the relevant documents are.

    Args:
        count: How many there are in the tie of each rank, shape (rows, columns).
        before: How many there are before that tie.
        size: How many documents that tie has.
        above: How many of its ranks are before each rank.
        total: How many relevant documents each row has, shape (rows,).
    """

    count: Array
    before: Array
    size: Array | float
    above: Array | float
    total: Array


def evaluate(ranked: Ranked, measure: Measure) -> Values:
    """Return the values of AP, RR, P, R or Success."""
    xp = ranked.space.xp
    rel = measure.parameters["rel"]
    found = _find(ranked, rel if isinstance(rel, float) else 1.0)
    k = min(measure.k or ranked.columns, ranked.columns)
    kernel = measure.row.kernel
    if kernel == "rr":
        values = _sum_first(ranked, _first_chances(ranked, found) / _ranks(ranked), k)
    elif kernel == "success":
        values = _success(ranked, found, k)
    else:
        terms = _precisions(ranked, found) if kernel == "ap" else found.count / found.size
        values = _divide(ranked, measure, found, _sum_first(ranked, terms, k))
    is_undefined = found.total == 0
    values = ranked.space.where(is_undefined, 0.0, values)
    return Values(values, is_undefined, ranked.is_bad | ~xp.isfinite(values))


def _find(ranked: Ranked, rel: float) -> Found:
    space = ranked.space
    is_relevant = ranked.number(ranked.grades >= rel)
    up_to = space.add_up(is_relevant)
    total = up_to[:, -1]
    if ranked.start is None or ranked.end is None:
        return Found(is_relevant, up_to - is_relevant, 1.0, 0.0, total)
    before = space.pick(up_to - is_relevant, ranked.start)
    return Found(
        count=space.pick(up_to, ranked.end) - before,
        before=before,
        size=ranked.size(),
        above=ranked.number(ranked.places - ranked.start),
        total=total,
    )


def _ranks(ranked: Ranked) -> Array:
    return ranked.number(ranked.places + 1)


def _sum_first(ranked: Ranked, terms: Array, k: int) -> Array:
    return ranked.space.xp.sum(terms[:, :k], axis=-1)


def _precisions(ranked: Ranked, found: Found) -> Array:
    """Return the precision at each rank, times the chance of a relevant document there."""
    if ranked.start is None:
        return found.count * (found.before + 1) / _ranks(ranked)
    space, xp = ranked.space, ranked.space.xp
    one = xp.ones_like(found.count)
    # Given one relevant document, how likely each other one of the tie is, too.
    others = (found.count - 1) / xp.maximum(found.size - 1, one)
    expected = found.count / found.size * (found.before + 1 + found.above * others)
    return space.where(found.count > 0, expected / _ranks(ranked), 0.0)


def _first_chances(ranked: Ranked, found: Found) -> Array:
    """Return how likely the first relevant document is at each rank."""
    space, xp = ranked.space, ranked.space.xp
    is_first = (found.count > 0) & (found.before == 0)
    if ranked.start is None:
        return ranked.number(is_first)
    # Of the documents from a rank on, how many are there, and how many are not relevant?
    left = found.size - found.above
    zero = xp.zeros_like(found.count)
    others = xp.maximum(left - found.count, zero)
    none_here = space.where(is_first, others / left, 1.0)
    none_up_to = space.multiply_up(none_here)
    none_above = xp.concat([xp.ones_like(none_up_to[:, :1]), none_up_to[:, :-1]], axis=-1)
    is_possible = is_first & (found.above <= found.size - found.count)
    return space.where(is_possible, none_above * found.count / left, 0.0)


def _success(ranked: Ranked, found: Found, k: int) -> Array:
    xp = ranked.space.xp
    chance = _sum_first(ranked, _first_chances(ranked, found), k)
    if ranked.start is None or ranked.end is None:
        return chance
    is_certain = (found.count > 0) & (ranked.end < k)
    return ranked.space.where(xp.any(is_certain, axis=-1), 1.0, chance)


def _divide(ranked: Ranked, measure: Measure, found: Found, total: Array) -> Array:
    space, xp = ranked.space, ranked.space.xp
    by = measure.parameters["denominator"]
    cutoff = None if measure.k is None else float(measure.k)
    if by == "cutoff":
        return total / cutoff
    number = ranked.retrieved if by == "retrieved" else found.total
    if by in {"retrieved", "reachable"} and cutoff is not None:
        number = xp.minimum(number, xp.full_like(number, cutoff))
    return space.where(number == 0, 0.0, total / space.where(number == 0, 1.0, number))
