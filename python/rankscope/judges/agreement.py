"""Agreement between judges: Cohen's kappa, Krippendorff's alpha, rank correlation."""

from __future__ import annotations

from itertools import combinations

from rankscope.deferred import np
from rankscope.errors import LimitError
from rankscope.judges.judge_agreement import JudgeAgreement, JudgePair

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

MOST_GRADES = 1000


def measure_agreement(judges: Sequence[str], grades: NDArray[np.float64]) -> JudgeAgreement:
    """Return how well judges agree."""
    is_graded = ~np.isnan(grades)
    scale, codes = np.unique(grades[is_graded], return_inverse=True)
    if len(scale) > MOST_GRADES:
        raise LimitError(
            f"expected at most {MOST_GRADES:,} different grades, found {len(scale):,}",
            hint="round the grades to the scale that the judges were given",
            code="too_many_grades",
        )
    places = np.full(grades.shape, -1)
    places[is_graded] = codes
    # Rounded sums don't depend on the order of the items then.
    places = places[np.lexsort(places.T)]
    nominal, ordinal, interval = find_alphas(_count_by_item(places, len(scale)), scale)
    pairs = [
        compare_pair((judges[one], judges[other]), places[:, [one, other]], scale)
        for one, other in combinations(range(len(judges)), 2)
    ]
    return JudgeAgreement(
        judges=tuple(judges),
        items=len(grades),
        judged_twice=int((is_graded.sum(axis=1) >= 2).sum()),
        grades=tuple(scale.tolist()),
        alpha_nominal=nominal,
        alpha_ordinal=ordinal,
        alpha_interval=interval,
        pairs=tuple(pairs),
    )


def _count_by_item(places: NDArray[np.int64], scale: int) -> NDArray[np.float64]:
    """Return how many judges gave each grade to each item, [items, grades]."""
    items, columns = np.nonzero(places >= 0)
    cells = items * scale + places[items, columns]
    counts = np.bincount(cells, minlength=len(places) * scale)
    return counts.reshape(len(places), scale).astype(np.float64)


def find_alphas(
    counts: NDArray[np.float64], scale: NDArray[np.float64]
) -> tuple[float, float, float]:
    """Return Krippendorff's alpha for nominal, ordinal and interval grades.

    Items with fewer than two grades are left out. Alpha is NaN if all grades are equal.
    Definition: Krippendorff, *Computing Krippendorff's alpha-reliability*, 2011.
    """
    counts = counts[counts.sum(axis=1) >= 2]
    weights = 1 / (counts.sum(axis=1) - 1)
    pairs = (counts * weights[:, None]).T @ counts - np.diag(weights @ counts)
    totals = pairs.sum(axis=0)
    below = np.cumsum(totals) - totals / 2
    distances = (
        1.0 - np.eye(len(scale)),
        np.subtract.outer(below, below) ** 2,
        np.subtract.outer(scale, scale) ** 2,
    )
    found = []
    for distance in distances:
        expected = float(totals @ distance @ totals)
        observed = float((pairs * distance).sum())
        found.append(1 - (totals.sum() - 1) * observed / expected if expected > 0 else np.nan)
    return float(found[0]), float(found[1]), float(found[2])


def compare_pair(
    judges: tuple[str, str], places: NDArray[np.int64], scale: NDArray[np.float64]
) -> JudgePair:
    """Return how well two judges agree on the items that both graded."""
    both = places[(places >= 0).all(axis=1)]
    size = len(scale)
    cells = np.bincount(both[:, 0] * size + both[:, 1], minlength=size * size)
    confusion = cells.reshape(size, size)
    steps = np.abs(np.subtract.outer(scale, scale))
    kappas = [_find_kappa(confusion, cost) for cost in (np.sign(steps), steps, steps**2)]
    count = len(both)
    differences = scale[both[:, 1]] - scale[both[:, 0]]
    return JudgePair(
        judges=judges,
        items=count,
        exact=float(np.trace(confusion)) / count if count else float("nan"),
        kappa=kappas[0],
        kappa_linear=kappas[1],
        kappa_quadratic=kappas[2],
        spearman=correlate(_rank(both[:, 0]), _rank(both[:, 1])),
        mean_difference=float(differences.mean()) if count else float("nan"),
        confusion=tuple(map(tuple, confusion.tolist())),
    )


def _find_kappa(confusion: NDArray[np.int64], cost: NDArray[np.float64]) -> float:
    """Return Cohen's kappa (1960), weighted by the cost of each disagreement (Cohen, 1968)."""
    chance = np.multiply.outer(confusion.sum(axis=1), confusion.sum(axis=0)).astype(np.float64)
    expected = float((chance * cost).sum())
    observed = float((confusion * cost).sum()) * float(confusion.sum())
    return 1 - observed / expected if expected > 0 else float("nan")


def _rank(places: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the rank of each value; equal values share their mean rank."""
    _, codes, counts = np.unique(places, return_inverse=True, return_counts=True)
    last: NDArray[np.float64] = np.cumsum(counts).astype(np.float64)
    return (last - (counts - 1) / 2)[codes]


def correlate(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """Return Pearson's correlation, NaN if one of the two is constant."""
    if len(one) < 2:
        return float("nan")
    one, other = one - one.mean(), other - other.mean()
    scale = float(np.sqrt((one @ one) * (other @ other)))
    return float(np.clip(one @ other / scale, -1, 1)) if scale > 0 else float("nan")
