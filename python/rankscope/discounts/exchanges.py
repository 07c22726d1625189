"""Discounts side by side: their weights, and which systems change places under them."""

from __future__ import annotations

import math
from itertools import combinations

from rankscope.derivation.derive.kernels import MOST_RANKS, weigh_ranks
from rankscope.discounts.comparison import Disagreement, DiscountComparison, Exchange
from rankscope.discounts.result import Curve, Discounts, Discrepancy
from rankscope.errors import MeasureError, UsageError
from rankscope.measures import DCG, nDCG

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rankscope.evaluation.evaluation import Evaluation
    from rankscope.measures import Measure
    from rankscope.measures.domains import Value

    Settings = Mapping[str, Value]
    Pairs = Mapping[str, tuple[Measure, Measure]]
    Values = dict[str, dict[str, float]]

RESERVED = ("rank", "attention", "run", "discount")


def name_discounts(
    bases: Sequence[float] | None,
    powers: Sequence[float],
    tables: Mapping[str, Sequence[float]],
) -> dict[str, Settings]:
    """List the discounts by name, each as what a measure is given for it."""
    listed: list[tuple[str, dict[str, object]]] = [("log2", {"discount": "log2"})]
    for kind, usual in (("log", math.e), ("jk", 2.0)):
        for base in [usual] if bases is None else bases:
            shown = "e" if base == math.e else f"{base:g}"
            listed.append((f"{kind}(base={shown})", {"discount": kind, "base": base}))
    listed += [("reciprocal", {"discount": "reciprocal"}), ("linear", {"discount": "linear"})]
    listed += [(f"zipf(s={power:g})", {"discount": "zipf", "s": power}) for power in powers]
    listed += [(name, {"discount": tuple(weights)}) for name, weights in tables.items()]
    named: dict[str, Settings] = {}
    for name, settings in listed:
        if name in named or name in RESERVED:
            raise UsageError(
                f"expected discounts with names of their own, found {name!r} again",
                hint="leave one out, or call it something else",
                code="same_name",
            )
        read = DCG(**settings).parameters
        named[name] = {setting: read[setting] for setting in settings}
    return named


def tabulate(ranks: int, discounts: Mapping[str, Settings]) -> Discounts:
    """Return the weights of the first ranks by discount, compared with the attention table."""
    if ranks not in range(1, MOST_RANKS + 1):
        raise UsageError(
            f"expected ranks from 1 to {MOST_RANKS:,}, found {ranks!r}",
            hint="10 is the default",
            code="bad_parameter",
        )
    curves = [_draw(name, settings, ranks) for name, settings in discounts.items()]
    return Discounts(ranks, curves, ATTENTION)


def _draw(name: str, settings: Settings, ranks: int) -> Curve:
    discount = settings["discount"]
    depth = max(ranks, *ATTENTION)
    weights = weigh_ranks(
        DCG(**settings), min(depth, len(discount)) if isinstance(discount, tuple) else depth
    )
    if weights[0] <= 0:
        raise UsageError(
            f"{name}: expected a weight above 0 for rank 1, found {weights[0]}",
            hint="weights are shown relative to rank 1",
            code="bad_parameter",
        )
    relative = tuple(weight / weights[0] for weight in weights)
    return Curve(name, settings, weights[0], relative, compare_with_attention(relative))


ATTENTION = {1: 1.0, 2: 0.6, 3: 0.4, 4: 0.3, 10: 0.1}
"""The share of the readers of rank 1 who look at a rank, in round figures."""


def compare_with_attention(weights: Sequence[float]) -> Discrepancy:
    """Return the distance of weights from the attention table, over the ranks of both."""
    ranks = [rank for rank in ATTENTION if rank <= len(weights)]
    errors = {rank: weights[rank - 1] - ATTENTION[rank] for rank in ranks}
    # Errors that are one but for rounding are so here; the first counts.
    worst = max(ranks, key=lambda rank: round(abs(errors[rank]), 12))
    mean_square = math.fsum(error * error for error in errors.values()) / len(ranks)
    return Discrepancy(math.sqrt(mean_square), errors[worst], worst, len(ranks))


