"""DCG estimated from human grades of some documents and a model's grades of all."""

from __future__ import annotations

import numpy as np
import pytest
import rankscope as rs
from rankscope.judges.powered import estimate_powered

from tests.judges.made_items import DISCOUNTS, make_documents

DENSE = rs.Interval(method="dense")


def draw(random: np.random.Generator, queries: int) -> tuple[np.ndarray, np.ndarray]:
    """Return human gains [queries, 5], and those of a model that is too generous."""
    ease = random.random((queries, 1))
    human = (random.random((queries, 5)) < ease) * random.integers(1, 4, (queries, 5))
    return human, np.minimum(human + (random.random(human.shape) < 0.3), 3)


def test_with_all_documents_judged_the_estimate_is_the_mean() -> None:
    human, model = draw(np.random.default_rng(1), 50)
    whole = make_documents(human, model, np.ones(human.shape, bool))
    for interval in (DENSE, rs.Interval()):
        found = estimate_powered(whole, interval=interval)
        # The ratio of weights is 1, so that the model's gains cancel.
        assert found.value == pytest.approx((human @ DISCOUNTS).mean(), rel=1e-12)
        assert found.human == pytest.approx(found.value, rel=1e-12)


def test_the_correction_is_the_weighted_mean_of_residuals() -> None:
    random = np.random.default_rng(2)
    human, model = draw(random, 200)
    is_judged = random.random(human.shape) < 0.2
    found = estimate_powered(make_documents(human, model, is_judged), interval=DENSE)
    weights = np.tile(DISCOUNTS, (200, 1))[is_judged]
    residual = weights @ (human - found.weight * model)[is_judged] / weights.sum()
    expected = found.weight * (model @ DISCOUNTS).mean() + DISCOUNTS.sum() * residual
    assert found.value == pytest.approx(expected, rel=1e-12)


def test_documents_of_a_query_depend_on_each_other() -> None:
    # Ten copies of a query's only document say as much as one.
    random = np.random.default_rng(3)
    human = random.integers(0, 4, (60, 1)) * np.ones((60, 5))
    is_judged = np.ones(human.shape, bool)
    for interval in (DENSE, rs.Interval()):
        many = estimate_powered(make_documents(human, human * 0, is_judged), interval=interval)
        is_first = np.arange(5) == 0
        few = estimate_powered(
            make_documents(human, human * 0, is_judged & is_first), interval=interval
        )
        assert many.upper - many.lower == pytest.approx(few.upper - few.lower, rel=1e-9)


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


def test_a_document_at_the_same_rank_of_both_runs_says_nothing() -> None:
    human, model, run = make_lists()
    other = {
        query: docs | dict(zip([*docs][:2], [*docs.values()][1::-1], strict=True))
        for query, docs in run.items()
    }
    found = rs.estimate_dcg(human, model, run, "DCG@5", baseline=other).means[0]
    # Two documents of each query changed their ranks.
    assert (found.changed, found.human_changed) == (120, 120)
    rest = {
        query: {doc: g for doc, g in docs.items() if doc in ("d0", "d1")}
        for query, docs in human.items()
    }
    again = rs.estimate_dcg(rest, model, run, "DCG@5", baseline=other).means[0]
    assert (again.value, again.lower, again.upper) == (found.value, found.lower, found.upper)
    assert found.next_document is None


def test_the_scale_of_the_model_does_not_matter() -> None:
    human, model, run = make_lists()
    few = {
        query: {doc: g for doc, g in docs.items() if doc == f"d{at % 5}"}
        for at, (query, docs) in enumerate(human.items())
    }
    tens = {query: {doc: 10 * g + 40 for doc, g in docs.items()} for query, docs in model.items()}
    found = [rs.estimate_dcg(few, each, run, "DCG@5").means[0] for each in (model, tens)]
    for field in ("value", "lower", "upper", "weight"):
        assert getattr(found[1], field) == pytest.approx(getattr(found[0], field), rel=1e-9)
    assert found[0].method == "bounded"
    assert found[0].next_document is not None
    assert found[0].next_document not in few[str(found[0].next_query)]
    assert f"judge document {found[0].next_document} of {found[0].next_query} next" in str(
        rs.estimate_dcg(few, model, run, "DCG@5")
    )


def test_grades_that_are_all_zero_limit_nothing() -> None:
    human, model, run = make_lists()
    none = {query: dict.fromkeys(docs, 0) for query, docs in human.items()}
    unknown = rs.estimate_dcg(none, none, run, "DCG@5")
    assert (unknown.means[0].method, np.isnan(unknown.means[0].lower)) == ("", True)
    assert "there is no interval" in str(unknown)
    # The model's grades are far above those of people, whose scale isn't known either.
    found = rs.estimate_dcg(none, model, run, "DCG@5").means[0]
    assert found.method == ""


def test_other_measures_and_few_queries_are_refused() -> None:
    human, model, run = make_lists()
    for measure in ("nDCG@10", "DCG"):
        with pytest.raises(rs.MeasureError):
            rs.estimate_dcg(human, model, run, measure)
    with pytest.raises(rs.InputError, match="1 or more queries that the model judged, found 0"):
        rs.estimate_dcg({"q0": {"x": 1}}, model, run)
