"""Comparisons to draw, made by hand."""

from __future__ import annotations

from itertools import combinations
from math import nan
from typing import TYPE_CHECKING

from rankscope.comparison.result import Compared, Comparison, Settings

if TYPE_CHECKING:
    from collections.abc import Mapping

P = 0.5
"""The p-value of pairs that don't differ."""


def make_pair(
    baseline: str,
    run: str,
    difference: float,
    *,
    p: float = P,
    where: str | None = None,
    reach: float = 0.05,
    counts: tuple[int, int, int] = (5, 3, 2),
    margin: float | None = None,
) -> Compared:
    """A pair with an interval of a given reach on both sides of the difference."""
    wins, ties, losses = counts
    return Compared(
        measure="AP",
        baseline=baseline,
        run=run,
        slice=where,
        n=wins + ties + losses,
        clusters=None,
        baseline_mean=0.25,
        run_mean=0.25 + difference,
        difference=difference,
        relative=difference / 0.25,
        lower=difference - reach,
        upper=difference + reach,
        level=0.95,
        interval_method="bca",
        interval_note="",
        effect_size=0.5,
        test="permutation",
        statistic=2.0,
        p=p / 2,
        smallest_p=0.001,
        correction="holm",
        p_corrected=p,
        wins=wins,
        ties=ties,
        losses=losses,
        minimum_detectable=0.125,
        margin=margin,
    )


def make_comparison(
    means: Mapping[str, float],
    pairs: list[Compared],
    *,
    baseline: str | None = None,
    by: str = "",
) -> Comparison:
    """A comparison by AP."""
    return Comparison(
        runs=tuple(means),
        measures=("AP",),
        means={run: {"AP": mean} for run, mean in means.items()},
        comparisons=tuple(pairs),
        baseline=baseline,
        by=by,
        settings=Settings(permutations=9999),
        policy=None,
    )


def compare_all(
    means: Mapping[str, float], different: set[frozenset[str]] | None = None
) -> Comparison:
    """A comparison of all pairs, of which some differ significantly."""
    pairs = [
        make_pair(
            one,
            other,
            means[other] - means[one],
            p=0.01 if frozenset((one, other)) in (different or set()) else P,
        )
        for one, other in combinations(means, 2)
    ]
    return make_comparison(means, pairs)


NO_INTERVAL = make_pair("old", "new", 0.125, reach=nan)
