"""Agreement between judges: Cohen's kappa, Krippendorff's alpha, rank correlation."""

from __future__ import annotations

from itertools import combinations

from rankscope.deferred import np
from rankscope.errors import InputError, LimitError
from rankscope.output.exports import Tabular
from rankscope.output.printed import Printed
from rankscope.output.table import Table
from rankscope.output.text import show
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from rankscope.output.exports import ColumnValues


RELIABLE = 0.8


TENTATIVE = 0.667


LEVEL = 0.95
RESAMPLES = 1000


MEASURES = ("exact", "kappa", "kappa_linear", "kappa_quadratic", "spearman", "mean_difference")


LARGE_FACTOR = 2
"""How many times as high the highest grade of one judge is for a warning about their scales."""


FEWEST_ITEMS = 20
"""How many items two judges must share for that: the highest grade of a few items says little."""


HEADS = ("exact", "kappa", "linear", "quadratic", "spearman", "shift")


@record(frozen=True, slots=True, kw_only=True)
class JudgePair:
    """How well two judges agree on the items that both graded.

    Args:
        judges: The names of the two judges.
        items: The number of items that both graded.
        exact: The share of items to which both gave the same grade.
        kappa: Cohen's kappa: agreement beyond chance, 1 if perfect and 0 if by chance. Every
            disagreement counts the same.
        kappa_linear: Cohen's kappa in which a disagreement counts as the difference of the grades.
        kappa_quadratic: Cohen's kappa in which a disagreement counts as the squared difference.
        spearman: Spearman's rank correlation; equal grades share their mean rank.
        mean_difference: The mean grade of the second judge minus that of the first.
        confusion: The number of items by the grade of the first judge (rows) and the second judge
            (columns), in the order of `JudgeAgreement.grades`.
    """

    judges: tuple[str, str]
    items: int
    exact: float
    kappa: float
    kappa_linear: float
    kappa_quadratic: float
    spearman: float
    mean_difference: float
    confusion: tuple[tuple[int, ...], ...]


@record(frozen=True, slots=True, kw_only=True)
class JudgeAgreement(Printed, Tabular):
    """How well judges agree; as a table, one row per pair of judges.

    Args:
        judges: The names of the judges.
        items: The number of items: queries with a document.
        judged_twice: The number of items that two or more judges graded.
        grades: The distinct grades, ascending.
        alpha_nominal: Krippendorff's alpha over all judges and items; every disagreement counts the
            same. 1 is perfect agreement, 0 is agreement by chance.
        alpha_ordinal: Krippendorff's alpha in which the order of the grades counts.
        alpha_ordinal_lower: The lower end of its 95% interval, by a bootstrap over documents. One
            more document counts here, on which two judges differ as far as the grades allow: few
            documents without a disagreement don't show that there is none.
        alpha_ordinal_upper: The upper end.
        alpha_interval: Krippendorff's alpha in which squared differences of the grades count.
        pairs: The agreement of each pair of judges.
    """

    judges: tuple[str, ...]
    items: int
    judged_twice: int
    grades: tuple[float, ...]
    alpha_nominal: float
    alpha_ordinal: float
    alpha_ordinal_lower: float
    alpha_ordinal_upper: float
    alpha_interval: float
    pairs: tuple[JudgePair, ...]

    def confusion(self, one: str, other: str) -> Table:
        """Return the number of items by the grades of two judges.

        Args:
            one: The judge whose grades are the rows.
            other: The judge whose grades are the columns.

        Raises:
            KeyError: There is no such pair of judges.
        """
        for pair in self.pairs:
            if {one, other} == {*pair.judges} and one != other:
                counts = pair.confusion if pair.judges[0] == one else _transpose(pair.confusion)
                names = [f"{grade:g}" for grade in self.grades]
                columns = dict(zip(names, map(list, _transpose(counts)), strict=True))
                return Table({f"{one} \\ {other}": names, **columns})
        raise KeyError((one, other))

    def to_dict(self) -> dict[str, object]:
        """Return the result as dicts and lists."""
        return {
            "judges": list(self.judges),
            "items": self.items,
            "judged_twice": self.judged_twice,
            "grades": list(self.grades),
            "alpha": {
                "nominal": self.alpha_nominal,
                "ordinal": self.alpha_ordinal,
                "ordinal_lower": self.alpha_ordinal_lower,
                "ordinal_upper": self.alpha_ordinal_upper,
                "interval": self.alpha_interval,
            },
            "pairs": [
                {
                    "judges": list(pair.judges),
                    "items": pair.items,
                    **{name: getattr(pair, name) for name in MEASURES},
                    "confusion": [list(row) for row in pair.confusion],
                }
                for pair in self.pairs
            ],
        }

    def _tabulate(self) -> Mapping[str, ColumnValues]:
        return self._columns(MEASURES)

    def _columns(self, heads: tuple[str, ...]) -> dict[str, list[str] | list[int] | list[float]]:
        return {
            "judge": [pair.judges[0] for pair in self.pairs],
            "other": [pair.judges[1] for pair in self.pairs],
            "items": [pair.items for pair in self.pairs],
            **{
                head: [getattr(pair, name) for pair in self.pairs]
                for head, name in zip(heads, MEASURES, strict=True)
            },
        }

    def _parts(self) -> list[str | Table]:
        scale = ", ".join(f"{grade:g}" for grade in self.grades[:12])
        more = ", …" if len(self.grades) > 12 else ""
        columns = self._columns(HEADS)
        for name in ("judge", "other"):
            columns[name] = [show(str(judge)) for judge in columns[name]]
        alphas = ", ".join(
            f"{kind} {alpha:.3f}"
            for kind, alpha in (
                ("nominal", self.alpha_nominal),
                ("ordinal", self.alpha_ordinal),
                ("interval", self.alpha_interval),
            )
        )
        ends = f"{self.alpha_ordinal_lower:.3f} to {self.alpha_ordinal_upper:.3f}"
        judged = f"{len(self.judges)} judges on {self.items} documents"
        return [
            f"agreement of {judged}, grades {scale}{more}",
            "",
            Table(columns),
            "",
            f"Krippendorff's alpha: {alphas}",
            f"{LEVEL:.0%} interval of ordinal alpha: {ends}, by a bootstrap over documents",
            self.reading,
            *(f"warning: {text}" for text in self.warnings),
        ]

    __repr__ = Printed.__str__

    @property
    def warnings(self) -> tuple[str, ...]:
        """Which judges seem to use different scales."""
        found = []
        for pair in self.pairs:
            highest = [
                max(self.grades[at] for at, count in enumerate(map(sum, counts)) if count)
                for counts in (pair.confusion, _transpose(pair.confusion))
                if pair.items >= FEWEST_ITEMS
            ]
            if highest and 0 < LARGE_FACTOR * min(highest) <= max(highest):
                one, other = (show(str(judge)) for judge in pair.judges)
                found.append(
                    f"the highest grade of {one} is {highest[0]:g}, and that of {other} is "
                    f"{highest[1]:g}. If they use different scales, convert the grades of one."
                )
        return tuple(found)

    @property
    def reading(self) -> str:
        """One sentence on how to read the agreement.

        The limits are those of Krippendorff, *Content analysis*, 2004, chapter 11.
        """
        alpha, lower = self.alpha_ordinal, self.alpha_ordinal_lower
        if alpha != alpha:  # noqa: PLR0124 - NaN alone differs
            return "There is no agreement to measure: no document has two different grades."
        if alpha < TENTATIVE:
            return (
                f"The judges disagree too much to rely on one: ordinal alpha is below {TENTATIVE}."
            )
        if lower >= RELIABLE:
            return f"The grades are reliable: the interval is at or above {RELIABLE}."
        if lower >= TENTATIVE:
            return f"Draw only tentative conclusions: ordinal alpha may be below {RELIABLE}."
        return f"Too few documents to draw conclusions: ordinal alpha may be below {TENTATIVE}."


