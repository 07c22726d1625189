"""Each recipe of the page on training gives the number of the library that it is for."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest
from rankscope import nDCG

from tests.house.test_pages import PAGES, read_blocks

RECIPES = {block.title: block.code for block in read_blocks(PAGES["docs/training.md"])}
LIBRARIES = {
    "lightgbm_train.py": "lightgbm",
    "lightgbm_ranker.py": "lightgbm",
    "xgboost_train.py": "xgboost",
    "xgboost_ranker.py": "xgboost",
    "catboost_stages.py": "catboost",
    "sklearn_scorer.py": "sklearn",
}
NDCG = nDCG @ 10
EXACT = 1e-9


def run(recipe: str) -> dict[str, Any]:
    """The names that a recipe defines, where its library is installed."""
    if find_spec(LIBRARIES[recipe]) is None:
        pytest.skip(f"{LIBRARIES[recipe]} is not installed")
    names: dict[str, Any] = {}
    for title in ("data.py", recipe):
        exec(compile(RECIPES[title], title, "exec"), names)  # noqa: S102 - our own page
    return names


def test_every_recipe_is_run() -> None:
    assert set(RECIPES) == {"data.py", *LIBRARIES}


@pytest.mark.parametrize(
    ("recipe", "dataset"), [("lightgbm_train.py", "valid"), ("lightgbm_ranker.py", "valid_0")]
)
def test_a_metric_for_lightgbm_is_its_own_after_every_round(recipe: str, dataset: str) -> None:
    recorded = run(recipe)["recorded"][dataset]
    assert len(recorded["ndcg@10"]) == 20
    assert recorded["nDCG@10"] == pytest.approx(recorded["ndcg@10"], abs=EXACT)
    assert recorded["AP@10"] == pytest.approx(recorded["map@10"], abs=EXACT)


def test_a_metric_for_xgboost_is_its_own() -> None:
    names = run("xgboost_train.py")
    recorded = names["recorded"]["valid"]
    scores = names["booster"].predict(names["validation"], output_margin=True)
    last = dict(names["evaluate_ranking"](scores, names["validation"]))
    for ours, theirs in (("nDCG@10", "ndcg@10"), ("nDCG@3", "ndcg@3")):
        # What a function returned is recorded with six decimals.
        assert recorded[ours] == pytest.approx(recorded[theirs], abs=1e-6)
        assert last[ours] == pytest.approx(recorded[theirs][-1], abs=EXACT)


def test_xgbranker_weighs_queries_by_their_length() -> None:
    names = run("xgboost_ranker.py")
    values = names["evaluation"].per_query(NDCG)
    by_length = np.average(values, weights=names["sizes_valid"])
    assert names["weighted"] == pytest.approx(by_length, abs=1e-6)  # it is recorded so
    assert names["mean"] == pytest.approx(values.mean(), abs=EXACT)
    assert abs(names["mean"] - by_length) > 0.01


def test_stages_of_catboost_have_its_own_values() -> None:
    names = run("catboost_stages.py")
    recorded = names["ranker"].get_evals_result()["validation"]["NDCG:top=10;type=Base"]
    assert len(names["stages"]) == 20
    assert names["stages"] == pytest.approx(recorded, abs=EXACT)


def test_folds_of_scikit_learn_are_scored_by_group() -> None:
    names = run("sklearn_scorer.py")
    from sklearn.metrics import ndcg_score  # noqa: PLC0415 - skipped where it is absent

    features, grades, query = names["features"], names["grades"], names["query"]
    expected = []
    for train, test in names["GroupKFold"](n_splits=5).split(features, grades, query):
        scores = names["Ridge"]().fit(features[train], grades[train]).predict(features[test])
        rows = [query[test] == one for one in np.unique(query[test])]
        values = [ndcg_score([grades[test][row]], [scores[row]], k=10) for row in rows]
        expected.append(np.mean(values))
    assert names["folds"].tolist() == pytest.approx(expected, abs=EXACT)