def pair_measures(
    measure: Measure, discounts: Mapping[str, Settings]
) -> dict[str, tuple[Measure, Measure]]:
    """Return nDCG and DCG under each discount."""
    if measure.row is not nDCG.row or {"discount", "base", "s"} & measure.settings.keys():
        raise MeasureError(
            f"expected nDCG without a discount of its own, found {measure}",
            hint="write nDCG @ 10; the discounts are compared by themselves",
            code="bad_parameter",
        )
    given = measure.settings
    shared = {name: given[name] for name in given if name != "ideal"}
    return {
        name: (nDCG(**given, **settings), DCG(**shared, **settings))
        for name, settings in discounts.items()
    }


def compare(
    measure: Measure, pairs: Pairs, evaluations: Mapping[str, Evaluation]
) -> DiscountComparison:
    """Compare runs under each discount."""
    ndcg, dcg = (
        {
            name: {run: evaluation[pair[at]] for run, evaluation in evaluations.items()}
            for name, pair in pairs.items()
        }
        for at in (0, 1)
    )
    _, plain = next(iter(pairs.values()))
    return DiscountComparison(
        (str(measure), str(plain)),
        ndcg,
        dcg,
        orders={name: order(values) for name, values in ndcg.items()},
        tau={
            one: {other: correlate_orders(ndcg[one], ndcg[other]) for other in ndcg} for one in ndcg
        },
        exchanges=[*_find_exchanges(ndcg)],
        disagreements=[*_find_disagreements(ndcg, dcg)],
        notes=[*dict.fromkeys(note for each in evaluations.values() for note in each.notes)],
    )


def _find_exchanges(ndcg: Values) -> Iterator[Exchange]:
    first = next(iter(ndcg.values()))
    for name, values in ndcg.items():
        for better, worse in find_exchanged(first, values):
            gap, former = (of[better] - of[worse] for of in (values, first))
            yield Exchange(name, better, worse, gap, former)


def _find_disagreements(ndcg: Values, dcg: Values) -> Iterator[Disagreement]:
    for name, values in ndcg.items():
        by_ndcg, by_dcg = order(values)[0], order(dcg[name])[0]
        if set(by_ndcg).isdisjoint(by_dcg):
            yield Disagreement(name, by_ndcg, by_dcg)


CLOSE = 1e-12
"""How near values are that are the same but for rounding."""


def correlate_orders(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    """Return Kendall's tau-b of two orders of the same systems.

    It is 1 for one order and -1 for opposite ones; without ties, each pair that changes places
    takes 2 from the number of pairs, by which all is divided. NaN where there is no pair that
    either orders.
    """
    signs = [
        (_compare(one[a], one[b]), _compare(other[a], other[b])) for a, b in combinations(one, 2)
    ]
    agreement = sum(mine * theirs for mine, theirs in signs)
    untied = sum(mine != 0 for mine, _ in signs) * sum(theirs != 0 for _, theirs in signs)
    return agreement / math.sqrt(untied) if untied else math.nan


def find_exchanged(one: Mapping[str, float], other: Mapping[str, float]) -> list[tuple[str, str]]:
    """Find the pairs of systems whose order differs between `one` and `other`."""
    return [
        (a, b) if other[a] > other[b] else (b, a)
        for a, b in combinations(one, 2)
        if _compare(one[a], one[b]) * _compare(other[a], other[b]) < 0
    ]


def order(values: Mapping[str, float]) -> tuple[tuple[str, ...], ...]:
    """Sort systems, the best first, with equal ones in one group."""
    groups: list[list[str]] = []
    for name in sorted(values, key=lambda name: -values[name]):
        if groups and _compare(values[groups[-1][0]], values[name]) == 0:
            groups[-1].append(name)
        else:
            groups.append([name])
    return tuple(map(tuple, groups))


def _compare(one: float, other: float) -> int:
    """Return the sign of a difference, 0 for values that are equal up to rounding."""
    return 0 if math.isclose(one, other, rel_tol=CLOSE) else 1 if one > other else -1
