"""scikit-learn with scorers of rankscope, which evaluate the queries of a fold one by one."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from rankscope.errors import FormatError, UsageError
from rankscope.integrations.sklearn import make_ranking_scorer

from tests.refusals import refuses

sklearn = pytest.importorskip("sklearn", reason="scikit-learn is not installed")
pd = pytest.importorskip("pandas", reason="pandas is not installed")

from sklearn.compose import make_column_transformer  # noqa: E402 - skipped where it is absent
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge  # noqa: E402
from sklearn.metrics import ndcg_score  # noqa: E402
from sklearn.model_selection import (  # noqa: E402
    GridSearchCV,
    GroupKFold,
    KFold,
    cross_val_score,
    cross_validate,
)
from sklearn.pipeline import make_pipeline  # noqa: E402

EXACT = 1e-12
RNG = np.random.default_rng(7)
QUERY = RNG.permutation(np.repeat(np.arange(40), 8))
X = RNG.normal(size=(320, 4))
Y = np.clip(np.round(X[:, 0] + RNG.normal(size=320)), 0, 4).astype(int)
FRAME = pd.DataFrame(X, columns=list("abcd"), index=RNG.permutation(1_000)[:320])
IDS = pd.Series([f"q{query}" for query in QUERY], index=FRAME.index, name="query_id")
GRID = {"alpha": [0.1, 100.0, 10_000.0]}
FOLDS = GroupKFold(3)


def by_query(grades, scores, queries, k):
    """The mean of scikit-learn's own nDCG over the queries."""
    rows = [queries == query for query in np.unique(queries)]
    return float(np.mean([ndcg_score([grades[row]], [scores[row]], k=k) for row in rows]))


def expected(alpha):
    return [
        by_query(Y[test], Ridge(alpha).fit(X[train], Y[train]).predict(X[test]), QUERY[test], 5)
        for train, test in FOLDS.split(X, Y, QUERY)
    ]


MEANS = [np.mean(expected(alpha)) for alpha in GRID["alpha"]]


def test_a_grid_search_with_routed_groups_has_the_values_of_the_queries():
    with sklearn.config_context(enable_metadata_routing=True):
        scorer = make_ranking_scorer("nDCG@5", convention="sklearn")
        search = GridSearchCV(Ridge(), GRID, scoring=scorer, cv=FOLDS)
        search.fit(X, Y, groups=QUERY)
        assert search.cv_results_["mean_test_score"] == pytest.approx(MEANS, abs=EXACT)
        assert search.best_score_ == pytest.approx(max(MEANS), abs=EXACT)


@pytest.mark.parametrize("kind", ["category", "string", "object"])
def test_groups_can_be_a_series_of_any_type_with_the_index_of_the_frame(kind):
    scorer = make_ranking_scorer("nDCG@5", groups=IDS.astype(kind), convention="sklearn")
    search = GridSearchCV(
        Ridge(), GRID, scoring=scorer, cv=FOLDS, n_jobs=2 if kind == "object" else 1
    )
    search.fit(FRAME, Y, groups=QUERY)
    assert search.cv_results_["mean_test_score"] == pytest.approx(MEANS, abs=EXACT)


@pytest.mark.parametrize("ids", [QUERY, IDS], ids=["numbers", "text"])
def test_groups_can_be_a_column(ids):
    frame = FRAME.assign(query_id=ids)
    features = make_column_transformer(("passthrough", list("abcd")))
    search = GridSearchCV(
        make_pipeline(features, Ridge()),
        {"ridge__alpha": GRID["alpha"]},
        scoring=make_ranking_scorer("nDCG@5", groups="query_id", convention="sklearn"),
        cv=FOLDS,
    ).fit(frame, Y, groups=QUERY)
    assert search.cv_results_["mean_test_score"] == pytest.approx(MEANS, abs=EXACT)


def test_groups_can_be_a_column_of_a_matrix():
    matrix = np.column_stack([X, QUERY])
    features = make_column_transformer(("passthrough", [0, 1, 2, 3]))
    scorer = make_ranking_scorer("nDCG@5", groups=-1, convention="sklearn")
    model = make_pipeline(features, Ridge(0.1))
    found = cross_val_score(model, matrix, Y, scoring=scorer, cv=FOLDS, groups=QUERY)
    assert found.tolist() == pytest.approx(expected(0.1), abs=EXACT)


