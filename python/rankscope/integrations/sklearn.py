"""Scorers for scikit-learn that evaluate each query of a fold, and average over the queries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

import rankscope as rs
from rankscope.errors import FormatError, UsageError
from rankscope.integrations._frames import GroupedMeasures, require

RESPONSES = ("decision_function", "predict_proba", "predict")
"""The methods of an estimator that can give scores. The first one that it has is called."""
HINT = (
    'pass groups="column" if X is a data frame with a column of queries, groups=series if X has '
    "the index of that series, or sklearn.set_config(enable_metadata_routing=True) and the queries "
    "as groups to fit or cross_validate"
)


def make_ranking_scorer(
    measure: str | rs.Measure,
    *,
    groups: object = None,
    policy: rs.Policy | str | None = None,
    convention: str | None = None,
    response_method: str | Sequence[str] = RESPONSES,
) -> RankingScorer:
    """Make a scorer for `GridSearchCV`, `cross_validate` and `cross_val_score`.

    The rows of a query can be in any order, but all of them have to be in the same fold, so use a
    splitter such as `GroupKFold`. Scores of measures for which lower is better have a minus sign,
    as in scikit-learn.

    Args:
        measure: The measure, such as `"nDCG@10"`.
        groups: The query of each row, in one of three forms. The name or number of a column of X;
            the estimator gets that column, too. A pandas Series with the index of X, which then has
            to be a data frame. Or, by default, what is passed as `groups` to `fit` or
            `cross_validate`, which needs metadata routing.
        policy: As in `rankscope.evaluate`.
        convention: As in `rankscope.evaluate`. `"sklearn"` gives the mean of scikit-learn's
            `ndcg_score` over the queries.
        response_method: The method of the estimator that gives the scores, or several, of which the
            first one that exists is called. For two classes, the score is that of the second.

    Raises:
        UsageError: The measure or the policy is not one, the measure doesn't say which of two
            rankings is better, or there are no groups and metadata routing is off.

    Examples:
        >>> import pandas as pd
        >>> from sklearn.linear_model import LinearRegression
        >>> X = pd.DataFrame({"query_id": [1, 1, 2, 2], "price": [3.0, 1.0, 2.0, 4.0]})
        >>> model = LinearRegression().fit(X, [0, 1, 1, 0])
        >>> make_ranking_scorer("RR", groups="query_id")(model, X, [1, 0, 1, 0])
        0.75
    """
    if not isinstance(measure, str | rs.Measure):
        raise UsageError(
            f"expected one measure, found {type(measure).__name__}",
            hint="pass a scorer for each: scoring={name: make_ranking_scorer(name, …) for name in "
            "('nDCG@5', 'AP')}",
            code="bad_parameter",
        )
    if groups is None and not require("sklearn").get_config()["enable_metadata_routing"]:
        raise _no_groups("scikit-learn passes no groups to a scorer while metadata routing is off")
    if groups is not None and not isinstance(groups, str | int) and not hasattr(groups, "loc"):
        raise _no_groups(
            f"expected groups as a column or a pandas Series, found {type(groups)}: a "
            "fold has some of the rows only, and an array doesn't say which"
        )
    return RankingScorer(rs.parse(measure), groups, policy, convention, response_method)


class RankingScorer:
    """A scorer as scikit-learn calls it: `scorer(estimator, X, y)`, with `groups` if routed."""

    def __init__(
        self,
        measure: rs.Measure,
        groups: object,
        policy: rs.Policy | str | None,
        convention: str | None,
        response_method: str | Sequence[str],
    ) -> None:
        self._measures = GroupedMeasures(measure, policy, convention)
        self._sign = 1.0 if measure.better == "higher" else -1.0
        self._groups = groups
        self._responses = (
            (response_method,) if isinstance(response_method, str) else (*response_method,)
        )

    def __call__(
        self, estimator: object, X: object, y_true: ArrayLike, *, groups: object = None
    ) -> float:
        """Return the mean over the queries of X, whose rows have the grades `y_true`.

        Raises:
            UsageError: There are no groups, or the estimator has none of the methods.
            FormatError: A row has no query, or several scores.
        """
        codes = _number_queries(self._find_queries(X, groups))
        scores = self._predict(estimator, X)
        grades = np.asarray(y_true)
        if not len(codes) == len(scores) == len(grades):
            raise FormatError(
                f"expected a query, a score and a grade for every row, found {len(codes)} queries, "
                f"{len(scores)} scores and {len(grades)} grades",
                hint="pass groups with one query per row",
                code="length_mismatch",
            )
        # The rows of a query don't have to be contiguous, and stay in their order.
        order = np.argsort(codes, kind="stable")
        sizes = np.bincount(codes)
        (value,) = self._measures.evaluate(grades[order], scores[order], sizes)
        return self._sign * value

    def __repr__(self) -> str:
        groups, name = self._groups, self._measures.measures[0].name
        shown = repr(groups) if isinstance(groups, str | int) else type(groups).__name__
        where = "" if groups is None else f", groups={shown}"
        return f"make_ranking_scorer({name!r}{where})"

    def get_metadata_routing(self) -> object:
        """Return that `groups` is requested, unless the scorer has groups of its own."""
        routing = require("sklearn.utils.metadata_routing")
        request = routing.MetadataRequest(owner=self)
        if self._groups is None:
            request.score.add_request(param="groups", alias=True)
        return request

    def _find_queries(self, X: object, groups: object) -> Any:
        if self._groups is None:
            if groups is None:
                raise _no_groups(
                    "the scorer got no groups, so that all rows would be one query",
                    "pass groups=query_ids to fit, or params={'groups': query_ids} to "
                    "cross_validate",
                )
            return groups
        if isinstance(self._groups, str | int):
            return _read_column(X, self._groups)
        return _match_rows(X, self._groups)

    def _predict(self, estimator: object, X: object) -> Any:
        method = next((name for name in self._responses if hasattr(estimator, name)), None)
        if method is None:
            raise UsageError(
                f"{type(estimator).__name__} has none of the methods {', '.join(self._responses)}",
                hint="name the method that gives scores as response_method",
                code="usage",
            )
        scores = np.asarray(getattr(estimator, method)(X))
        if scores.ndim == 2 and scores.shape[1] <= 2:
            scores = scores[:, -1]  # the second class of two
        if scores.ndim != 1:
            raise FormatError(
                f"expected one score per row from {method}, found an array of shape {scores.shape}",
                hint='use a regressor or a ranker, or response_method="predict" if the classes are '
                "numbers that rank",
                code="score_shape",
            )
        return scores


def _no_groups(problem: str, hint: str = HINT) -> UsageError:
    return UsageError(problem, hint=hint, code="no_groups")


def _read_column(X: Any, name: str | int) -> object:
    """Return the column of queries from a data frame by its name, or from a matrix by its number.

    Raises:
        UsageError: X has no such column.
    """
    columns = getattr(X, "columns", None)
    if columns is not None and name in [*columns]:
        return X[name]
    if columns is None and isinstance(name, int) and -X.shape[1] <= name < X.shape[1]:
        return X[:, name]
    names = "no column names" if columns is None else f"columns {', '.join(map(str, columns))}"
    raise _no_groups(f"X has no column {name!r} of queries; it has {names}")


def _match_rows(X: Any, groups: Any) -> object:
    """Return the queries of the rows of X from a Series, by their index.

    Raises:
        UsageError: X has no index, a row isn't in the Series exactly once, or some rows of a query
            are missing.
    """
    index = getattr(X, "index", None)
    if index is None or callable(index):
        kind = type(X).__name__
        raise _no_groups(f"X is of type {kind} and has no index by which to find the groups")
    if not groups.index.is_unique:
        raise _no_groups(
            "the index of groups isn't unique, so that rows have several queries",
            "use reset_index(drop=True) on the data frame before you split it into X and y",
        )
    missing = ~index.isin(groups.index)
    if missing.any():
        raise _no_groups(
            f"{int(missing.sum())} of {len(index)} rows of X aren't in the index of groups, such "
            f"as {index[missing][0]!r}",
            "take X and groups from the same data frame",
        )
    queries = groups.loc[index]
    rows = queries.value_counts()
    rows = rows[rows > 0]  # a categorical column counts all of its categories
    all_rows = groups.value_counts().loc[rows.index]
    split = rows.index[rows.to_numpy() != all_rows.to_numpy()]
    if len(split):
        query = split[0]
        raise UsageError(
            f"query {query!r} has {all_rows.loc[query]} rows in groups, but only "
            f"{rows.loc[query]} of them are scored",
            hint="use a splitter that keeps queries together, such as GroupKFold, and the groups "
            "of the rows in use only",
            code="split_query",
        )
    return queries


def _number_queries(groups: Any) -> Any:
    """Return a number for the query of each row, from 0, without gaps.

    Raises:
        FormatError: A row has no query.
    """
    queries = groups.tolist() if hasattr(groups, "tolist") else [*groups]
    for row, query in enumerate(queries):
        if query is None or query != query:  # noqa: PLR0124 - NaN and NaT differ from themselves
            problem = f"row {row} has no query in groups"
            hint = "remove such rows, or give each of them a query"
            raise FormatError(problem, hint=hint, code="null_query")
    numbers = {query: number for number, query in enumerate(dict.fromkeys(queries))}
    return np.array([numbers[query] for query in queries], dtype=np.int64)
