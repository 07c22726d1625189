"""Agreement between judges: Cohen's kappa, Krippendorff's alpha, rank correlation."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, TypeAlias, Unpack

import numpy as np
from numpy.typing import NDArray

from rankscope._inputs.reading import Qrels
from rankscope._names import as_dict
from rankscope._settings import Reading
from rankscope._show import Printed, Tabular
from rankscope._show.table import Table, show
from rankscope.errors import InputError, LimitError
from rankscope.judges.reading import read_judges
from rankscope.typing import InputLike

if TYPE_CHECKING:
    from rankscope._settings import ReadingOptions
    from rankscope._show.table import ColumnValues


Numbers: TypeAlias = NDArray[np.float64]
Codes: TypeAlias = NDArray[np.int64]
Confusion: TypeAlias = tuple[tuple[int, ...], ...]

RELIABLE = 0.8
TENTATIVE = 0.667
LEVEL = 0.95
RESAMPLES = 1000
MOST_GRADES = 1000
HEADS = {"kappa_linear": "linear", "kappa_quadratic": "quadratic", "mean_difference": "shift"}
"""What to call a measure of agreement where space is scarce."""
ALPHAS = ("nominal", "ordinal", "ordinal_lower", "ordinal_upper", "interval")
LARGE_FACTOR = 2
"""How many times as high the highest grade of one judge is for a warning about their scales."""
FEWEST_ITEMS = 20
"""How many items two judges must share for that: the highest grade of a few items says little."""


@dataclass(frozen=True, slots=True, kw_only=True)
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
    confusion: Confusion


@dataclass(frozen=True, slots=True, kw_only=True)
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

    def confusion(self, judge: str, other: str) -> Table:
        """Return the number of items by the grades of two judges.

        Args:
            judge: The judge whose grades are the rows.
            other: The judge whose grades are the columns.

        Raises:
            KeyError: There is no such pair of judges.
        """
        for pair in self.pairs:
            if (judge, other) in (pair.judges, pair.judges[::-1]):
                is_turned = pair.judges[0] != judge
                columns = pair.confusion if is_turned else _transpose(pair.confusion)
                names = [f"{grade:g}" for grade in self.grades]
                cells = dict(zip(names, map(list, columns), strict=True))
                return Table({f"{judge} \\ {other}": names, **cells})
        raise KeyError((judge, other))

    def to_dict(self) -> dict[str, object]:
        """Return the result as dicts and lists."""
        return {
            "judges": [*self.judges],
            "items": self.items,
            "judged_twice": self.judged_twice,
            "grades": [*self.grades],
            "alpha": {name: getattr(self, f"alpha_{name}") for name in ALPHAS},
            "pairs": [
                as_dict(pair)
                | {"judges": [*pair.judges], "confusion": [*map(list, pair.confusion)]}
                for pair in self.pairs
            ],
        }

    def _tabulate(self) -> Mapping[str, ColumnValues]:
        numbers = [name for name in JudgePair.__slots__ if name not in ("judges", "confusion")]
        return {
            "judge": [pair.judges[0] for pair in self.pairs],
            "other": [pair.judges[1] for pair in self.pairs],
            **{name: [getattr(pair, name) for pair in self.pairs] for name in numbers},
        }

    def _parts(self) -> list[str | Table]:
        scale = ", ".join(f"{grade:g}" for grade in self.grades[:12])
        more = ", …" if len(self.grades) > 12 else ""
        judged = f"{len(self.judges)} judges on {self.items} documents"
        alphas = ", ".join(
            f"{name} {getattr(self, f'alpha_{name}'):.3f}"
            for name in ("nominal", "ordinal", "interval")
        )
        ends = f"{self.alpha_ordinal_lower:.3f} to {self.alpha_ordinal_upper:.3f}"
        return [
            f"agreement of {judged}, grades {scale}{more}",
            "",
            Table({HEADS.get(name, name): cells for name, cells in self._tabulate().items()}),
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
        warnings = []
        for pair in self.pairs:
            highest = [
                max(self.grades[at] for at, count in enumerate(map(sum, counts)) if count)
                for counts in (pair.confusion, _transpose(pair.confusion))
                if pair.items >= FEWEST_ITEMS
            ]
            if highest and 0 < LARGE_FACTOR * min(highest) <= max(highest):
                judge, other = (show(str(judge)) for judge in pair.judges)
                warnings.append(
                    f"the highest grade of {judge} is {highest[0]:g}, and that of {other} is "
                    f"{highest[1]:g}. If they use different scales, convert the grades of one."
                )
        return tuple(warnings)

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


def _transpose(counts: Confusion) -> Confusion:
    return tuple(zip(*counts, strict=True))


def agreement(
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
            Or a mapping of judges to their judgments, each as in `rankscope.evaluate`.
        other: The judgments of a second judge, if `table` has those of one, as in
            `rankscope.evaluate`.
        judges: The columns of grades, if there is one column per judge. Null, NaN and empty cells
            mean that the judge gave no grade.
        judge: The column that names the judge, if there is one row per judgment.
        **options: How the inputs are read, as in `rankscope.evaluate`.

    Raises:
        UsageError: Neither or both of `judges` and `judge` are given.
        InputError: A column is missing or holds invalid values.
        FileError: A file can't be read.

    Examples:
        >>> table = {"llm": [3, 2, 2, 0, 1, 0], "human": [3, 1, 2, 0, 0, 0]}
        >>> print(agreement(table, judges=["llm", "human"]))
        agreement of 2 judges on 6 documents, grades 0, 1, 2, 3
        <BLANKLINE>
        judge  other  items   exact   kappa  linear  quadratic  spearman    shift
        llm    human      6  0.6667  0.5385  0.7391     0.8750    0.9380  -0.3333
        <BLANKLINE>
        Krippendorff's alpha: nominal 0.569, ordinal 0.870, interval 0.883
        95% interval of ordinal alpha: -0.328 to 1.000, by a bootstrap over documents
        Too few documents to draw conclusions: ordinal alpha may be below 0.667.
        >>> rows = {"rater": ["a", "b"], "query": ["q", "q"], "doc": ["d", "d"], "grade": [1, 1]}
        >>> agreement(rows, judge="rater", relevance="grade").pairs[0].exact
        1.0
        >>> agreement({"q": {"a": 1, "b": 0}}, {"q": {"a": 1, "b": 1}}).pairs[0].exact
        0.5
    """
    reading = Reading.of("judges.agreement", options)
    if other is not None:
        table = {"first": table, "second": other}
    items = read_judges(table, judges, judge, reading, needs_ids=False)
    return measure_agreement(items.judges, items.grades)


