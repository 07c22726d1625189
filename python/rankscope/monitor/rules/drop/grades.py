"""Compares the grades of a baseline set with those of production."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

FEWEST = 100
"""A comparison needs so many documents with a grade above 0 on each side."""
LEAST_DISTANCE = 0.2
"""Distributions are unlike if so many of their documents would need another grade."""
LEAST_RATIO = 2.0
"""Lists are unlike if one side has so many times as many relevant documents a list."""
START = "the grades of the baseline"


def compare_grades(
    baseline: Mapping[float, int], lists: int, production: Mapping[float, int], shown: int
) -> str:
    """Return why the grades of a baseline set can't be compared with production, if they can't.

    Values of a set that was judged on other grounds, such as grades from 0 to 4 against clicks,
    differ from those of production however good the rankings are.

    Examples:
        >>> judged = {1.0: 500, 2.0: 300, 3.0: 150, 4.0: 50}
        >>> compare_grades(judged, 400, {1.0: 900}, 800)[:60]
        'the grades of the baseline are distributed unlike production'
        >>> compare_grades({1.0: 450}, 400, {1.0: 900}, 800)
        ''
    """
    counts = sum(baseline.values()), sum(production.values())
    if min(counts) < FEWEST or not (lists and shown):
        return ""
    shares = [
        {grade: count / total for grade, count in held.items()}
        for held, total in zip((baseline, production), counts, strict=True)
    ]
    every = set(shares[0]) | set(shares[1])
    distance = sum(abs(shares[0].get(one, 0.0) - shares[1].get(one, 0.0)) for one in every) / 2
    # What chance makes of two samples of one distribution.
    chance = (len(every) * (1 / counts[0] + 1 / counts[1])) ** 0.5
    if distance > LEAST_DISTANCE + chance:
        told = " and ".join(
            f"{_describe(share)} in {where}"
            for share, where in zip(shares, ("the baseline", "production"), strict=True)
        )
        return f"{START} are distributed unlike production's: {told}"
    rates = counts[0] / lists, counts[1] / shown
    if max(rates) / min(rates) > LEAST_RATIO:
        return (
            f"{START} are distributed unlike production's: {rates[0]:.2f} relevant documents a "
            f"list in the baseline and {rates[1]:.2f} in production"
        )
    return ""


def _describe(shares: Mapping[float, float]) -> str:
    most = sorted(shares.items(), key=lambda one: (-one[1], one[0]))[:3]
    return ", ".join(f"{100 * share:.0f}% grade {grade:g}" for grade, share in most)
