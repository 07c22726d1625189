"""Means estimated from few human judgments and many of a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest
import rankscope as rs
from rankscope.stats.judges.powered import estimate_powered
from scipy import stats

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray


def draw(
    random: np.random.Generator, count: int, noise: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return values with mass at 0 and 1, and those of a judge who is too generous."""
    value = random.beta(2, 2, count)
    place = random.random(count)
    value = np.where(place < 0.15, 0, np.where(place > 0.9, 1, value))
    return value, np.clip(0.35 + 0.6 * value + noise * random.normal(size=count), 0, 1)


def judge_lists(
    random: np.random.Generator, count: int, accuracy: float
) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """Return human judgments, those of a model, and a run, for so many queries."""
    human, model, run = {}, {}, {}
    for query in range(count):
        grades = random.integers(0, 3, 6)
        other = np.where(random.random(6) < accuracy, grades, random.integers(0, 3, 6))
        docs = [f"d{doc}" for doc in range(6)]
        human[f"q{query}"] = dict(zip(docs, grades.tolist(), strict=True))
        model[f"q{query}"] = dict(zip(docs, other.tolist(), strict=True))
        run[f"q{query}"] = dict(zip(docs, random.random(6).tolist(), strict=True))
    return human, model, run


def test_the_estimate_is_that_of_ppi_plus_plus() -> None:
    random = np.random.default_rng(1)
    human, model = draw(random, 40, 0.2)
    _, others = draw(random, 300, 0.2)
    found = estimate_powered(human, model, others, level=0.95, low=0, high=1)
    weight = np.cov(human, model)[0, 1] / model.var(ddof=1) / (1 + 40 / 300)
    expected = human.mean() + weight * (others.mean() - model.mean())
    assert 0 < weight < 1
    assert found.value == pytest.approx(expected, rel=1e-12)
    assert found.weight == pytest.approx(weight * 340 / 300, rel=1e-12)
    assert found.correlation == pytest.approx(np.corrcoef(human, model)[0, 1], rel=1e-12)


def test_a_model_that_knows_nothing_is_ignored() -> None:
    random = np.random.default_rng(3)
    human, _ = draw(random, 30, 0.1)
    found = estimate_powered(human, -human, -human, level=0.95, low=-9, high=9)
    assert (found.weight, found.gain) == (0, 1)
    # The variance is summed in another way.
    assert [found.value, found.lower, found.upper] == pytest.approx(
        [found.human, found.human_lower, found.human_upper], rel=1e-12
    )


def test_human_values_without_skewness_have_the_t_interval() -> None:
    human = np.linspace(0, 1, 21)
    found = estimate_powered(human, np.zeros(21), np.zeros(50), level=0.9, low=0, high=1)
    lower, upper = stats.t.interval(0.9, 20, loc=0.5, scale=stats.sem(human))
    assert (found.human_lower, found.human_upper) == pytest.approx((lower, upper), rel=1e-9)
    assert np.isnan(found.correlation)


def test_the_interval_is_never_outside_the_range() -> None:
    human = np.array([1.0] * 29 + [0.0])
    found = estimate_powered(human, human, np.ones(500), level=0.99, low=0, high=1)
    assert found.human_upper == 1
    assert 0 <= found.lower < found.value <= found.upper <= 1


def test_intervals_cover_the_mean_with_a_biased_judge() -> None:
    random = np.random.default_rng(5)
    true = draw(random, 1_000_000, 0)[0].mean()
    trials, covered, narrower = 400, 0, 0
    for _ in range(trials):
        value, model = draw(random, 500, 0.12)
        found = estimate_powered(value[:25], model[:25], model[25:], level=0.95, low=0, high=1)
        covered += found.lower <= true <= found.upper
        narrower += found.upper - found.lower < found.human_upper - found.human_lower
    # Two Monte Carlo errors below 95 %.
    assert covered / trials > 0.95 - 2 * (0.95 * 0.05 / trials) ** 0.5
    assert narrower > 0.9 * trials
    assert draw(random, 1_000_000, 0.12)[1].mean() > true + 0.1


def test_the_mean_of_a_measure_is_estimated_from_every_kind_of_input(tmp_path: Path) -> None:
    human, model, run = judge_lists(np.random.default_rng(7), 120, 0.8)
    few = {query: human[query] for query in [*human][:40]}
    found = rs.evaluate_with_model_judge(few, model, run, ["nDCG@5", "RR"])
    mean = found["nDCG@5"]
    by_human, by_model = (
        dict(zip(each.query_texts, each.per_query("nDCG@5").tolist(), strict=True))
        for each in (rs.evaluate(few, run, "nDCG@5"), rs.evaluate(model, run, "nDCG@5"))
    )
    # In the order of the ids as text.
    chosen, others = sorted(few), sorted(model.keys() - few.keys())
    expected = estimate_powered(
        np.array([by_human[query] for query in chosen]),
        np.array([by_model[query] for query in chosen]),
        np.array([by_model[query] for query in others]),
        level=0.95,
        low=0,
        high=1,
    )
    assert (mean.value, mean.lower, mean.upper) == (expected.value, expected.lower, expected.upper)
    assert (mean.human_queries, mean.queries) == (40, 120)
    assert found.agreement is not None
    assert found.agreement.items == 240
    files = []
    for name, lists in (("few", few), ("model", model), ("run", run)):
        files.append(tmp_path / f"{name}.txt")
        files[-1].write_text(
            "".join(
                f"{query} Q0 {doc} 1 {number} x\n"
                if name == "run"
                else f"{query} 0 {doc} {number}\n"
                for query, docs in lists.items()  # type: ignore[attr-defined]
                for doc, number in docs.items()
            )
        )
    assert rs.evaluate_with_model_judge(*files, ["nDCG@5", "RR"]).to_dict() == found.to_dict()
    rows = [(query, doc, score) for query, docs in run.items() for doc, score in docs.items()]
    frame = pd.DataFrame(rows, columns=["query_id", "doc_id", "score"])
    for way in (frame, iter(rows)):
        assert rs.evaluate_with_model_judge(few, model, way, ["nDCG@5", "RR"])["RR"] == found["RR"]


