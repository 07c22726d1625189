"""DCG and nDCG of matrices, with the signatures of scikit-learn's functions."""

from __future__ import annotations

from rankscope._core import mean_of_rows
from rankscope._evaluate.grades import POLICIES as POLICIES_OF_GAINS
from rankscope._evaluate.query_values import are_weights
from rankscope._evaluate.rankings import Rankings, rank_groups
from rankscope._evaluate.settings import Settings
from rankscope._inputs.arrays import GROUPED, as_matrix, check_weights, from_rows
from rankscope._inputs.numbers import to_numbers
from rankscope.errors import FormatError, PolicyError, UsageError
from rankscope.measures import DCG, nDCG
from rankscope.records import record
from rankscope.settings.policy import Policy, ties_of
from rankscope.settings.reading import count_threads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Unpack

    from numpy.typing import ArrayLike

    from rankscope._evaluate.grades import Discounts
    from rankscope._inputs.arrays import GroupsLike, Padding
    from rankscope.measures import Measure
    from rankscope.settings.policy import Empty, Ties

    class Choices(Discounts, total=False):
        """Settings beyond scikit-learn's."""

        ties: Ties
        empty: Empty


POLICIES = ("ties", *POLICIES_OF_GAINS)
IN_SKLEARN = (
    ". In scikit-learn, a scorer of rankscope.integrations.sklearn passes the groups of each fold, "
    "as does make_scorer({}).set_score_request(groups=True)"
)


@record(frozen=True, slots=True)
class Given:
    """The arguments that both functions share."""

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
    given = Given(y_true, y_score, groups, padding, sample_weight, ignore_ties)
    return _score(measure, k, given, {"negative": "gain", **settings})


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
    given = Given(y_true, y_score, groups, padding, sample_weight, ignore_ties)
    return _score(nDCG, k, given, {"negative": "error", **settings})


def _score(measure: Measure, k: int | None, given: Given, settings: dict[str, object]) -> float:
    fields = {name: settings.pop(name) for name in POLICIES if name in settings}
    fields["ties"] = _read_ties(fields.get("ties"), ignores=given.ignore_ties)
    policy = Policy(**fields)  # type: ignore[arg-type]  # checked there
    chosen = measure(**settings)
    chosen = chosen if k is None else chosen @ k
    weights = given.sample_weight
    if weights is not None:
        check_weights(weights, given.y_true, given.groups)
        weights = to_numbers(weights, "sample_weight", dimensions=(1,)).tolist()
    if given.padding not in {None, "nan"}:
        raise UsageError(
            f"expected padding as 'nan' or None, found {given.padding!r:.120}",
            hint="leave it out if every score is a number",
            code="bad_parameter",
        )
    mean = _score_plain(chosen, policy, given, weights)
    if mean is not None:
        return mean
    function = f"{measure.name.lower()}_score"
    rows = from_rows(
        given.y_true,
        given.y_score,
        given.groups,
        hint=GROUPED.format(function) + IN_SKLEARN.format(function),
        padding=given.padding,
        # scikit-learn sorts ascending and turns the order round, so that the last comes first.
        is_reversed=given.ignore_ties,
    )
    rankings = rank_groups(rows, ties_of(policy), Rankings)
    try:
        return rankings.evaluate(chosen, policy=policy, weights=weights)[chosen]
    except FormatError as error:
        if error.code == "bad_weights":
            error.file, error.hint = "sample_weight", "give one weight a query"
        raise


def _score_plain(
    measure: Measure, policy: Policy, given: Given, weights: list[float] | None
) -> float | None:
    """Score matrices of plain numbers without a copy, or return `None` if that isn't possible."""
    if policy.ties not in {"average", "input"} or policy.empty != "zero":
        return None
    if given.groups is not None:
        return None
    y_true, y_score = as_matrix(given.y_true, "y_true"), as_matrix(given.y_score, "y_score")
    if y_true is None or y_score is None or y_true.shape != y_score.shape:
        return None
    are_bad = weights is not None and not (len(weights) == len(y_true) and are_weights(weights))
    if are_bad or callable(measure.parameters.get("gain")):
        return None
    plan = Settings(measures=measure, policy=policy).request().plan(weights=weights)
    return mean_of_rows(plan, y_true, y_score, given.ignore_ties, count_threads(None))


def _read_ties(ties: object, *, ignores: bool) -> object:
    if not ignores:
        return "average" if ties is None else ties
    if ties is not None:
        raise PolicyError(
            f"expected ignore_ties or ties={ties!r}, found both",
            hint="leave ignore_ties out",
            code="bad_policy",
        )
    return "input"
