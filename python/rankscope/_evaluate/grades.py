"""CG, DCG, IDCG and nDCG of grades in rank order, by one call."""

from __future__ import annotations

from functools import partial

from rankscope._core import EMPTY_VALUES
from rankscope._evaluate.rankings import Rankings, rank_groups
from rankscope._evaluate.refusals import refuse_beaten_ideals
from rankscope._evaluate.settings import Settings
from rankscope._inputs.arrays import from_lists
from rankscope._inputs.numbers import is_column, is_row, split_lists
from rankscope.deferred import np
from rankscope.errors import InputError, UsageError
from rankscope.measures import CG, DCG, IDCG, nDCG
from rankscope.records import record
from rankscope.settings.policy import Policy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Literal, TypeAlias, TypedDict, Unpack

    from numpy.typing import NDArray

    from rankscope._inputs.arrays import Groups, GroupsLike
    from rankscope.measures import Measure
    from rankscope.measures.domains import Value
    from rankscope.settings.policy import Empty, Negative

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


@record(frozen=True, slots=True)
class Given:
    """The grades, and what belongs to them."""

    rel: Grades
    groups: GroupsLike | None
    ideal: Grades | None = None


def cg(
    rel: Grades,
    k: Cutoffs = None,
    *,
    groups: GroupsLike | None = None,
    **settings: Unpack[Gains],
) -> Numbers:
    """Cumulate the gains of grades in rank order.

    Args:
        rel: Grades, best rank first: one list, or several of any lengths, or one column with
            `groups`. NaN means unjudged.
        k: One or more cutoffs, `"all"` for every rank, or `None` for whole lists.
        groups: The queries of a column: the ID of each row's query, the number of rows of each
            query, or `"one"` if the column is a single list. The rows of a query can be anywhere;
            their order is the ranking. As many entries as rows are read as IDs; whole numbers that
            could be both IDs and sizes are an error. Required for a column of pandas, Polars or
            Arrow, which usually holds many queries.
        **settings: `gain` as in `nDCG`, `negative` and `missing_gain` as in `Policy`.

    Returns:
        A number for one list and one cutoff. Several lists return an array, and several cutoffs add
        a last axis to it. Groups return an array, too, in the order in which they first appear.

    Raises:
        UsageError: A setting is invalid, a column has no groups, or the groups could be IDs as well
            as sizes.
        InputError: A grade is not a number, or the groups don't fit the rows.

    Examples:
        >>> cg([4, 2, 5, 3, 5], k="all")
        array([ 4.,  6., 11., 14., 19.])
        >>> cg([4, 2, 5, 3, 5], k=2, groups=["a", "b", "a", "b", "a"])
        array([9., 5.])
    """
    return _compute(CG, Given(rel, groups), k, dict(settings))


def dcg(
    rel: Grades,
    k: Cutoffs = None,
    *,
    groups: GroupsLike | None = None,
    **settings: Unpack[Discounts],
) -> Numbers:
    """Cumulate the gains of grades in rank order, each discounted by its rank.

    Args:
        rel: As in `cg`.
        k: As in `cg`.
        groups: As in `cg`.
        **settings: As in `cg`, and `discount`, `base` and `s` as in `nDCG`.

    Returns:
        As `cg`.

    Raises:
        UsageError: As in `cg`.
        InputError: As in `cg`.

    Examples:
        >>> [round(value, 2) for value in dcg([4, 2, 5, 3, 5], k="all").tolist()]
        [4.0, 5.26, 7.76, 9.05, 10.99]
    """
    return _compute(DCG, Given(rel, groups), k, dict(settings))


def idcg(
    rel: Grades,
    k: Cutoffs = None,
    *,
    ideal: Grades | None = None,
    groups: GroupsLike | None = None,
    **settings: Unpack[Discounts],
) -> Numbers:
    """Cumulate the discounted gains of the best order.

    Args:
        rel: As in `cg`.
        k: As in `cg`.
        ideal: All judged grades, in any order (default: those of the list). With groups, a list for
            each of them.
        groups: As in `cg`.
        **settings: As in `dcg`.

    Returns:
        As `cg`.

    Raises:
        UsageError: As in `cg`.
        InputError: As in `cg`.

    Examples:
        >>> [round(value, 2) for value in idcg([4, 2, 5, 3, 5], k="all").tolist()]
        [5.0, 8.15, 10.15, 11.45, 12.22]
    """
    return _compute(IDCG, Given(rel, groups, ideal), k, dict(settings))