def test_a_difference_is_that_of_the_values_of_both_runs() -> None:
    human, model, run = judge_lists(np.random.default_rng(8), 60, 0.8)
    best = {
        query: {doc: float(grade) for doc, grade in docs.items()} for query, docs in human.items()
    }
    found = rs.evaluate_with_model_judge(human, model, best, "DCG@3", baseline=run)["DCG@3"]
    means = [rs.evaluate(human, each, "DCG@3")["DCG@3"] for each in (best, run)]
    assert found.human == pytest.approx(means[0] - means[1], rel=1e-12)
    assert found.lower > 0


def test_a_weak_judge_is_named_with_what_to_do() -> None:
    human, model, run = judge_lists(np.random.default_rng(9), 200, 0)
    few = {query: human[query] for query in [*human][:30]}
    found = rs.evaluate_with_model_judge(few, model, run, "nDCG@5")
    assert found["nDCG@5"].gain < 1.1
    assert len(found.warnings) == 1
    assert "judge more queries by hand" in str(found)


def test_human_queries_unlike_the_others_are_named() -> None:
    human, model, run = judge_lists(np.random.default_rng(10), 200, 0.9)
    values = rs.evaluate(model, run, "nDCG@5").per_query("nDCG@5")
    best = sorted(zip(values.tolist(), human, strict=True))[-40:]
    few = {query: human[query] for _, query in best}
    found = rs.evaluate_with_model_judge(few, model, run, "nDCG@5")
    assert any("not a random sample" in text for text in found.warnings)


def test_few_human_queries_are_refused() -> None:
    human, model, run = judge_lists(np.random.default_rng(11), 30, 1)
    few = {query: human[query] for query in [*human][:19]} | {"other": {"d0": 1}}
    with pytest.raises(rs.InputError) as caught:
        rs.evaluate_with_model_judge(few, model, run, "RR")
    assert caught.value.code == "too_few_queries"
    assert "found 19" in caught.value.message


def test_a_run_from_standard_input_and_other_aggregates_are_refused() -> None:
    human, model, run = judge_lists(np.random.default_rng(12), 30, 1)
    with pytest.raises(rs.UsageError, match="read twice"):
        rs.evaluate_with_model_judge(human, model, "-", "RR")
    with pytest.raises(rs.UsageError, match="means"):
        rs.evaluate_with_model_judge(human, model, run, "RR", policy="aggregate=median")


def test_judgments_without_a_document_in_common_are_an_error() -> None:
    run = {f"q{n}": {"a": 2.0, "b": 1.0} for n in range(60)}
    model = {query: {"a": n % 2, "b": 1} for n, query in enumerate(run)}
    human = {f"q{n}": {"docs/a": 1} for n in range(30)}
    with pytest.raises(rs.InputError, match="judged no document of the same query") as caught:
        rs.evaluate_with_model_judge(human, model, run, "RR")
    assert caught.value.hint is not None
    assert "`docs/a` of query `q0`" in caught.value.hint.replace("'", "`")


def test_a_model_that_judged_no_more_than_people_is_named_as_swapped() -> None:
    run = {f"q{n}": {"a": 2.0, "b": 1.0} for n in range(60)}
    model = {query: {"a": n % 2, "b": 1} for n, query in enumerate(run)}
    human = dict(list(model.items())[:30])
    (warning,) = rs.evaluate_with_model_judge(model, human, run, "RR").warnings
    assert "check that human and model judgments aren't swapped" in warning


def test_different_scales_of_people_and_the_model_are_a_warning() -> None:
    run = {f"q{n}": {"a": 2.0, "b": 1.0} for n in range(60)}
    model = {query: {"a": n % 4, "b": 1} for n, query in enumerate(run)}
    human = {query: {"a": model[query]["a"] / 3, "b": 1 / 3} for query in list(run)[:30]}
    warnings = rs.evaluate_with_model_judge(human, model, run, "DCG@2").warnings
    assert any(
        "the highest grade of human is 1, and that of model is 3" in each for each in warnings
    )
    same = {query: model[query] for query in list(run)[:30]}
    assert rs.evaluate_with_model_judge(same, model, run, "DCG@2").warnings == ()


def test_a_mean_is_found_by_any_name_of_its_measure() -> None:
    qrels = {f"q{number}": {"a": 1, "b": number % 2} for number in range(30)}
    run = {query: {"b": 2.0, "a": 1.0} for query in qrels}
    found = rs.evaluate_with_model_judge(qrels, qrels, run, ["RR", "nDCG@10"])
    assert found["ndcg_cut_10"] is found["nDCG@10"] is found[rs.nDCG @ 10]
    with pytest.raises(rs.MeasureError, match="map was not evaluated"):
        found["map"]