def measure_agreement(judges: Sequence[str], grades: Numbers) -> JudgeAgreement:
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
        pairs=tuple(
            _compare_pair((judges[first], judges[second]), places[:, [first, second]], scale)
            for first, second in combinations(range(len(judges)), 2)
        ),
    )


def _find_alphas(places: Codes, scale: Numbers) -> tuple[float, float, float]:
    """Return Krippendorff's alpha for nominal, ordinal and interval grades.

    Items with fewer than two grades are left out. Alpha is NaN if all grades are equal
    (Krippendorff, *Computing Krippendorff's alpha-reliability*, 2011).
    """
    items, judges = np.nonzero(places >= 0)
    graded = _count_cells(items, places[items, judges], (len(places), len(scale)))
    counts = graded[graded.sum(axis=1) >= 2].astype(np.float64)  # by item and grade
    weights = 1 / (counts.sum(axis=1) - 1)
    pairs = (counts * weights[:, None]).T @ counts - np.diag(weights @ counts)
    totals = pairs.sum(axis=0)
    below = np.cumsum(totals) - totals / 2

    def find_alpha(distance: Numbers) -> float:
        expected = float(totals @ distance @ totals)
        observed = float((pairs * distance).sum())
        return float(1 - (totals.sum() - 1) * observed / expected) if expected > 0 else math.nan

    return (
        find_alpha(1.0 - np.eye(len(scale))),
        find_alpha(np.subtract.outer(below, below) ** 2),
        find_alpha(np.subtract.outer(scale, scale) ** 2),
    )


def _bound_ordinal_alpha(places: Codes, scale: int) -> tuple[float, float]:
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


def _resample_ordinal_alpha(judged: Codes, scale: int) -> Numbers:
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


def _compare_pair(judges: tuple[str, str], places: Codes, scale: Numbers) -> JudgePair:
    """Return how well two judges agree on the items that both graded."""
    first, second = places[(places >= 0).all(axis=1)].T
    confusion = _count_cells(first, second, (len(scale), len(scale)))
    steps = np.abs(np.subtract.outer(scale, scale))
    count = len(first)
    return JudgePair(
        judges=judges,
        items=count,
        exact=float(np.trace(confusion)) / count if count else math.nan,
        kappa=_find_kappa(confusion, np.sign(steps)),
        kappa_linear=_find_kappa(confusion, steps),
        kappa_quadratic=_find_kappa(confusion, steps**2),
        spearman=correlate(_rank(first), _rank(second)),
        mean_difference=float((scale[second] - scale[first]).mean()) if count else math.nan,
        confusion=tuple(map(tuple, confusion.tolist())),
    )


def _count_cells(rows: Codes, columns: Codes, shape: tuple[int, int]) -> Codes:
    """Return how often each pair of a row and a column occurs."""
    return np.bincount(rows * shape[1] + columns, minlength=math.prod(shape)).reshape(shape)


def _find_kappa(confusion: Codes, cost: Numbers) -> float:
    """Return Cohen's kappa (1960), weighted by the cost of each disagreement (Cohen, 1968)."""
    chance = np.multiply.outer(confusion.sum(axis=1), confusion.sum(axis=0)).astype(np.float64)
    expected = float((chance * cost).sum())
    observed = float((confusion * cost).sum()) * float(confusion.sum())
    return 1 - observed / expected if expected > 0 else math.nan


def _rank(places: Codes) -> Numbers:
    """Return the rank of each value; equal values share their mean rank."""
    _, codes, counts = np.unique(places, return_inverse=True, return_counts=True)
    last: Numbers = np.cumsum(counts).astype(np.float64)
    return (last - (counts - 1) / 2)[codes]


def correlate(x: Numbers, y: Numbers) -> float:
    """Return Pearson's correlation, NaN if one of the two is constant."""
    if len(x) < 2:
        return math.nan
    x, y = x - x.mean(), y - y.mean()
    scale = float(np.sqrt((x @ x) * (y @ y)))
    return float(np.clip(x @ y / scale, -1, 1)) if scale > 0 else math.nan
