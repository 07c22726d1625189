"""Optuna with evaluations of rankscope."""

from __future__ import annotations

import numpy as np
import pytest
import rankscope as rs
from rankscope.errors import UsageError
from rankscope.integrations.optuna import record_means, report_queries

optuna = pytest.importorskip(
    "optuna", reason="optuna is not installed; it is in make test-integrations"
)
pytest.importorskip("scipy", reason="optuna prunes by SciPy, which is not installed")

pytestmark = pytest.mark.filterwarnings("ignore:WilcoxonPruner is experimental")

QUERIES = [f"q{number}" for number in range(60)]
GRADES = {query: {f"d{rank}": rank % 3 for rank in range(8)} for query in QUERIES}


@pytest.fixture(autouse=True)
def _quiet():
    shown = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    yield
    optuna.logging.set_verbosity(shown)


def search(quality, queries):
    """A run that is better the higher its quality."""
    return {
        query: {
            doc: quality * grade + np.random.default_rng([int(query[1:]), rank]).normal()
            for rank, (doc, grade) in enumerate(GRADES[query].items())
        }
        for query in queries
    }


def tune(measure, qualities, direction):
    """A study with one trial for each quality, which evaluates ten queries at a time."""

    def objective(trial):
        quality = qualities[trial.number]
        values = []
        for start in range(0, len(QUERIES), 10):
            batch = QUERIES[start : start + 10]
            qrels = {query: GRADES[query] for query in batch}
            evaluation = rs.evaluate(qrels, search(quality, batch), measure)
            values += evaluation.per_query(measure).tolist()
            if report_queries(trial, evaluation, measure, queries=QUERIES):
                break
        trial.set_user_attr("evaluated", len(values))
        return float(np.mean(values))

    pruner = optuna.pruners.WilcoxonPruner(p_threshold=0.1)
    study = optuna.create_study(direction=direction, pruner=pruner)
    study.optimize(objective, n_trials=len(qualities))
    return study


@pytest.mark.parametrize(
    ("measure", "direction"), [("nDCG@5", "maximize"), ("OrderingLoss@5", "minimize")]
)
def test_a_trial_that_is_worse_query_by_query_stops_early(measure, direction):
    good, bad, best = tune(measure, [1.5, -2.0, 3.0], direction).trials
    assert good.user_attrs["evaluated"] == best.user_attrs["evaluated"] == len(QUERIES)
    assert bad.user_attrs["evaluated"] < len(QUERIES)
    expected = rs.evaluate(GRADES, search(1.5, QUERIES), measure)
    assert good.value == pytest.approx(expected[measure], abs=1e-12)
    reported = [good.intermediate_values[place] for place in range(len(QUERIES))]
    assert reported == expected.per_query(measure).tolist()


def test_means_are_attributes_with_plain_names():
    evaluation = rs.evaluate(GRADES, search(1.0, QUERIES), ["nDCG@5", "AP"])
    study = optuna.create_study(direction="maximize")
    record_means(study.ask(), evaluation)
    attributes = study.trials[0].user_attrs
    assert attributes["ndcg_at_5"] == evaluation["nDCG@5"]
    assert attributes["ap"] == evaluation["AP"]
    assert attributes["rankscope_policy"] == str(evaluation.policy)
    assert "user_attrs_ndcg_at_5" in study.trials_dataframe().columns


def test_a_study_that_minimizes_what_is_better_when_high_is_an_error():
    with pytest.raises(UsageError, match="would minimize nDCG@5") as caught:
        tune("nDCG@5", [1.0], "minimize")
    assert (caught.value.code, caught.value.hint) == (
        "wrong_direction",
        'create_study(direction="maximize")',
    )


def test_a_query_that_the_study_does_not_have_is_an_error():
    evaluation = rs.evaluate({"other": {"d1": 1}}, {"other": {"d1": 1.0}}, "nDCG@5")
    trial = optuna.create_study(direction="maximize").ask()
    with pytest.raises(UsageError, match="query 'other' isn't one of the 60 queries"):
        report_queries(trial, evaluation, "nDCG@5", queries=QUERIES)


def test_queries_without_a_value_are_not_reported():
    qrels = {"q0": {"d1": 1}, "q1": {"d1": 0}}
    run = {"q0": {"d1": 1.0}, "q1": {"d1": 1.0}}
    evaluation = rs.evaluate(qrels, run, "nDCG@5", policy="empty=skip")
    study = optuna.create_study(direction="maximize")
    trial = study.ask()
    assert not report_queries(trial, evaluation, "nDCG@5", queries=QUERIES)
    assert study.trials[0].intermediate_values == {0: 1.0}
