"""LightGBM trained with measures of rankscope."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import rankscope as rs
from rankscope.errors import UsageError
from rankscope.integrations.lightgbm import make_feval

from tests.integrations.ranked import PARTS, made_up
from tests.refusals import refuses

lgb = pytest.importorskip("lightgbm", reason="lightgbm is not installed")

EXACT = 1e-12
SINGLE = 1e-7
"""LightGBM keeps weights in single precision."""
PARAMETERS = {
    "objective": "lambdarank",
    "eval_at": [10],
    "learning_rate": 0.3,
    "num_threads": 1,
    "verbose": -1,
}
OWN = make_feval(["nDCG@10", "AP@10"], convention="lightgbm")


def datasets(parts, weights=(None, None)):
    train, valid = parts
    first = lgb.Dataset(train.features, train.grades, group=train.sizes, weight=weights[0])
    second = first.create_valid(valid.features, valid.grades, group=valid.sizes, weight=weights[1])
    return first, second


def train(parts, rounds, metric, feval, weights=(None, None), **stops):
    """The booster, and what LightGBM and rankscope say after each round."""
    first, second = datasets(parts, weights)
    recorded = {}
    callbacks = [lgb.record_evaluation(recorded)]
    if stops:
        callbacks.append(lgb.early_stopping(10, verbose=False, **stops))
    choices = {"valid_sets": [second], "feval": feval, "callbacks": callbacks}
    booster = lgb.train(PARAMETERS | {"metric": metric}, first, rounds, **choices)
    return booster, recorded["valid_0"]


def record(parts, weights=(None, None)):
    return train(parts, 20, ["ndcg", "map"], OWN, weights)[1]


@pytest.mark.parametrize("read", PARTS)
def test_values_are_those_of_lightgbm_after_every_round(read):
    recorded = record(read())
    assert len(recorded["nDCG@10"]) == 20
    assert recorded["nDCG@10"] == pytest.approx(recorded["ndcg@10"], abs=EXACT)
    assert recorded["AP@10"] == pytest.approx(recorded["map@10"], abs=EXACT)


@pytest.mark.parametrize("read", PARTS)
def test_training_stops_in_the_round_in_which_lightgbm_stops_by_its_own_ndcg(read):
    theirs, ours = (
        train(read(), 300, metric, feval, first_metric_only=True)[0].best_iteration
        for metric, feval in (("ndcg", None), ("None", OWN))
    )
    assert 1 < theirs == ours < 290


def test_the_best_round_of_a_loss_is_the_one_with_the_lowest_value():
    loss = make_feval("OrderingLoss@10")
    booster, recorded = train(made_up(), 100, "None", loss, first_metric_only=False)
    values = recorded["OrderingLoss@10"]
    assert booster.best_iteration == 1 + np.argmin(values)
    assert min(values) < values[0]


def test_the_mean_weight_of_the_rows_weighs_a_query():
    rng = np.random.default_rng(2)
    parts = made_up(has_empty=False)
    weights = tuple(rng.uniform(0.5, 2, size=len(part.grades)) for part in parts)
    recorded = record(parts, weights)
    assert recorded["nDCG@10"] == pytest.approx(recorded["ndcg@10"], abs=SINGLE)
    assert recorded["AP@10"] == pytest.approx(recorded["map@10"], abs=SINGLE)
    assert recorded["nDCG@10"] != pytest.approx(record(parts)["nDCG@10"], abs=1e-4)


def test_lightgbm_counts_a_query_without_relevant_documents_as_1_whatever_it_weighs():
    rng = np.random.default_rng(2)
    parts = made_up()
    weights = [rng.uniform(0.5, 2, size=len(part.grades)) for part in parts]
    valid = parts[1]
    ends = np.cumsum(valid.sizes)[:-1]
    by_query = np.array([each.mean() for each in np.split(weights[1], ends)])
    is_empty = np.array([not any(each) for each in np.split(valid.grades, ends)])
    recorded = record(parts, (weights[0], weights[1]))
    surplus = (1 - by_query[is_empty]).sum() / by_query.sum()
    theirs = np.array(recorded["nDCG@10"]) + surplus
    assert abs(surplus) > 1e-3
    assert theirs == pytest.approx(recorded["ndcg@10"], abs=SINGLE)


def test_a_ranker_takes_the_same_metric_and_stops_in_the_same_round():
    train, valid = made_up()
    best = []
    for metric in (OWN, "ndcg"):
        ranker = lgb.LGBMRanker(
            n_estimators=200, learning_rate=0.3, n_jobs=1, verbose=-1, metric="None"
        )
        ranker.fit(
            train.features,
            train.grades,
            group=train.sizes,
            eval_X=(valid.features,),
            eval_y=(valid.grades,),
            eval_group=[valid.sizes],
            eval_at=[10],
            eval_metric=metric,
            callbacks=[lgb.early_stopping(10, first_metric_only=True, verbose=False)],
        )
        best.append(ranker.best_iteration_)
    assert best[0] == best[1]


def test_folds_of_cross_validation_have_their_own_queries():
    train, _ = made_up()
    data = lgb.Dataset(train.features, train.grades, group=train.sizes)
    found = lgb.cv(PARAMETERS | {"metric": "ndcg"}, data, 5, feval=OWN, nfold=3)
    assert found["valid nDCG@10-mean"] == pytest.approx(found["valid ndcg@10-mean"], abs=EXACT)


def test_values_without_a_convention_are_those_of_rankscope():
    _, valid = made_up()
    scores = np.round(valid.features[:, 0])
    ((name, value, is_higher_better),) = make_feval("nDCG@5", policy="empty=skip")(
        valid.grades, scores, None, valid.sizes
    )
    table = {"query_id": valid.query, "relevance": valid.grades, "score": scores}
    expected = rs.evaluate(table, "nDCG@5", policy="empty=skip")["nDCG@5"]
    assert (name, value, is_higher_better) == ("nDCG@5", expected, True)


def test_data_without_queries_are_an_error():
    train, _ = made_up()
    data = lgb.Dataset(train.features, train.grades)
    with refuses(UsageError, "no_groups", match="have no queries"):
        lgb.train({"verbose": -1}, data, 2, valid_sets=[data], feval=make_feval("nDCG@10"))


@pytest.mark.parametrize(
    ("measures", "settings", "code"),
    [
        ([], {}, "usage"),
        ("Judged@10", {}, "no_direction"),
        (["nDCG@10", "NumRel"], {}, "no_direction"),
        ("nDGC@10", {}, "unknown_measure"),
        ("nDCG@10", {"policy": "empty=maybe"}, "bad_policy"),
        ("nDCG@10", {"convention": "lihgtgbm"}, "unknown_convention"),
    ],
)
def test_what_is_wrong_is_said_before_training(measures, settings, code):
    with refuses(UsageError, code):
        make_feval(measures, **settings)


def test_a_metric_can_be_pickled():
    arguments = ([2, 0, 1], [0.3, 0.9, 0.1], None, [3])
    assert pickle.loads(pickle.dumps(OWN))(*arguments) == OWN(*arguments)  # noqa: S301 - ours