def ndcg(
    rel: Grades,
    k: Cutoffs = None,
    *,
    ideal: Grades | None = None,
    groups: GroupsLike | None = None,
    empty: Empty = "zero",
    **settings: Unpack[Discounts],
) -> Numbers:
    """Divide the discounted gains of the list by those of the best order.

    Args:
        rel: As in `cg`.
        k: As in `cg`.
        ideal: As in `idcg`. It can be shorter than the list, but a list that beats its ideal is an
            error.
        groups: As in `cg`.
        empty: The value if the ideal is 0, as in `Policy`. `"skip"` returns NaN.
        **settings: As in `dcg`.

    Returns:
        As `cg`.

    Raises:
        UsageError: As in `cg`.
        InputError: As in `cg`.

    Examples:
        >>> [round(value, 2) for value in ndcg([4, 2, 5, 3, 5], k="all").tolist()]
        [0.8, 0.65, 0.76, 0.79, 0.9]
        >>> ndcg([[3, 2, 0], [0, 0, 1, 1]], k=2)
        array([1., 0.])
        >>> round(ndcg([2, 3, 1, 3, 0], k=5, ideal=[3, 3, 2, 1, 0]), 4)
        0.899
        >>> ndcg([3, 2, 0, 0, 1, 1], k=2, groups=[3, 3])
        array([1.        , 0.38685281])
    """
    return _compute(nDCG, Given(rel, groups, ideal), k, {**settings, "empty": empty})


def _compute(measure: Measure, given: Given, k: Cutoffs, settings: dict[str, object]) -> Numbers:
    policy = {name: settings.pop(name) for name in POLICIES if name in settings}
    chosen = Policy(ties="input", **policy)  # type: ignore[arg-type]  # checked there
    base = measure(**settings)
    read, is_one = _open_lists(measure, given)
    try:
        rankings = rank_groups(read(), "input", Rankings)
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


def _open_lists(measure: Measure, given: Given) -> tuple[Callable[[], Groups], bool]:
    """Return what reads the lists, and whether there is only one, whose value is a number."""
    rel, groups, ideal = given.rel, given.groups, given.ideal
    lists, is_one = split_lists(rel, "rel")
    is_declared = isinstance(groups, str) and groups == "one"
    if not (groups is None or (is_one and is_declared)):
        return partial(from_lists, rel, ideal, "rel", groups), False
    rows, columns = (*getattr(rel, "shape", ()), 0, 0)[:2]
    is_narrow = columns == 1 < rows  # a table of one column
    if is_column(rel) and (is_one or is_narrow) and not is_declared:
        function = measure.name.lower()
        raise UsageError(
            "expected groups beside a column, which may hold the rows of many queries, found none",
            hint=f"write {function}(df['gains'], groups=df['query']) for a value per query, or "
            "groups='one' if the whole column is one ranked list",
            code="groups_needed",
        )
    ideals = None if ideal is None else [ideal] if is_one else ideal
    return partial(from_lists, lists, ideals, "rel"), is_one


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


DEEPEST = 2**31
"""Larger cutoffs are those of whole lists, and evaluated one by one."""


def values_at(
    rankings: Rankings, base: Measure, cutoffs: Sequence[int | None], policy: Policy
) -> NDArray[np.float64]:
    """Evaluate one measure at many cutoffs."""
    usual = sorted({k for k in cutoffs if k is not None and k <= DEEPEST})
    columns: dict[int | None, NDArray[np.float64]] = {}
    if len(usual) > 1:
        columns |= zip(usual, _in_one_pass(rankings, base, usual, policy).T, strict=True)
    others = {k: base if k is None else base @ k for k in cutoffs if k not in columns}
    if others:
        evaluation = rankings.evaluate(others.values(), policy=policy)
        columns |= {k: evaluation.per_query(measure) for k, measure in others.items()}
    return np.stack([columns[k] for k in cutoffs], axis=-1)


def _in_one_pass(
    rankings: Rankings, base: Measure, cutoffs: list[int], policy: Policy
) -> NDArray[np.float64]:
    request = Settings(measures=base @ cutoffs[-1], policy=policy).request(grades=rankings.grades)
    plan = request.plan(rankings.tie_policy)
    column = rankings._core.values_at(plan, np.array(cutoffs, dtype=np.int64))  # noqa: SLF001 - a part of it
    if column is None:
        message = f"{base} has no values at many cutoffs"
        raise TypeError(message)
    values = np.frombuffer(memoryview(column), dtype=np.float64).reshape(-1, len(cutoffs)).copy()
    is_undefined = np.isnan(values)
    is_refused = np.isinf(values) | (is_undefined & (policy.empty == "error"))
    if is_refused.any():
        # One by one, the first of them is refused, with the query.
        rankings.evaluate(base @ cutoffs[int(is_refused.any(axis=0).argmax())], policy=policy)
    if policy.empty in EMPTY_VALUES:
        values[is_undefined] = EMPTY_VALUES[policy.empty]
    if rankings._choices.has_ideal:  # noqa: SLF001 - as above
        refuse_beaten_ideals(rankings, [base @ k for k in cutoffs], [*values.T])
    return values
