"""Agreement between judges: Cohen's kappa, Krippendorff's alpha, rank correlation."""

from __future__ import annotations

import math
from itertools import combinations
from typing import TYPE_CHECKING

from rankscope.deferred import np
from rankscope.errors import InputError, LimitError
from rankscope.judges.reading import read_judges
from rankscope.output.exports import Tabular
from rankscope.output.printed import Printed
from rankscope.output.table import Table
from rankscope.output.text import show
from rankscope.records import as_dict, record
from rankscope.settings.reading import Reading

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Unpack

    from numpy.typing import NDArray

    from rankscope._inputs.qrels import Qrels
    from rankscope.output.exports import ColumnValues
    from rankscope.settings.reading import ReadingOptions
    from rankscope.typing import InputLike


RELIABLE = 0.8
TENTATIVE = 0.667
LEVEL = 0.95
RESAMPLES = 1000
MOST_GRADES = 1000
HEADS = {
    "exact": "exact",
    "kappa": "kappa",
    "kappa_linear": "linear",
    "kappa_quadratic": "quadratic",
    "spearman": "spearman",
    "mean_difference": "shift",
}
"""What to call a measure of agreement where space is scarce."""
ALPHAS = ("nominal", "ordinal", "ordinal_lower", "ordinal_upper", "interval")
LARGE_FACTOR = 2
"""How many times as high the highest grade of one judge is for a warning about their scales."""
FEWEST_ITEMS = 20
"""How many items two judges must share for that: the highest grade of a few items says little."""


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
            "alpha": {name: getattr(self, f"alpha_{name}") for name in ALPHAS},
            "pairs": [
                {
                    **as_dict(pair),
                    "judges": [*pair.judges],
                    "confusion": [*map(list, pair.confusion)],
                }
                for pair in self.pairs
            ],
        }

    def _tabulate(self) -> Mapping[str, ColumnValues]:
        return {
            "judge": [pair.judges[0] for pair in self.pairs],
            "other": [pair.judges[1] for pair in self.pairs],
            **{name: [getattr(pair, name) for pair in self.pairs] for name in ("items", *HEADS)},
        }

    def _parts(self) -> list[str | Table]:
        scale = ", ".join(f"{grade:g}" for grade in self.grades[:12])
        more = ", …" if len(self.grades) > 12 else ""
        columns = {HEADS.get(name, name): cells for name, cells in self._tabulate().items()}
        alphas = (
            f"nominal {self.alpha_nominal:.3f}, ordinal {self.alpha_ordinal:.3f}, "
            f"interval {self.alpha_interval:.3f}"
        )
        ends = f"{self.alpha_ordinal_lower:.3f} to {self.alpha_ordinal_upper:.3f}"
        judged = f"{len(self.judges)} judges on {self.items} documents"
        return [
            f"agreement of {judged}, grades {scale}{more}",
            "",
            Table(columns),  # type: ignore[arg-type]  # numbers and texts
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


def judge_agreement(
    table: object,
    other: InputLike | Qrels | None = None,
    *,
    judges: Sequence[str] | None = None,
    judge: str | None = None,
    **options: Unpack[ReadingOptions],
) -> JudgeAgreement:
    """Return how well judges agree, such as a model and people.

    Cohen's kappa (1960; weighted: 1968), Spearman's correlation and the share of equal grades
    compare two judges on the documents that both graded. Krippendorff's alpha (*Computing
    Krippendorff's alpha-reliability*, 2011) compares all judges, and uses every document with two
    or more grades.

    Args:
        table: A data frame, an Arrow table, a mapping of column name to array, a path, or a `File`.
            Or a mapping of judges to their judgments, each as in `evaluate`.
        other: The judgments of a second judge, if `table` has those of one, as in `evaluate`.
        judges: The columns of grades, if there is one column per judge. Null, NaN and empty cells
            mean that the judge gave no grade.
        judge: The column that names the judge, if there is one row per judgment.
        **options: How the inputs are read, as in `evaluate`.

    Raises:
        UsageError: Neither or both of `judges` and `judge` are given.
        InputError: A column is missing or holds invalid values.
        FileError: A file can't be read.

    Examples:
        >>> table = {"llm": [3, 2, 2, 0, 1, 0], "human": [3, 1, 2, 0, 0, 0]}
        >>> print(judge_agreement(table, judges=["llm", "human"]))
        agreement of 2 judges on 6 documents, grades 0, 1, 2, 3
        <BLANKLINE>
        judge  other  items   exact   kappa  linear  quadratic  spearman    shift
        llm    human      6  0.6667  0.5385  0.7391     0.8750    0.9380  -0.3333
        <BLANKLINE>
        Krippendorff's alpha: nominal 0.569, ordinal 0.870, interval 0.883
        95% interval of ordinal alpha: -0.328 to 1.000, by a bootstrap over documents
        Too few documents to draw conclusions: ordinal alpha may be below 0.667.
        >>> rows = {"rater": ["a", "b"], "query": ["q", "q"], "doc": ["d", "d"], "grade": [1, 1]}
        >>> judge_agreement(rows, judge="rater", relevance="grade").pairs[0].exact
        1.0
        >>> judge_agreement({"q": {"a": 1, "b": 0}}, {"q": {"a": 1, "b": 1}}).pairs[0].exact
        0.5
    """
    reading = Reading.of("judge_agreement", options)
    if other is not None:
        table = {"first": table, "second": other}
    items = read_judges(table, judges, judge, reading.columns, reading, needs_ids=False)
    return measure_agreement(items.judges, items.grades)


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
    nominal, ordinal, interval = _find_alphas(places, scale)
    pairs = [
        _compare_pair((judges[one], judges[other]), places[:, [one, other]], scale)
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


def _find_alphas(
    places: NDArray[np.int64], scale: NDArray[np.float64]
) -> tuple[float, float, float]:
    """Return Krippendorff's alpha for nominal, ordinal and interval grades.

    Items with fewer than two grades are left out. Alpha is NaN if all grades are equal.
    Definition: Krippendorff, *Computing Krippendorff's alpha-reliability*, 2011.
    """
    items, columns = np.nonzero(places >= 0)
    cells = items * len(scale) + places[items, columns]
    every = np.bincount(cells, minlength=len(places) * len(scale)).astype(np.float64)
    counts = every.reshape(len(places), len(scale))  # how many judges gave this grade
    counts = counts[counts.sum(axis=1) >= 2]
    weights = 1 / (counts.sum(axis=1) - 1)
    pairs = (counts * weights[:, None]).T @ counts - np.diag(weights @ counts)
    totals = pairs.sum(axis=0)
    below = np.cumsum(totals) - totals / 2

    def find_alpha(distance: NDArray[np.float64]) -> float:
        expected = float(totals @ distance @ totals)
        observed = float((pairs * distance).sum())
        return float(1 - (totals.sum() - 1) * observed / expected) if expected > 0 else math.nan

    return (
        find_alpha(1.0 - np.eye(len(scale))),
        find_alpha(np.subtract.outer(below, below) ** 2),
        find_alpha(np.subtract.outer(scale, scale) ** 2),
    )


def _bound_ordinal_alpha(places: NDArray[np.int64], scale: int) -> tuple[float, float]:
    """Return the ends of the interval of ordinal alpha; see `JudgeAgreement`."""
    judged = np.sort(places[(places >= 0).sum(axis=1) >= 2], axis=1)
    if scale < 2 or not len(judged):
        return math.nan, math.nan
    opposed = np.full((1, judged.shape[1]), -1)
    opposed[0, -2:] = 0, scale - 1
    share = (1 - LEVEL) / 2
    lowered = _resample_ordinal_alpha(np.append(judged, opposed, axis=0), scale)
    raised = _resample_ordinal_alpha(judged, scale)
    return float(np.nanquantile(lowered, share)), float(np.nanquantile(raised, 1 - share))


def _resample_ordinal_alpha(judged: NDArray[np.int64], scale: int) -> NDArray[np.float64]:
    """Return ordinal alpha of bootstrap samples, whose distances are squared mean ranks."""
    rows, times = np.unique(judged, axis=0, return_counts=True)
    sizes = (rows >= 0).sum(axis=1)
    random = np.random.default_rng(0)
    alphas = np.full(RESAMPLES, np.nan)
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
            alphas[number] = 1 - (total - 1) * (drawn @ (spread / (sizes - 1))) / expected
    return alphas


def _compare_pair(
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
        exact=float(np.trace(confusion)) / count if count else math.nan,
        kappa=kappas[0],
        kappa_linear=kappas[1],
        kappa_quadratic=kappas[2],
        spearman=correlate(_rank(both[:, 0]), _rank(both[:, 1])),
        mean_difference=float(differences.mean()) if count else math.nan,
        confusion=tuple(map(tuple, confusion.tolist())),
    )


def _find_kappa(confusion: NDArray[np.int64], cost: NDArray[np.float64]) -> float:
    """Return Cohen's kappa (1960), weighted by the cost of each disagreement (Cohen, 1968)."""
    chance = np.multiply.outer(confusion.sum(axis=1), confusion.sum(axis=0)).astype(np.float64)
    expected = float((chance * cost).sum())
    observed = float((confusion * cost).sum()) * float(confusion.sum())
    return 1 - observed / expected if expected > 0 else math.nan


def _rank(places: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the rank of each value; equal values share their mean rank."""
    _, codes, counts = np.unique(places, return_inverse=True, return_counts=True)
    last: NDArray[np.float64] = np.cumsum(counts).astype(np.float64)
    return (last - (counts - 1) / 2)[codes]


def correlate(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """Return Pearson's correlation, NaN if one of the two is constant."""
    if len(one) < 2:
        return math.nan
    one, other = one - one.mean(), other - other.mean()
    scale = float(np.sqrt((one @ one) * (other @ other)))
    return float(np.clip(one @ other / scale, -1, 1)) if scale > 0 else math.nan
