"""CG, DCG, IDCG and nDCG of grades in rank order, by one call."""

from __future__ import annotations

import math

from rankscope.adapters.numbers import to_numbers
from rankscope.api.rankings import Rankings
from rankscope.data.policy import Policy
from rankscope.errors import FormatError, UsageError
from rankscope.measures import CG, DCG, IDCG, nDCG

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal, TypeAlias, TypedDict, Unpack

    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from rankscope.measures import Measure
    from rankscope.measures.domains import Value

    Grades: TypeAlias = Sequence[float] | Sequence[Sequence[float]] | NDArray[np.float64]
    Cutoffs: TypeAlias = int | Sequence[int] | Literal["all"] | None
    Numbers: TypeAlias = float | NDArray[np.float64]

    class Gains(TypedDict, total=False):
        """Settings of gains that the functions share."""

        gain: Value | Sequence[float]
        negative: Literal["nonrelevant", "gain", "minmax", "error"]
        missing_gain: float | None

    class Discounts(Gains, total=False):
        """Settings of discounted gains."""

        discount: Value | Sequence[float]
        base: float
        s: float


POLICIES = ("empty", "negative", "missing_gain")


def cg(rel: Grades, k: Cutoffs = None, **settings: Unpack[Gains]) -> Numbers:
    """Cumulate the gains of grades in rank order.

    Args:
        rel: Grades, best rank first: one list, or several of whatever lengths; NaN is unjudged.
        k: A cutoff, several of them, `"all"` for every rank, or `None` for whole lists.
        **settings: `gain` as in `nDCG`; `negative` and `missing_gain` as in `Policy`.

    Returns:
        A number for one list and one cutoff. Several lists make an array, several cutoffs make its
        last axis.

    Raises:
        UsageError: A setting is outside its domain.
        InputError: A grade is no number.

    Examples:
        >>> cg([4, 2, 5, 3, 5], k="all")
        array([ 4.,  6., 11., 14., 19.])
    """
    return _compute(CG, rel, k, None, dict(settings))


def dcg(rel: Grades, k: Cutoffs = None, **settings: Unpack[Discounts]) -> Numbers:
    """Cumulate the gains of grades in rank order, each discounted by its rank.

    Args:
        rel: As in `cg`.
        k: As in `cg`.
        **settings: As in `cg`; and `discount`, `base` and `s` as in `nDCG`.

    Returns:
        As `cg`.

    Raises:
        UsageError: A setting is outside its domain.
        InputError: A grade is no number.

    Examples:
        >>> [round(value, 2) for value in dcg([4, 2, 5, 3, 5], k="all").tolist()]
        [4.0, 5.26, 7.76, 9.05, 10.99]
    """
    return _compute(DCG, rel, k, None, dict(settings))


def idcg(
    rel: Grades, k: Cutoffs = None, *, ideal: Grades | None = None, **settings: Unpack[Discounts]
) -> Numbers:
    """Cumulate the discounted gains of the best order.

    Args:
        rel: As in `cg`.
        k: As in `cg`.
        ideal: All judged grades, in any order; those of the list if left out.
        **settings: As in `dcg`.

    Returns:
        As `cg`.

    Raises:
        UsageError: A setting is outside its domain.
        InputError: A grade is no number.

    Examples:
        >>> [round(value, 2) for value in idcg([4, 2, 5, 3, 5], k="all").tolist()]
        [5.0, 8.15, 10.15, 11.45, 12.22]
    """
    return _compute(IDCG, rel, k, ideal, dict(settings))


def ndcg(
    rel: Grades,
    k: Cutoffs = None,
    *,
    ideal: Grades | None = None,
    empty: Literal["zero", "skip", "one", "nan", "error"] = "zero",
    **settings: Unpack[Discounts],
) -> Numbers:
    """Divide the discounted gains of the list by those of the best order.

    Args:
        rel: As in `cg`.
        k: As in `cg`.
        ideal: As in `idcg`.
        empty: The value where the ideal is 0, as in `Policy`; `"skip"` is NaN.
        **settings: As in `dcg`.

    Returns:
        As `cg`.

    Raises:
        UsageError: A setting is outside its domain.
        InputError: A grade is no number.

    Examples:
        >>> [round(value, 2) for value in ndcg([4, 2, 5, 3, 5], k="all").tolist()]
        [0.8, 0.65, 0.76, 0.79, 0.9]
        >>> ndcg([[3, 2, 0], [0, 0, 1, 1]], k=2)
        array([1., 0.])
        >>> round(ndcg([2, 3, 1, 3, 0], k=5, ideal=[3, 3, 2, 1, 0]), 4)
        0.899
    """
    return _compute(nDCG, rel, k, ideal, {**settings, "empty": empty})


