"""XGBoost trained with measures of rankscope."""

from __future__ import annotations

import numpy as np
import pytest
from rankscope.errors import UsageError
from rankscope.integrations.xgboost import make_callback, make_train_arguments

from tests.integrations.ranked import PARTS, made_up
from tests.refusals import refuses

xgb = pytest.importorskip("xgboost", reason="xgboost is not installed")

EXACT = 1e-12
PRINTED = 1e-6
"""XGBoost passes on six decimal places of what a function returns."""
PARAMETERS = {"objective": "rank:ndcg", "eval_metric": ["ndcg@10"], "eta": 0.5, "nthread": 1}
MEASURES = ["nDCG@10", "nDCG@3"]


def matrices(parts, weights=(None, None)):
    return [
        xgb.DMatrix(part.features, part.grades, qid=part.query, weight=weight)
        for part, weight in zip(parts, weights, strict=True)
    ]


def train(parts, weights=(None, None), **more):
    """The booster, and what XGBoost recorded after each round."""
    first, second = matrices(parts, weights)
    recorded = {}
    booster = xgb.train(
        PARAMETERS,
        first,
        200,
        evals=[(second, "valid")],
        evals_result=recorded,
        early_stopping_rounds=10,
        verbose_eval=False,
        **more,
    )
    return booster, recorded["valid"]


@pytest.mark.parametrize("read", PARTS)
def test_training_stops_in_the_round_in_which_xgboost_stops_by_its_own_ndcg(read):
    own, _ = train(read())
    ours, recorded = train(read(), **make_train_arguments(MEASURES, convention="xgboost"))
    assert ours.best_iteration == own.best_iteration
    assert 0 < ours.best_iteration < 189
    assert ours.best_iteration == np.argmax(recorded["nDCG@10"])
    assert recorded["nDCG@10"] == pytest.approx(recorded["ndcg@10"], abs=PRINTED)


def test_a_loss_is_minimized():
    booster, recorded = train(made_up(), **make_train_arguments("OrderingLoss@10"))
    assert booster.best_iteration == np.argmin(recorded["OrderingLoss@10"])
    assert booster.best_iteration > 0


def test_the_first_measure_decides():
    _, recorded = train(made_up(), **make_train_arguments(["RR@10", "nDCG@10", "OrderingLoss@5"]))
    assert [*recorded] == ["ndcg@10", "OrderingLoss@5", "nDCG@10", "RR@10"]


def test_queries_have_the_weights_of_the_matrix():
    rng = np.random.default_rng(3)
    parts = made_up(has_empty=False)
    weights = tuple(rng.uniform(0.5, 2, size=len(part.sizes)) for part in parts)
    arguments = make_train_arguments("nDCG@10", convention="xgboost")
    _, recorded = train(parts, weights, **arguments)
    assert recorded["nDCG@10"] == pytest.approx(recorded["ndcg@10"], abs=PRINTED)
    assert recorded["nDCG@10"][0] != pytest.approx(train(parts, **arguments)[1]["nDCG@10"][0])


def test_folds_of_cross_validation_have_their_own_queries():
    matrix, _ = matrices(made_up())
    found = xgb.cv(
        PARAMETERS,
        matrix,
        200,
        nfold=3,
        as_pandas=False,
        early_stopping_rounds=5,
        **make_train_arguments("nDCG@10", convention="xgboost"),
    )
    theirs = found["test-ndcg@10-mean"]
    assert found["test-nDCG@10-mean"] == pytest.approx(theirs, abs=PRINTED)
    # Only the rounds up to the best one are left.
    assert 1 + np.argmax(theirs) == len(theirs) < 200


def rank(callback=None, **more):
    """A fitted ranker."""
    train, valid = made_up()
    ranker = xgb.XGBRanker(
        n_estimators=200,
        objective="rank:ndcg",
        learning_rate=0.5,
        n_jobs=1,
        callbacks=callback and [callback],
        **more,
    )
    sets = {} if callback else {"eval_set": [(valid.features, valid.grades)]}
    queries = {} if callback else {"eval_qid": [valid.query]}
    return ranker.fit(
        train.features, train.grades, qid=train.query, verbose=False, **sets, **queries
    )


def test_a_ranker_with_the_callback_stops_in_the_round_in_which_it_stops_by_its_own_ndcg():
    _, matrix = matrices(made_up())
    callback = make_callback(MEASURES, matrix, rounds=10, convention="xgboost")
    ours = rank(callback)
    own = rank(eval_metric="ndcg@10", early_stopping_rounds=10)
    values = callback.history["nDCG@10"]
    assert ours.best_iteration == own.best_iteration == np.argmax(values)
    assert values == pytest.approx(own.evals_result()["validation_0"]["ndcg@10"], abs=EXACT)
    assert len(values) == ours.best_iteration + 11 == ours.get_booster().num_boosted_rounds()


def test_a_ranker_can_keep_only_the_best_rounds():
    _, matrix = matrices(made_up())
    callback = make_callback("OrderingLoss@10", matrix, rounds=5, save_best=True)
    ours = rank(callback)
    best = np.argmin(callback.history["OrderingLoss@10"])
    assert ours.best_iteration == best
    assert ours.get_booster().num_boosted_rounds() == best + 1


def test_the_metric_of_a_single_query_is_an_error_in_a_ranker():
    metric = make_train_arguments("nDCG@10")["custom_metric"]
    with refuses(UsageError, "one_query", match="for each query alone"):
        rank(eval_metric=metric)


def test_data_without_queries_are_an_error():
    part, _ = made_up()
    matrix = xgb.DMatrix(part.features, part.grades)
    with pytest.raises(UsageError, match="have no queries"):
        xgb.train({}, matrix, 2, evals=[(matrix, "train")], **make_train_arguments("nDCG@10"))


def test_a_name_that_xgboost_would_cut_is_plain():
    measures = ["nDCG@10", "nDCG(gain='exp2', ideal='retrieved')@10"]
    _, recorded = train(made_up(), **make_train_arguments(measures))
    assert [*recorded] == ["ndcg@10", "ndcg_at_10_gain_exp2_ideal_retrieved", "nDCG@10"]
