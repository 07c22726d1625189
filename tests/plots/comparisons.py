"""Comparisons to draw, made by hand."""

from __future__ import annotations

from itertools import combinations
from math import nan
from typing import TYPE_CHECKING

from rankscope.comparison.result import Comparison, Settings

from tests.comparison import pairs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankscope.comparison.pair import Compared

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
    return pairs.make_pair(
        baseline,
        run,
        difference,
        reach=reach,
        p=p,
        measure="AP",
        slice=where,
        n=wins + ties + losses,
        baseline_mean=0.25,
        run_mean=0.25 + difference,
        wins=wins,
        ties=ties,
        losses=losses,
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