def dcg_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    k: int | None = None,
    log_base: float = 2,
    sample_weight: ArrayLike | None = None,
    ignore_ties: bool = False,
) -> float:
    """Average DCG over the rows of two matrices, as scikit-learn's function of this name does.

    Args:
        y_true: Gains, shape (queries, documents); unlike there, one row may have one document, and
            NaN is unjudged.
        y_score: Scores of the same shape; NaN or masked where there is no document.
        k: The cutoff.
        log_base: The base of the logarithm in the discount.
        sample_weight: A weight a query.
        ignore_ties: Whether tied documents are taken last first, which is faster; else their
            expected gain counts.

    Raises:
        UsageError: A setting is outside its domain.
        InputError: The matrices do not fit.

    Examples:
        >>> round(dcg_score([[10, 0, 0, 1, 5]], [[0.1, 0.2, 0.3, 4, 70]]), 4)
        9.4995
    """
    measure = DCG if log_base == 2 else DCG(discount="log", base=log_base)
    chosen = measure if k is None else measure @ k
    return _score(chosen, "gain", (y_true, y_score), sample_weight, ignore_ties=ignore_ties)


def ndcg_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    k: int | None = None,
    sample_weight: ArrayLike | None = None,
    ignore_ties: bool = False,
) -> float:
    """Average nDCG over the rows of two matrices, as scikit-learn's function of this name does.

    Args:
        y_true: Gains, 0 or more, shape (queries, documents); unlike there, one row may have one
            document, and NaN is unjudged.
        y_score: As in `dcg_score`.
        k: As in `dcg_score`.
        sample_weight: As in `dcg_score`.
        ignore_ties: As in `dcg_score`.

    Raises:
        UsageError: A setting is outside its domain.
        InputError: The matrices do not fit, or a gain is negative.

    Examples:
        >>> round(ndcg_score([[5, 5, 4, 3, 2]], [[3, 1, 5, 2, 4]], k=3), 4)
        0.7644
    """
    chosen = nDCG if k is None else nDCG @ k
    return _score(chosen, "error", (y_true, y_score), sample_weight, ignore_ties=ignore_ties)


def _compute(
    measure: Measure,
    rel: Grades,
    k: Cutoffs,
    ideal: Grades | None,
    settings: dict[str, object],
) -> Numbers:
    import numpy as np  # noqa: PLC0415 - loads with the first array

    policy = {name: settings.pop(name) for name in POLICIES if name in settings}
    is_one = len(rel) == 0 or np.ndim(rel[0]) == 0
    lists = [rel] if is_one else rel
    ideals = None if ideal is None else [ideal] if is_one else ideal
    rankings = Rankings.from_lists(lists, ideal=ideals)  # type: ignore[arg-type]  # lists of numbers
    cutoffs = _read_cutoffs(k, max(map(len, lists)))
    base = measure(**settings)
    measures = [base if cutoff is None else base @ cutoff for cutoff in cutoffs]
    chosen = Policy(ties="input", **policy)  # type: ignore[arg-type]  # checked there
    evaluation = rankings.evaluate(measures, policy=chosen)
    values = np.stack([evaluation.per_query(each) for each in measures], axis=-1)
    if not hasattr(k, "__iter__"):
        values = values[:, 0]
    if not is_one:
        return values
    return float(values[0]) if values.ndim == 1 else values[0]


def _read_cutoffs(k: Cutoffs, longest: int) -> list[int | None]:
    if k is None or isinstance(k, int):
        return [k]
    if isinstance(k, str):
        if k != "all":
            raise UsageError(
                f"expected k as a number, several numbers or 'all', found {k!r}",
                hint="write k=10, k=[5, 10] or k='all'",
                code="bad_parameter",
            )
        return list(range(1, longest + 1))
    # What is no number of either kind is refused by the measure.
    return list(k) if hasattr(k, "__iter__") else [k]  # type: ignore[list-item]  # see above


def _score(
    measure: Measure,
    negative: Literal["gain", "error"],
    matrices: tuple[ArrayLike, ArrayLike],
    sample_weight: ArrayLike | None,
    *,
    ignore_ties: bool,
) -> float:
    import numpy as np  # noqa: PLC0415 - loads with the first array

    y_true, y_score = matrices
    if ignore_ties:
        # scikit-learn sorts ascending and turns the order round, so that the last comes first.
        y_true, y_score = np.atleast_2d(y_true)[:, ::-1], np.atleast_2d(y_score)[:, ::-1]
    ties: Literal["input", "average"] = "input" if ignore_ties else "average"
    rankings = Rankings.from_arrays(y_true, y_score, ties=ties)
    evaluation = rankings.evaluate(measure, policy=Policy(ties=ties, negative=negative))
    if sample_weight is None:
        return evaluation[measure]
    weights = to_numbers(sample_weight, "sample_weight", dimensions=(1,)).tolist()
    values = evaluation.per_query_list(measure)
    if len(weights) != len(values) or not sum(weights) > 0 or min(weights) < 0:
        raise FormatError(
            f"expected {len(values)} weights, 0 or more and not all 0, found {weights[:5]}",
            hint="give one weight a query",
            code="bad_weights",
            file="sample_weight",
        )
    weighed = math.fsum(weight * value for weight, value in zip(weights, values, strict=True))
    return weighed / math.fsum(weights)