def _transpose(counts: tuple[tuple[int, ...], ...]) -> tuple[tuple[int, ...], ...]:
    return tuple(zip(*counts, strict=True))


MOST_GRADES = 1000


def measure_agreement(judges: Sequence[str], grades: NDArray[np.float64]) -> JudgeAgreement:
    """Return how well judges agree."""
    is_graded = ~np.isnan(grades)
    judged_twice = int((is_graded.sum(axis=1) >= 2).sum())
    if not judged_twice and len(judges) > 1:
        raise InputError(
            "expected documents that two judges graded, found none",
            hint="use the same IDs of queries and documents for all judges",
            code="nothing_in_common",
        )
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
    lower, upper = _bound_ordinal_alpha(places, len(scale))
    nominal, ordinal, interval = find_alphas(_count_by_item(places, len(scale)), scale)
    pairs = [
        compare_pair((judges[one], judges[other]), places[:, [one, other]], scale)
        for one, other in combinations(range(len(judges)), 2)
    ]
    return JudgeAgreement(
        judges=tuple(judges),
        items=len(grades),
        judged_twice=judged_twice,
        grades=tuple(scale.tolist()),
        alpha_nominal=nominal,
        alpha_ordinal=ordinal,
        alpha_ordinal_lower=lower,
        alpha_ordinal_upper=upper,
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


def _bound_ordinal_alpha(places: NDArray[np.int64], scale: int) -> tuple[float, float]:
    """Return the ends of the interval of ordinal alpha; see `JudgeAgreement`."""
    judged = np.sort(places[(places >= 0).sum(axis=1) >= 2], axis=1)
    if scale < 2 or not len(judged):
        return float("nan"), float("nan")
    opposed = np.full((1, judged.shape[1]), -1)
    opposed[0, -2:] = 0, scale - 1
    share = (1 - LEVEL) / 2
    lowered = _resample_ordinal_alpha(np.append(judged, opposed, axis=0), scale)
    upper = np.nanquantile(_resample_ordinal_alpha(judged, scale), 1 - share)
    return float(np.nanquantile(lowered, share)), float(upper)


def _resample_ordinal_alpha(judged: NDArray[np.int64], scale: int) -> NDArray[np.float64]:
    """Return ordinal alpha of bootstrap samples, whose distances are squared mean ranks."""
    rows, times = np.unique(judged, axis=0, return_counts=True)
    sizes = (rows >= 0).sum(axis=1)
    random = np.random.default_rng(0)
    found = np.full(RESAMPLES, np.nan)
    for number in range(RESAMPLES):
        drawn = random.multinomial(len(judged), times / len(judged))
        weights = np.repeat(drawn, rows.shape[1])
        totals = np.bincount(rows.ravel() + 1, weights, minlength=scale + 1)[1:]
        ranks = np.cumsum(totals) - totals / 2
        total = totals.sum()
        expected = total * (totals @ ranks**2) - (totals @ ranks) ** 2
        # The last rank is that of no grade, whose place is -1.
        values = np.append(ranks, 0)[rows]
        spread = sizes * (values**2).sum(axis=1) - values.sum(axis=1) ** 2
        if expected > 0:
            found[number] = 1 - (total - 1) * (drawn @ (spread / (sizes - 1))) / expected
    return found


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
