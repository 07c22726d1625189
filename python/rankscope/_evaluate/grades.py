"""CG, DCG, IDCG and nDCG of grades in rank order, by one call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Literal, TypeAlias, TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankscope._core import EMPTY_VALUES, mean_of_rows
from rankscope._evaluate.query_values import are_weights, bad_parameter
from rankscope._evaluate.rankings import Rankings, rank_groups
from rankscope._evaluate.refusals import refuse_beaten_ideals
from rankscope._evaluate.settings import Settings
from rankscope._inputs.arrays import (
    GROUPED,
    Groups,
    Padding,
    as_matrix,
    check_weights,
    from_lists,
    from_rows,
)
from rankscope._inputs.numbers import is_column, is_row, split_lists, to_numbers
from rankscope._settings import Empty, Negative, Policy, Ties, count_threads, ties_of
from rankscope.errors import FormatError, InputError, PolicyError, UsageError
from rankscope.measures import CG, DCG, IDCG, Measure, nDCG
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


class Choices(Discounts, total=False):
    """Settings beyond scikit-learn's."""

    ties: Ties
    empty: Empty


if TYPE_CHECKING:
    from rankscope._inputs.arrays import GroupsLike


POLICIES = ("empty", "negative", "missing_gain")


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
    return _compute(CG, rel, k, settings, groups=groups)


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
    return _compute(DCG, rel, k, settings, groups=groups)


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
    return _compute(IDCG, rel, k, settings, groups=groups, ideal=ideal)


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
    return _compute(nDCG, rel, k, {**settings, "empty": empty}, groups=groups, ideal=ideal)


def _compute(
    measure: Measure,
    rel: Grades,
    k: Cutoffs,
    settings: Mapping[str, object],
    *,
    groups: GroupsLike | None,
    ideal: Grades | None = None,
) -> Numbers:
    policy, settings = _split_policy(settings, ties="input")
    base = measure(**settings)
    read, is_one = _open_lists(measure, rel, groups, ideal)
    try:
        rankings = rank_groups(read(), "input", Rankings)
        cutoffs = _read_cutoffs(base, k, int(np.diff(rankings.offsets).max()))
        values = values_at(rankings, base, cutoffs, policy)
    except InputError as error:
        if is_one and error.line is not None:  # the place in the one list
            error.line, error.column = error.column, None
        raise
    if not hasattr(k, "__iter__"):
        values = values[:, 0]
    if not is_one:
        return values
    return float(values[0]) if values.ndim == 1 else values[0]


def _split_policy(settings: Mapping[str, object], ties: object) -> tuple[Policy, dict[str, object]]:
    """Split settings into a policy and the parameters of a measure."""
    fields = {name: value for name, value in settings.items() if name in POLICIES}
    policy = Policy(**{**fields, "ties": ties})  # type: ignore[arg-type]  # checked there
    return policy, {name: value for name, value in settings.items() if name not in POLICIES}


def _open_lists(
    measure: Measure, rel: Grades, groups: GroupsLike | None, ideal: Grades | None
) -> tuple[Callable[[], Groups], bool]:
    """Return what reads the lists, and whether there is only one, whose value is a number."""
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
        raise bad_parameter(
            f"expected k as a number, several numbers or 'all', found {k!r:.120}",
            "write k=10, k=[5, 10] or k='all'",
        )
    return [cutoff if cutoff is None else (base @ cutoff).k for cutoff in k]


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


IN_SKLEARN = (
    ". In scikit-learn, a scorer of rankscope.integrations.sklearn passes the groups of each fold, "
    "as does make_scorer({}).set_score_request(groups=True)"
)


@dataclass(frozen=True, slots=True)
class Rows:
    """The arguments of both functions about the rows."""

    y_true: ArrayLike
    y_score: ArrayLike
    groups: GroupsLike | None
    padding: Padding
    sample_weight: ArrayLike | None
    ignore_ties: bool


def dcg_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    k: int | None = None,
    log_base: float = 2,
    groups: GroupsLike | None = None,
    padding: Padding = None,
    sample_weight: ArrayLike | None = None,
    ignore_ties: bool = False,
    **settings: Unpack[Choices],
) -> float:
    """Return the mean DCG over queries, as scikit-learn's function does.

    Args:
        y_true: Gains, shape (queries, documents), or (rows,) with `groups`. Unlike in scikit-learn,
            a query can have one document, and NaN means unjudged.
        y_score: Scores of the same shape. Masked scores mean that there is no document.
        k: The cutoff.
        log_base: The base of the logarithm in the discount.
        groups: The queries of one-dimensional input: the ID of each row's query (the rows of a
            query can be anywhere), the number of rows of each query, or `"one"` for a single
            query. As many entries as rows are read as IDs; whole numbers that could be both
            IDs and sizes are an error.
        padding: `"nan"` if a score that is NaN means that there is no document. By default, NaN is
            an error.
        sample_weight: The weight of each query, in the order of the rows of the matrix, or in which
            the groups first appear.
        ignore_ties: Whether to take tied documents last first, which is faster, rather than average
            over their orders. scikit-learn takes them in the order of an unstable sort, so its
            number is the same only if no scores are tied.
        **settings: Settings beyond scikit-learn's: `gain`, `discount`, `base` and `s` as in `DCG`,
            and `ties`, `empty`, `negative` and `missing_gain` as in `Policy`.

    Raises:
        UsageError: A setting is invalid, one-dimensional input has no groups, or the groups could
            be IDs as well as sizes.
        InputError: The shapes differ, or a score is NaN.

    Examples:
        >>> round(dcg_score([[10, 0, 0, 1, 5]], [[0.1, 0.2, 0.3, 4, 70]]), 4)
        9.4995
        >>> dcg_score([3, 0, 2], [0.9, 0.8, 0.7], groups=["a", "a", "b"])
        2.5
        >>> round(dcg_score([[3, 0, 1]], [[0.1, 0.3, 0.2]], gain="exp2"), 4)
        4.1309
    """
    measure = DCG if log_base == 2 else DCG(discount="log", base=log_base)
    rows = Rows(y_true, y_score, groups, padding, sample_weight, ignore_ties)
    return _score(measure, k, rows, {"negative": "gain", **settings})


