"""DCG estimated from human grades of some documents and a model's grades of all."""

from __future__ import annotations

import numpy as np
import pytest
import rankscope as rs
from rankscope.stats.judges.documents import RetrievedDocuments, estimate_dcg

DISCOUNTS = 1 / np.log2(np.arange(2, 7))


def documents(human: np.ndarray, model: np.ndarray, is_judged: np.ndarray) -> RetrievedDocuments:
    queries, depth = human.shape
    return RetrievedDocuments(
        queries=np.repeat(np.arange(queries), depth),
        discounts=np.tile(DISCOUNTS[:depth], queries),
        model=model.ravel().astype(float),
        human=np.where(is_judged, human, np.nan).ravel(),
        chances=np.ones(human.size),
    )


def draw(random: np.random.Generator, queries: int) -> tuple[np.ndarray, np.ndarray]:
    """Return human gains [queries, 5], and those of a model that is too generous."""
    ease = random.random((queries, 1))
    human = (random.random((queries, 5)) < ease) * random.integers(1, 4, (queries, 5))
    return human, np.minimum(human + (random.random(human.shape) < 0.3), 3)


def test_with_all_documents_judged_the_estimate_is_the_mean() -> None:
    human, model = draw(np.random.default_rng(1), 50)
    whole = documents(human, model, np.ones(human.shape, bool))
    found = estimate_dcg([whole], 50, level=0.95, low=0, high=np.inf)
    # The ratio of weights is 1, so that the model's gains cancel.
    assert found.value == pytest.approx((human @ DISCOUNTS).mean(), rel=1e-12)
    assert found.human == pytest.approx(found.value, rel=1e-12)
    assert found.model == pytest.approx((model @ DISCOUNTS).mean(), rel=1e-12)


def test_the_correction_is_the_weighted_mean_of_residuals() -> None:
    random = np.random.default_rng(2)
    human, model = draw(random, 200)
    is_judged = random.random(human.shape) < 0.2
    found = estimate_dcg([documents(human, model, is_judged)], 200, level=0.95, low=0, high=np.inf)
    weights = np.tile(DISCOUNTS, (200, 1))[is_judged]
    residual = weights @ (human - found.weight * model)[is_judged] / weights.sum()
    expected = found.weight * (model @ DISCOUNTS).mean() + DISCOUNTS.sum() * residual
    assert found.value == pytest.approx(expected, rel=1e-12)


def test_intervals_cover_the_mean_with_a_generous_model() -> None:
    random = np.random.default_rng(3)
    true = (draw(random, 400_000)[0] @ DISCOUNTS).mean()
    trials, covered, narrower = 300, 0, 0
    for _ in range(trials):
        human, model = draw(random, 200)
        is_judged = np.zeros(human.size, bool)
        is_judged[random.choice(human.size, 100, replace=False)] = True
        found = estimate_dcg(
            [documents(human, model, is_judged.reshape(human.shape))],
            200,
            level=0.95,
            low=0,
            high=np.inf,
        )
        covered += found.lower <= true <= found.upper
        narrower += found.upper - found.lower < found.human_upper - found.human_lower
    assert covered / trials > 0.95 - 2 * (0.95 * 0.05 / trials) ** 0.5
    assert narrower == trials


def make_lists() -> tuple[
    dict[str, dict[str, int]], dict[str, dict[str, int]], dict[str, dict[str, float]]
]:
    random = np.random.default_rng(4)
    human, model = draw(random, 60)
    docs = [f"d{at}" for at in range(5)]
    named = [
        {f"q{query}": dict(zip(docs, row, strict=True)) for query, row in enumerate(table.tolist())}
        for table in (human, model)
    ]
    run = {f"q{query}": {doc: random.random() for doc in docs} for query in range(60)}
    return named[0], named[1], run


def test_all_documents_judged_give_the_mean_of_evaluate() -> None:
    human, model, run = make_lists()
    for measure in ("DCG@3", "DCG(gain='exp2')@2"):
        found = rs.estimate_dcg(human, model, run, measure)
        expected = rs.evaluate(human, run, measure)[measure]
        assert found.means[0].value == pytest.approx(expected, rel=1e-12)
        assert found.means[0].model == pytest.approx(rs.evaluate(model, run, measure)[measure])
    assert found.human_documents == 120


def test_a_difference_is_that_of_both_runs() -> None:
    human, model, run = make_lists()
    best = {
        query: {doc: float(grade) for doc, grade in docs.items()} for query, docs in human.items()
    }
    found = rs.estimate_dcg(human, model, best, "DCG@3", baseline=run).means[0]
    means = [rs.evaluate(human, each, "DCG@3")["DCG@3"] for each in (best, run)]
    assert found.value == pytest.approx(means[0] - means[1], rel=1e-12)
    assert found.lower > 0


def test_probabilities_weigh_the_documents() -> None:
    human, model, run = make_lists()
    first = {query: max(docs, key=docs.__getitem__) for query, docs in run.items()}
    # Every first document was judged, and the others of every second query.
    some = {
        query: docs if at % 2 else {first[query]: docs[first[query]]}
        for at, (query, docs) in enumerate(human.items())
    }
    chances = {
        query: {doc: 1.0 if doc == first[query] else 0.5 for doc in docs}
        for query, docs in some.items()
    }
    found = rs.estimate_dcg(some, model, run, "DCG@5", probabilities=chances).means[0]
    true = rs.evaluate(human, run, "DCG@5")["DCG@5"]
    assert found.lower < true < found.upper
    with pytest.raises(rs.InputError) as caught:
        rs.estimate_dcg(some, model, run, "DCG@5", probabilities={})
    assert caught.value.code == "bad_propensity"


def test_other_measures_and_few_queries_are_refused() -> None:
    human, model, run = make_lists()
    for measure in ("nDCG@10", "DCG"):
        with pytest.raises(rs.MeasureError):
            rs.estimate_dcg(human, model, run, measure)
    few = {query: human[query] for query in [*human][:19]}
    with pytest.raises(rs.InputError) as caught:
        rs.estimate_dcg(few, model, run)
    assert caught.value.code == "too_few_queries"
