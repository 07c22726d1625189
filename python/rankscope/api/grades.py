"""CG, DCG, IDCG and nDCG of grades in rank order, by one call."""

from __future__ import annotations

from rankscope.adapters.arrays import from_lists
from rankscope.adapters.foreign import is_row
from rankscope.adapters.numbers import split_lists
from rankscope.api.cutoffs import values_at
from rankscope.api.rankings import rank_groups
from rankscope.data.policy import Policy
from rankscope.errors import InputError, UsageError
from rankscope.measures import CG, DCG, IDCG, nDCG

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal, TypeAlias, TypedDict, Unpack

    import numpy as np
    from numpy.typing import NDArray

    from rankscope.data.policy import Empty, Negative
    from rankscope.measures import Measure
    from rankscope.measures.domains import Value

    Grades: TypeAlias = Sequence[float] | Sequence[Sequence[float]] | NDArray[np.float64]
    Cutoffs: TypeAlias = int | Sequence[int] | Literal["all"] | None
    Numbers: TypeAlias = float | NDArray[np.float64]

    class Gains(TypedDict, total=False):
        """Settings of gains that the functions share."""

        gain: Value | Sequence[float]
        negative: Negative
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
        rel: Grades, best rank first: one list, or several of any lengths. NaN means unjudged.
        k: One or more cutoffs, `"all"` for every rank, or `None` for whole lists.
        **settings: `gain` as in `nDCG`, `negative` and `missing_gain` as in `Policy`.

    Returns:
        A number for one list and one cutoff. Several lists return an array, and several cutoffs add
        a last axis to it.

    Raises:
        UsageError: A setting is invalid.
        InputError: A grade is not a number.

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
        **settings: As in `cg`, and `discount`, `base` and `s` as in `nDCG`.

    Returns:
        As `cg`.

    Raises:
        UsageError: A setting is invalid.
        InputError: A grade is not a number.

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
        ideal: All judged grades, in any order (default: those of the list).
        **settings: As in `dcg`.

    Returns:
        As `cg`.

    Raises:
        UsageError: A setting is invalid.
        InputError: A grade is not a number.

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
    empty: Empty = "zero",
    **settings: Unpack[Discounts],
) -> Numbers:
    """Divide the discounted gains of the list by those of the best order.

    Args:
        rel: As in `cg`.
        k: As in `cg`.
        ideal: As in `idcg`. It can be shorter than the list, but a list that beats its ideal is an
            error.
        empty: The value if the ideal is 0, as in `Policy`. `"skip"` returns NaN.
        **settings: As in `dcg`.

    Returns:
        As `cg`.

    Raises:
        UsageError: A setting is invalid.
        InputError: A grade is not a number.

    Examples:
        >>> [round(value, 2) for value in ndcg([4, 2, 5, 3, 5], k="all").tolist()]
        [0.8, 0.65, 0.76, 0.79, 0.9]
        >>> ndcg([[3, 2, 0], [0, 0, 1, 1]], k=2)
        array([1., 0.])
        >>> round(ndcg([2, 3, 1, 3, 0], k=5, ideal=[3, 3, 2, 1, 0]), 4)
        0.899
    """
    return _compute(nDCG, rel, k, ideal, {**settings, "empty": empty})


def _compute(
    measure: Measure,
    rel: Grades,
    k: Cutoffs,
    ideal: Grades | None,
    settings: dict[str, object],
) -> Numbers:
    import numpy as np  # noqa: PLC0415 - loads with the first array

    policy = {name: settings.pop(name) for name in POLICIES if name in settings}
    lists, is_one = split_lists(rel, "rel")
    ideals = None if ideal is None else [ideal] if is_one else ideal
    chosen = Policy(ties="input", **policy)  # type: ignore[arg-type]  # checked there
    base = measure(**settings)
    try:
        rankings = rank_groups(from_lists(lists, ideals, "rel"), "input")  # type: ignore[arg-type]  # lists of numbers
        cutoffs = _read_cutoffs(base, k, int(np.diff(rankings.offsets).max()))
        values = values_at(rankings, base, cutoffs, chosen)
    except InputError as error:
        if is_one and error.line is not None:  # the place in the one list
            error.line, error.column = error.column, None
        raise
    if not hasattr(k, "__iter__"):
        values = values[:, 0]
    if not is_one:
        return values
    return float(values[0]) if values.ndim == 1 else values[0]


def _read_cutoffs(base: Measure, k: Cutoffs, longest: int) -> list[int | None]:
    if isinstance(k, str) and k == "all":
        return list(range(1, longest + 1))
    if k is None or not hasattr(k, "__iter__"):
        return [k if k is None else (base @ k).k]  # the measure refuses what is no cutoff
    if not (is_row(type(k)) and getattr(k, "ndim", 1) == 1):
        raise UsageError(
            f"expected k as a number, several numbers or 'all', found {k!r:.120}",
            hint="write k=10, k=[5, 10] or k='all'",
            code="bad_parameter",
        )
    return [each if each is None else (base @ each).k for each in k]