def ndcg_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    k: int | None = None,
    groups: GroupsLike | None = None,
    padding: Padding = None,
    sample_weight: ArrayLike | None = None,
    ignore_ties: bool = False,
    **settings: Unpack[Choices],
) -> float:
    """Return the mean nDCG over queries, as scikit-learn's function does.

    Args:
        y_true: Gains of 0 or more, shape (queries, documents), or (rows,) with `groups`. Unlike in
            scikit-learn, a query can have one document, and NaN means unjudged.
        y_score: As in `dcg_score`.
        k: As in `dcg_score`.
        groups: As in `dcg_score`.
        padding: As in `dcg_score`.
        sample_weight: As in `dcg_score`.
        ignore_ties: As in `dcg_score`.
        **settings: As in `dcg_score`.

    Raises:
        UsageError: As in `dcg_score`.
        InputError: As in `dcg_score`, or a gain is negative.

    Examples:
        >>> round(ndcg_score([[5, 5, 4, 3, 2]], [[3, 1, 5, 2, 4]], k=3), 4)
        0.7644
        >>> ndcg_score([[0, 0], [0, 1]], [[0.1, 0.2], [0.1, 0.2]], empty="skip")
        1.0
        >>> rows = [0, 3, 1], [0.9, 0.8, 0.7]
        >>> round(ndcg_score(*rows, groups=["a", "a", "b"]), 4)
        0.8155
        >>> ndcg_score(*rows, groups=[2, 1]) == ndcg_score(*rows, groups=["a", "a", "b"])
        True
    """
    rows = Rows(y_true, y_score, groups, padding, sample_weight, ignore_ties)
    return _score(nDCG, k, rows, {"negative": "error", **settings})


def _score(measure: Measure, k: int | None, rows: Rows, settings: dict[str, object]) -> float:
    ties = settings.pop("ties", None)
    if rows.ignore_ties and ties is not None:
        raise PolicyError(
            f"expected ignore_ties or ties={ties!r}, found both",
            hint="leave ignore_ties out",
            code="bad_policy",
        )
    default = "input" if rows.ignore_ties else "average"
    policy, settings = _split_policy(settings, default if ties is None else ties)
    base = measure(**settings)
    cut = base if k is None else base @ k
    weights = rows.sample_weight
    if weights is not None:
        check_weights(weights, rows.y_true, rows.groups)
        weights = to_numbers(weights, "sample_weight", dimensions=(1,)).tolist()
    if rows.padding not in {None, "nan"}:
        raise bad_parameter(
            f"expected padding as 'nan' or None, found {rows.padding!r:.120}",
            "leave it out if every score is a number",
        )
    mean = _score_plain(cut, policy, rows, weights)
    if mean is not None:
        return mean
    function = f"{measure.name.lower()}_score"
    groups = from_rows(
        rows.y_true,
        rows.y_score,
        rows.groups,
        hint=GROUPED.format(function) + IN_SKLEARN.format(function),
        padding=rows.padding,
        # scikit-learn sorts ascending and turns the order round, so that the last comes first.
        is_reversed=rows.ignore_ties,
    )
    rankings = rank_groups(groups, ties_of(policy), Rankings)
    try:
        return rankings.evaluate(cut, policy=policy, weights=weights)[cut]
    except FormatError as error:
        if error.code == "bad_weights":
            error.file, error.hint = "sample_weight", "give one weight a query"
        raise


def _score_plain(
    measure: Measure, policy: Policy, rows: Rows, weights: list[float] | None
) -> float | None:
    """Score matrices of plain numbers without a copy, or return `None` if that isn't possible."""
    is_plain = policy.ties in {"average", "input"} and policy.empty == "zero"
    if rows.groups is not None or not is_plain or callable(measure.parameters.get("gain")):
        return None
    y_true, y_score = as_matrix(rows.y_true, "y_true"), as_matrix(rows.y_score, "y_score")
    if y_true is None or y_score is None or y_true.shape != y_score.shape:
        return None
    if weights is not None and not (len(weights) == len(y_true) and are_weights(weights)):
        return None
    request = replace(Settings(measures=measure, policy=policy).request(), weights=weights)
    return mean_of_rows(request.plan(), y_true, y_score, rows.ignore_ties, count_threads(None))
