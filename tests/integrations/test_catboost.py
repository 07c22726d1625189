"""CatBoost trained with measures of rankscope."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from rankscope.errors import UsageError
from rankscope.integrations.catboost import make_eval_metric

from tests.integrations.ranked import PARTS, Part, made_up
from tests.refusals import refuses

catboost = pytest.importorskip(
    "catboost", reason="catboost is not installed; it is in make test-integrations"
)

EXACT = 1e-12
SINGLE = 1e-7
"""CatBoost keeps weights in single precision."""


def make_pools(parts, **more):
    return [
        catboost.Pool(
            part.features,
            part.grades,
            group_id=part.query,
            **{name: values[place] for name, values in more.items()},
        )
        for place, part in enumerate(parts)
    ]


def fit(pools, metric, **more):
    """A ranker that stopped early."""
    ranker = catboost.CatBoostRanker(
        iterations=300,
        learning_rate=0.3,
        eval_metric=metric,
        od_type="Iter",
        od_wait=10,
        thread_count=1,
        verbose=False,
        allow_writing_files=False,
        **more,
    )
    return ranker.fit(pools[0], eval_set=pools[1])


def values(ranker, metric):
    return ranker.get_evals_result()["validation"][metric]


@pytest.mark.parametrize("read", PARTS)
def test_training_stops_in_the_round_in_which_catboost_stops_by_its_own_ndcg(read):
    pools = make_pools(read())
    ours = fit(pools, make_eval_metric("nDCG@10", pools, convention="catboost"))
    own = fit(pools, "NDCG:top=10")
    assert ours.get_best_iteration() == own.get_best_iteration()
    assert 0 < ours.get_best_iteration() < 289
    theirs = values(own, "NDCG:top=10;type=Base")
    assert values(ours, "nDCG@10") == pytest.approx(theirs, abs=EXACT)
    assert ours.tree_count_ == np.argmax(theirs) + 1


def test_groups_have_the_weights_of_the_pool():
    rng = np.random.default_rng(4)
    parts = made_up()
    weights = [np.repeat(rng.uniform(0.5, 2, len(part.sizes)), part.sizes) for part in parts]
    pools = make_pools(parts, group_weight=weights)
    ours = fit(pools, make_eval_metric("nDCG@10", pools, convention="catboost"))
    theirs = values(fit(pools, "NDCG:top=10"), "NDCG:top=10;type=Base")
    assert values(ours, "nDCG@10") == pytest.approx(theirs, abs=SINGLE)
    plain = make_pools(parts)
    unweighted = values(fit(plain, "NDCG:top=10"), "NDCG:top=10;type=Base")
    assert theirs[0] != pytest.approx(unweighted[0], abs=1e-4)


def test_weights_of_rows_do_not_count_as_in_its_own_ndcg():
    rng = np.random.default_rng(5)
    parts = made_up()
    weights = [rng.uniform(0.5, 2, len(part.grades)) for part in parts]
    pools = make_pools(parts, weight=weights)
    ours = fit(pools, make_eval_metric("nDCG@10", pools, convention="catboost"))
    theirs = values(fit(pools, "NDCG:top=10"), "NDCG:top=10;type=Base")
    assert values(ours, "nDCG@10") == pytest.approx(theirs, abs=EXACT)


def test_a_loss_is_minimized():
    pools = make_pools(made_up())
    ranker = fit(pools, make_eval_metric("OrderingLoss@10", pools))
    found = values(ranker, "OrderingLoss@10")
    assert ranker.get_best_iteration() == np.argmin(found)
    assert min(found) < found[0]


def test_a_pool_that_the_metric_does_not_know_is_an_error():
    pools = make_pools(made_up())
    with pytest.raises(catboost.CatBoostError, match="rows that are of none of the 1 pools"):
        fit(pools, make_eval_metric("nDCG@10", pools[1:]))


@pytest.mark.parametrize("has_time", [False, True])
def test_validation_has_values_where_categorical_features_shuffle_the_rows_for_training(has_time):
    pools = [
        catboost.Pool(
            [[*row, str(int(row[0] * 3))] for row in part.features.tolist()],
            part.grades,
            group_id=part.query,
            cat_features=[5],
        )
        for part in made_up()
    ]
    metric = make_eval_metric("nDCG@10", pools, convention="catboost")
    ranker = fit(pools, metric, has_time=has_time)
    own = fit(pools, "NDCG:top=10;hints=skip_train~false", has_time=has_time)
    theirs = own.get_evals_result()
    ours = ranker.get_evals_result()
    name = "NDCG:top=10;type=Base"
    assert ours["validation"]["nDCG@10"] == pytest.approx(theirs["validation"][name], abs=EXACT)
    in_training = theirs["learn"][name] if has_time else [-1.0] * len(theirs["learn"][name])
    assert ours["learn"]["nDCG@10"] == pytest.approx(in_training, abs=EXACT)


def test_a_pool_without_queries_is_an_error():
    part, _ = made_up()
    with pytest.raises(UsageError, match="has no queries"):
        make_eval_metric("nDCG@10", [catboost.Pool(part.features, part.grades)])


def test_one_measure_and_a_list_of_pools_are_expected():
    pools = make_pools(made_up())
    for measure, given in ((["nDCG@10", "AP"], pools), ("nDCG@10", []), ("nDCG@10", pools[0])):
        with refuses(UsageError, "usage"):
            make_eval_metric(measure, given)


def test_pools_with_the_same_labels_and_other_queries_are_an_error():
    part, _ = made_up()
    other = Part(part.features, part.grades, part.sizes[::-1])
    with pytest.raises(UsageError, match="the same labels, but different queries"):
        make_eval_metric("nDCG@10", make_pools((part, other)))


def test_a_ranker_with_the_metric_can_be_copied_and_pickled():
    pools = make_pools(made_up())
    ranker = fit(pools, make_eval_metric("nDCG@10", pools))
    for copied in (copy.deepcopy(ranker), pickle.loads(pickle.dumps(ranker))):  # noqa: S301 - ours
        assert copied.predict(pools[1]).tolist() == ranker.predict(pools[1]).tolist()