def test_several_measures_are_several_scorers():
    with sklearn.config_context(enable_metadata_routing=True):
        scorers = {
            name: make_ranking_scorer(name, convention="sklearn" if name == "nDCG@5" else None)
            for name in ("nDCG@5", "AP", "OrderingLoss@5", "nDCG")
        }
        found = cross_validate(
            Ridge(0.1), X, Y, scoring=scorers, cv=FOLDS, params={"groups": QUERY}
        )
    assert found["test_nDCG@5"].tolist() == pytest.approx(expected(0.1), abs=EXACT)
    assert (found["test_OrderingLoss@5"] < 0).all()


def test_a_classifier_ranks_by_its_second_class():
    is_relevant = (Y > 0).astype(int)
    model = LogisticRegression().fit(X, is_relevant)
    scores = model.predict_proba(X)[:, 1]
    for method in ("decision_function", "predict_proba"):
        scorer = make_ranking_scorer(
            "nDCG@3", groups=IDS, response_method=method, convention="sklearn"
        )
        found = scorer(LogisticRegression().fit(FRAME, is_relevant), FRAME, is_relevant)
        assert found == pytest.approx(by_query(is_relevant, scores, QUERY, 3), abs=EXACT)


def test_a_classifier_of_several_classes_is_an_error():
    model = LogisticRegression().fit(FRAME, Y)
    with refuses(FormatError, "score_shape", match="one score per row"):
        make_ranking_scorer("nDCG@3", groups=IDS)(model, FRAME, Y)


def test_groups_need_routing_a_column_or_a_series():
    for groups in (None, QUERY, QUERY.tolist()):
        with refuses(UsageError, "no_groups") as caught:
            make_ranking_scorer("nDCG@5", groups=groups)
        assert "enable_metadata_routing=True" in caught.value.hint


def test_groups_that_were_not_passed_are_an_error():
    with sklearn.config_context(enable_metadata_routing=True):
        scorer = make_ranking_scorer("nDCG@5")
        with pytest.raises(UsageError, match="the scorer got no groups"):
            cross_val_score(Ridge(), X, Y, scoring=scorer, cv=3, error_score="raise")


def test_a_query_in_several_folds_is_an_error():
    scorer = make_ranking_scorer("nDCG@5", groups=IDS)
    with refuses(UsageError, "split_query", match=r"query 'q\d+' has 8 rows in groups, but only"):
        cross_val_score(Ridge(), FRAME, Y, scoring=scorer, cv=KFold(3), error_score="raise")


@pytest.mark.parametrize(
    ("groups", "x", "message"),
    [
        ("topic", FRAME, "X has no column 'topic' of queries; it has columns a, b, c, d"),
        (7, X, "X has no column 7 of queries; it has no column names"),
        (IDS, X, "X is of type ndarray and has no index"),
        (IDS.reset_index(drop=True), FRAME, r"\d+ of 320 rows of X aren't in the index of groups"),
        (pd.concat([IDS, IDS]), FRAME, "the index of groups isn't unique"),
    ],
)
def test_groups_that_do_not_fit_are_an_error(groups, x, message):
    model = LinearRegression().fit(X, Y)
    if x is FRAME:
        model = LinearRegression().fit(FRAME, Y)
    with pytest.raises(UsageError, match=message):
        make_ranking_scorer("nDCG@5", groups=groups)(model, x, Y)


@pytest.mark.parametrize(
    ("last", "message"),
    [
        *(([missing], "row 319 has no query") for missing in (None, float("nan"), pd.NaT)),
        ([], "found 319 queries, 320 scores and 320 grades"),
    ],
)
def test_a_row_without_a_query_is_an_error(last, message):
    with sklearn.config_context(enable_metadata_routing=True):
        scorer = make_ranking_scorer("nDCG@5")
    with pytest.raises(FormatError, match=message):
        scorer(LinearRegression().fit(X, Y), X, Y, groups=[*QUERY[:-1], *last])


def test_an_estimator_without_scores_is_an_error():
    with pytest.raises(UsageError, match="LinearRegression has none of the methods rank"):
        make_ranking_scorer("nDCG@5", groups=IDS, response_method="rank")(
            LinearRegression().fit(FRAME, Y), FRAME, Y
        )


def test_a_scorer_can_be_pickled_and_says_what_it_is():
    scorer = make_ranking_scorer("nDCG@5", groups="query_id")
    copied = pickle.loads(pickle.dumps(scorer))  # noqa: S301 - ours
    assert repr(copied) == repr(scorer) == "make_ranking_scorer('nDCG@5', groups='query_id')"


def test_a_scorer_has_one_measure_and_says_how_to_have_several():
    with pytest.raises(UsageError, match="one measure") as error:
        make_ranking_scorer(["nDCG@5", "AP"], groups="query_id")
    assert "scoring={" in error.value.hint
