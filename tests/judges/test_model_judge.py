"""Means and DCG estimated from human grades of some queries or documents and a model of all."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import rankscope as rs
from rankscope.judges.powered import Items, estimate_powered, rescale, split_strata
from rankscope.stats.estimate.interval import estimate_mean
from scipy import stats

from tests.refusals import refuses
from tests.trec import write_qrels, write_run

DISCOUNTS = 1 / np.log2(np.arange(2, 7))


def make_queries(
    human, model, others=(), *, unchanged=0, limits=(0.0, 1.0), strata=None, chances=None
):
    """Return queries that people and a model judged, others of the model, and unchanged ones."""
    by_people, by_model = np.asarray(human, np.float64), np.asarray(model, np.float64)
    rest = np.asarray(others, np.float64)
    count = len(by_people) + len(rest) + unchanged
    fill = np.zeros(unchanged)
    return Items(
        sizes=np.concatenate([np.ones(count - unchanged), fill]),
        human=np.concatenate([by_people, np.full(len(rest), np.nan), fill]),
        model=np.concatenate([by_model, rest, fill]),
        chances=np.ones(count) if chances is None else np.asarray(chances, np.float64),
        strata=np.zeros(count, np.int64) if strata is None else np.asarray(strata, np.int64),
        count=count,
        limits=limits,
    )


def make_documents(human, model, is_judged, limits=(0.0, 3.0)):
    """Return documents with gains [queries, ranks]."""
    queries, depth = human.shape
    return Items(
        sizes=np.tile(DISCOUNTS[:depth], queries),
        model=model.ravel().astype(float),
        human=np.where(is_judged, human, np.nan).ravel(),
        chances=np.ones(human.size),
        strata=np.zeros(human.size, np.int64),
        queries=np.repeat(np.arange(queries), depth),
        count=queries,
        limits=limits,
        reach=float(DISCOUNTS[:depth].sum()),
    )


DENSE, BOUNDED = rs.Interval(method="dense"), rs.Interval(method="bounded")
NOWHERE = (-np.inf, np.inf)


def draw(random, count, noise):
    """Return values with mass at 0 and 1, and those of a judge who is too generous."""
    value = random.beta(2, 2, count)
    place = random.random(count)
    value = np.where(place < 0.15, 0, np.where(place > 0.9, 1, value))
    return value, np.clip(0.35 + 0.6 * value + noise * random.normal(size=count), 0, 1)


def judge_lists(random, count, accuracy):
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


def test_the_estimate_is_that_of_ppi_plus_plus():
    random = np.random.default_rng(1)
    human, model = draw(random, 40, 0.2)
    _, others = draw(random, 300, 0.2)
    found = estimate_powered(make_queries(human, model, others), interval=DENSE)
    weight = np.cov(human, model)[0, 1] / model.var(ddof=1) / (1 + 40 / 300)
    expected = human.mean() + weight * (others.mean() - model.mean())
    assert 0 < weight < 1
    assert found.value == pytest.approx(expected, rel=1e-12)
    assert found.weight == pytest.approx(weight * 340 / 300, rel=1e-12)
    assert found.correlation == pytest.approx(np.corrcoef(human, model)[0, 1], rel=1e-12)
    # A bounded interval trusts a model as much as the human queries allow.
    careful = estimate_powered(make_queries(human, model, others), interval=BOUNDED)
    assert careful.weight == pytest.approx(found.weight * 40 / (40 + 40), rel=1e-12)


def test_a_bounded_interval_has_the_bounds_of_its_two_parts():
    random = np.random.default_rng(2)
    human, model = draw(random, 40, 0.2)
    _, others = draw(random, 300, 0.2)
    found = estimate_powered(make_queries(human, model, others), interval=BOUNDED)
    every = np.concatenate([model, others])
    residuals = human - found.weight * model
    part = estimate_mean(
        residuals,
        interval=BOUNDED,
        low=-found.weight * every.max(),
        high=1 - found.weight * every.min(),
    )
    slope = 2 * found.weight
    fitted = slope * every + (human - slope * model).mean()
    whole = estimate_mean(fitted, interval=BOUNDED, low=0.0, high=1.0)
    ends = np.array([part.value - part.lower, part.upper - part.value])
    others_ends = np.array([whole.value - whole.lower, whole.upper - whole.value])
    lower, upper = np.hypot(ends, others_ends)
    # Weights of 1 are counted as weights.
    assert found.lower == pytest.approx(found.value - lower, rel=1e-6)
    assert found.upper == pytest.approx(found.value + upper, rel=1e-6)


def test_a_model_that_knows_nothing_is_ignored():
    random = np.random.default_rng(3)
    human, _ = draw(random, 30, 0.1)
    found = estimate_powered(
        make_queries(human, -human, -human, limits=(-9.0, 9.0)), interval=DENSE
    )
    assert (found.weight, found.gain) == (0, 1)
    assert (found.value, found.lower, found.upper) == (
        found.human,
        found.human_lower,
        found.human_upper,
    )


def test_a_model_is_trusted_at_most_fully():
    human = np.linspace(0, 1, 30)
    # The model's values differ half as much, which would ask for twice its weight.
    found = estimate_powered(make_queries(human, human / 2, human / 2), interval=DENSE)
    assert found.weight == 1


def test_human_values_without_skewness_have_the_t_interval():
    human = np.linspace(0, 1, 21)
    found = estimate_powered(
        make_queries(human, np.zeros(21), np.zeros(50)), interval=rs.Interval(0.9, method="dense")
    )
    lower, upper = stats.t.interval(0.9, 20, loc=0.5, scale=stats.sem(human))
    assert (found.human_lower, found.human_upper) == pytest.approx((lower, upper), rel=1e-9)
    assert np.isnan(found.correlation)


@pytest.mark.parametrize("interval", [DENSE, BOUNDED])
def test_the_interval_is_never_outside_the_range(interval):
    human = np.array([1.0] * 29 + [0.0])
    found = estimate_powered(make_queries(human, human, np.ones(500)), interval=interval)
    assert (found.human_upper == 1) == (interval is DENSE)
    assert 0 <= found.lower < found.value <= found.upper <= 1


def test_a_bounded_interval_stands_in_for_a_dense_one_of_few_or_equal_values():
    random = np.random.default_rng(4)
    human, model = draw(random, 20, 0.2)
    for queries, method in ((20, "dense"), (19, "bounded")):
        found = estimate_powered(
            make_queries(human[:queries], model[:queries], model), interval=DENSE
        )
        assert found.method == method
    equal = np.full(30, 0.3)
    found = estimate_powered(make_queries(equal, equal, equal), interval=DENSE)
    assert (found.method, found.lower < 0.3 < found.upper) == ("bounded", True)
    without = estimate_powered(make_queries(equal, equal, equal, limits=NOWHERE), interval=DENSE)
    assert (without.method, np.isnan(without.lower), np.isnan(without.upper)) == ("", True, True)


def test_unchanged_queries_shrink_the_mean_of_the_changed_ones():
    human, model = draw(np.random.default_rng(5), 30, 0.2)
    alone = estimate_powered(make_queries(human, model), interval=DENSE)
    found = estimate_powered(make_queries(human, model, unchanged=70), interval=DENSE)
    # All that changed were judged, so that only their share is multiplied.
    assert found.value == pytest.approx(0.3 * alone.value, rel=1e-12)
    assert found.human == pytest.approx(0.3 * human.mean(), rel=1e-12)
    # The variance of the mean shrinks, too, and that of the share is added.
    variance = 0.3**2 * human.var(ddof=1) / 30 + human.mean() ** 2 * 0.3 * 0.7 / 99
    low, high = found.human_lower, found.human_upper
    half = stats.t.ppf(0.975, 29) * variance**0.5
    assert (high - low) / 2 == pytest.approx(half, rel=0.05)


def test_without_a_judged_query_that_changed_only_their_share_limits_the_mean():
    found = estimate_powered(
        make_queries([], [], np.full(10, 0.5), unchanged=90, limits=(-1.0, 1.0)), interval=BOUNDED
    )
    assert (found.lower, found.upper) == pytest.approx((-0.1, 0.1), abs=0.03)
    assert found.lower < -0.1 < 0.1 < found.upper
    assert np.isnan(found.value)
    assert 0 <= found.following < 10


def test_strata_count_as_much_as_they_have_queries():
    human = np.array([0.1, 0.2, 0.9])
    strata = [0, 0, 1, *[1] * 17]
    found = estimate_powered(
        make_queries(human, np.zeros(3), np.zeros(17), strata=strata), interval=BOUNDED
    )
    assert found.value == pytest.approx(0.1 * 0.15 + 0.9 * 0.9, rel=1e-12)
    # Nobody judged the last stratum, which is part of the one before.
    strata = [0, 0, 1, *[1] * 10, *[2] * 7]
    again = estimate_powered(
        make_queries(human, np.zeros(3), np.zeros(17), strata=strata), interval=BOUNDED
    )
    assert again.value == pytest.approx(found.value, rel=1e-12)
    assert strata[again.following] == 2


def test_probabilities_weigh_the_queries():
    human = np.array([0.0, 1.0, 1.0])
    chances = [0.2, 0.4, 0.4, *[1.0] * 9]
    found = estimate_powered(
        make_queries(human, np.zeros(3), np.zeros(9), chances=chances), interval=BOUNDED
    )
    assert found.value == pytest.approx((1 / 0.4 + 1 / 0.4) / (1 / 0.2 + 2 / 0.4), rel=1e-12)


def test_the_query_to_judge_next_is_of_the_stratum_that_varies_most():
    random = np.random.default_rng(6)
    human = np.concatenate([np.full(20, 0.5), random.random(20)])
    strata = np.repeat([0, 1, 0, 1], [20, 20, 200, 200])
    items = make_queries(human, np.zeros(40), np.zeros(400), strata=strata)
    for interval in (DENSE, BOUNDED):
        found = estimate_powered(items, interval=interval)
        assert strata[found.following] == 1
        assert np.isnan(items.human[found.following])
        assert 0 < found.narrowing < 0.05 * (found.upper - found.lower)
    judged = make_queries(human, np.zeros(40), strata=strata[:40])
    assert estimate_powered(judged, interval=BOUNDED).following == -1


def test_the_interval_narrows_by_about_as_much_as_predicted():
    random = np.random.default_rng(7)
    predicted, found = [], []
    for _ in range(60):
        human, model = draw(random, 31, 0.2)
        _, others = draw(random, 300, 0.2)
        made = [
            estimate_powered(
                make_queries(human[:n], model[:n], [*model[n:], *others]), interval=BOUNDED
            )
            for n in (30, 31)
        ]
        predicted.append(made[0].narrowing)
        found.append(made[0].upper - made[0].lower - made[1].upper + made[1].lower)
    assert np.mean(predicted) == pytest.approx(np.mean(found), rel=0.3)


def test_strata_are_halves_by_the_model():
    values = np.arange(9.0)
    assert split_strata(values, np.ones(9)).tolist() == [0, 0, 0, 0, 0, 1, 1, 1, 1]
    assert split_strata(values[:6], np.ones(6)).tolist() == [0, 0, 0, 1, 1, 1]
    # Only those that count decide, and equal values stay together.
    assert split_strata(values, (values < 3).astype(float)).tolist() == [0, 0, *[1] * 7]
    assert split_strata(np.array([0.0, 0, 0, 0, 1, 2]), np.ones(6)).tolist() == [0, 0, 0, 0, 1, 1]


def test_the_scale_of_a_model_without_limits_does_not_matter():
    human, model, run = judge_lists(np.random.default_rng(14), 90, 0.8)
    few = {query: human[query] for query in [*human][:40]}
    found = [
        rs.evaluate_with_model_judge(
            few,
            {query: {doc: by * g for doc, g in docs.items()} for query, docs in model.items()},
            run,
            "DCG@3",
        )["DCG@3"]
        for by in (1, 40)
    ]
    for field in ("value", "lower", "upper", "weight", "gain"):
        assert getattr(found[1], field) == pytest.approx(getattr(found[0], field), rel=1e-9)
    assert found[1].model == pytest.approx(40 * found[0].model, rel=1e-12)
    assert found[0].method == "dense"
    assert rescale(np.array([1.0, 5.0]), np.array([2.0, 4.0]), np.array([7.0, 7.0])).tolist() == [
        3,
        3,
    ]


def test_the_mean_of_a_measure_is_estimated_from_every_kind_of_input(tmp_path):
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
    values = np.array([by_model[query] for query in (*chosen, *others)])
    expected = estimate_powered(
        make_queries(
            [by_human[query] for query in chosen],
            values[:40],
            values[40:],
            strata=split_strata(values, np.ones(120)),
        ),
        interval=BOUNDED,
    )
    # Values are added up in the order of the ids.
    assert [mean.value, mean.lower, mean.upper] == pytest.approx(
        [expected.value, expected.lower, expected.upper], rel=1e-12
    )
    assert (mean.human_queries, mean.queries, mean.method) == (40, 120, "bounded")
    assert found.agreement.items == 240
    files = [write_qrels(tmp_path / name, of) for name, of in (("few", few), ("model", model))]
    files.append(write_run(tmp_path / "run", run))
    assert rs.evaluate_with_model_judge(*files, ["nDCG@5", "RR"]).to_dict() == found.to_dict()
    rows = [(query, doc, score) for query, docs in run.items() for doc, score in docs.items()]
    frame = pd.DataFrame(rows, columns=["query_id", "doc_id", "score"])
    for way in (frame, iter(rows)):
        assert rs.evaluate_with_model_judge(few, model, way, ["nDCG@5", "RR"])["RR"] == found["RR"]


def test_a_difference_is_that_of_the_values_of_both_runs():
    human, model, run = judge_lists(np.random.default_rng(8), 60, 0.8)
    best = {
        query: {doc: float(grade) for doc, grade in docs.items()} for query, docs in human.items()
    }
    found = rs.evaluate_with_model_judge(human, model, best, "DCG@3", baseline=run)["DCG@3"]
    means = [rs.evaluate(human, each, "DCG@3")["DCG@3"] for each in (best, run)]
    assert found.human == pytest.approx(means[0] - means[1], rel=1e-12)
    assert found.lower > 0


@pytest.mark.parametrize(
    ("measure", "options", "is_changed"),
    [
        ("P@2", {}, False),
        ("P@3", {}, True),
        ("AP", {}, True),
        ("nDCG(ideal='retrieved')@2", {}, True),
        ("P@2", {"policy": "unjudged=remove"}, True),
        ("P@2", {"policy": "ties=average"}, True),
    ],
)
def test_a_query_changed_if_the_measure_sees_another_list(measure, options, *, is_changed):
    docs = {"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0}
    run = {f"q{at}": dict(docs) for at in range(9)}
    other = {query: dict(docs) for query in run}
    other["q4"] |= {"c": 1.0, "d": 2.0}
    qrels = {query: dict.fromkeys(docs, 1) for query in run}
    found = rs.evaluate_with_model_judge(qrels, qrels, run, measure, baseline=other, **options)
    assert found.means[0].changed == is_changed
    assert (found.means[0].value, found.means[0].human) == (0, 0)


def test_ties_that_the_value_averages_over_are_a_change():
    run = {f"q{at}": {"a": 2.0, "b": 1.0} for at in range(9)}
    # The larger id comes first of equal scores.
    run["q6"] = {"a": 1.0, "b": 2.0}
    other = run | {query: {"a": 1.0, "b": 1.0} for query in ("q4", "q5", "q6")}
    qrels = {query: {"a": 1, "b": 1} for query in run}
    for ties, changed in (("average", 3), ("doc_id", 2), ("doc_id_asc", 1)):
        found = rs.evaluate_with_model_judge(
            qrels, qrels, run, "P@1", baseline=other, policy=f"ties={ties}"
        )
        assert found.means[0].changed == changed


def test_a_query_without_documents_in_one_run_changed():
    run = {f"q{at}": {"a": 2.0} for at in range(9)}
    other = {query: docs for query, docs in run.items() if query not in ("q0", "q3")}
    qrels = {query: {"a": 1} for query in run}
    mean = rs.evaluate_with_model_judge(qrels, qrels, run, "RR", baseline=other).means[0]
    assert (mean.changed, mean.human_changed, mean.value) == (2, 2, 2 / 9)


def test_human_queries_that_did_not_change_say_nothing():
    human, model, run = judge_lists(np.random.default_rng(15), 100, 0.8)
    other = run | {
        query: {doc: -score for doc, score in run[query].items()} for query in [*run][:30]
    }
    few = {query: human[query] for query in [*human][:12]}
    more = few | {query: human[query] for query in [*human][60:]}
    found, again = (
        rs.evaluate_with_model_judge(each, model, run, "nDCG@5", baseline=other)["nDCG@5"]
        for each in (few, more)
    )
    assert (found.changed, found.human_changed) == (again.changed, again.human_changed) == (30, 12)
    assert (found.value, found.lower, found.upper) == (again.value, again.lower, again.upper)
    none = rs.evaluate_with_model_judge(
        {query: human[query] for query in [*human][60:]}, model, run, "nDCG@5", baseline=other
    )
    assert np.isnan(none["nDCG@5"].value)
    assert "people judged none of the 30 queries in which the runs differ" in str(none)


def test_probabilities_of_queries_that_count_are_needed():
    human, model, run = judge_lists(np.random.default_rng(16), 60, 0.8)
    few = {query: human[query] for query in [*human][:30]}
    chances = {query: 0.5 if at % 2 else 0.25 for at, query in enumerate(few)}
    plain, weighed = (
        rs.evaluate_with_model_judge(few, model, run, "RR", probabilities=each)["RR"]
        for each in (None, chances)
    )
    by_human = rs.evaluate(few, run, "RR")
    values = dict(zip(by_human.query_texts, by_human.per_query("RR").tolist(), strict=True))
    weights = [1 / chances[query] for query in few]
    expected = np.average([values[query] for query in few], weights=weights)
    assert weighed.human == pytest.approx(expected, rel=1e-12)
    assert plain.human == pytest.approx(by_human["RR"], rel=1e-12)
    for chance in (None, 0.0, 1.5):
        with refuses(rs.InputError, "bad_propensity") as caught:
            rs.evaluate_with_model_judge(
                few,
                model,
                run,
                "RR",
                probabilities=chances | {"q3": chance},
            )
        assert "'q3'" in caught.value.message


def test_only_bounded_and_dense_intervals_are_known():
    human, model, run = judge_lists(np.random.default_rng(17), 30, 1)
    for method in ("t", "percentile"):
        with pytest.raises(rs.UsageError, match=f"found method='{method}'"):
            rs.evaluate_with_model_judge(
                human,
                model,
                run,
                "RR",
                interval=rs.Interval(method=method),
            )


@pytest.mark.parametrize(
    ("judged", "others", "is_used"),
    [(25, 5000, False), (26, 5000, True), (40, 65, False), (40, 68, True), (40, 0, False)],
)
def test_a_bounded_interval_uses_the_model_from_25_human_queries_on(judged, others, *, is_used):
    # The human queries count by the share of queries that people didn't judge.
    assert (judged * others / (judged + others) >= 25) == is_used
    human = np.linspace(0, 1, judged)
    items = make_queries(human, human, np.linspace(0, 1, others))
    found = estimate_powered(items, interval=BOUNDED)
    assert (found.weight > 0) == is_used
    if not is_used:
        assert found.value == pytest.approx(found.human, rel=1e-12)
        assert (found.lower, found.upper) == pytest.approx((found.human_lower, found.human_upper))


def test_a_model_without_weight_is_explained():
    human, model, run = judge_lists(np.random.default_rng(9), 200, 0.9)
    few = {query: human[query] for query in [*human][:20]}
    (warning,) = rs.evaluate_with_model_judge(few, model, run, "nDCG@5").warnings
    assert "the model's judgments have no weight. People judged 20 of 200 that count" in warning


def test_a_weak_judge_is_named_with_what_to_do():
    human, model, run = judge_lists(np.random.default_rng(9), 200, 0)
    few = {query: human[query] for query in [*human][:40]}
    found = rs.evaluate_with_model_judge(few, model, run, "nDCG@5")
    assert found["nDCG@5"].gain < 1.1
    assert len(found.warnings) == 1
    assert "improve the model's instructions" in str(found)


def test_human_queries_unlike_the_others_are_named():
    human, model, run = judge_lists(np.random.default_rng(10), 200, 0.9)
    values = rs.evaluate(model, run, "nDCG@5").per_query("nDCG@5")
    best = sorted(zip(values.tolist(), human, strict=True))[-40:]
    few = {query: human[query] for _, query in best}
    found = rs.evaluate_with_model_judge(few, model, run, "nDCG@5")
    assert any("not a random sample" in text for text in found.warnings)


def test_few_human_queries_are_enough_with_limits():
    human, model, run = judge_lists(np.random.default_rng(11), 30, 1)
    few = {query: human[query] for query in [*human][:19]} | {"other": {"d0": 1}}
    found = rs.evaluate_with_model_judge(few, model, run, "RR")["RR"]
    assert (found.human_queries, found.method) == (19, "bounded")
    # No query has a value, though the judges share a document.
    only = {query: dict.fromkeys(docs, 0) for query, docs in few.items()}
    with refuses(rs.InputError, "too_few_queries", match=r"1 or more queries .* found 0"):
        rs.evaluate_with_model_judge(only, model, run, "RR", policy="empty=skip")


def test_a_run_from_standard_input_and_other_aggregates_are_refused():
    human, model, run = judge_lists(np.random.default_rng(12), 30, 1)
    with pytest.raises(rs.UsageError, match="read twice"):
        rs.evaluate_with_model_judge(human, model, "-", "RR")
    with pytest.raises(rs.UsageError, match="means"):
        rs.evaluate_with_model_judge(human, model, run, "RR", policy="aggregate=median")


def test_judgments_without_a_document_in_common_are_an_error():
    run = {f"q{n}": {"a": 2.0, "b": 1.0} for n in range(60)}
    model = {query: {"a": n % 2, "b": 1} for n, query in enumerate(run)}
    human = {f"q{n}": {"docs/a": 1} for n in range(30)}
    with pytest.raises(rs.InputError, match="expected judged documents in the run") as caught:
        rs.evaluate_with_model_judge(human, model, run, "RR")
    assert "for query 'q0', judged are 'docs/a'" in str(caught.value)


def test_a_model_that_judged_no_more_than_people_is_named_as_swapped():
    run = {f"q{n}": {"a": 2.0, "b": 1.0} for n in range(60)}
    model = {query: {"a": n % 2, "b": 1} for n, query in enumerate(run)}
    human = dict(list(model.items())[:30])
    (warning,) = rs.evaluate_with_model_judge(model, human, run, "RR").warnings
    assert "check that human and model judgments aren't swapped" in warning


def test_different_scales_of_people_and_the_model_are_a_warning():
    run = {f"q{n}": {"a": 2.0, "b": 1.0} for n in range(60)}
    model = {query: {"a": n % 4, "b": 1} for n, query in enumerate(run)}
    human = {query: {"a": model[query]["a"] / 3, "b": 1 / 3} for query in list(run)[:30]}
    warnings = rs.evaluate_with_model_judge(human, model, run, "DCG@2").warnings
    assert any(
        "the highest grade of human is 1, and that of model is 3" in each for each in warnings
    )
    same = {query: model[query] for query in list(run)[:30]}
    assert rs.evaluate_with_model_judge(same, model, run, "DCG@2").warnings == ()


def test_a_mean_is_found_by_any_name_of_its_measure():
    qrels = {f"q{number}": {"a": 1, "b": number % 2} for number in range(30)}
    run = {query: {"b": 2.0, "a": 1.0} for query in qrels}
    found = rs.evaluate_with_model_judge(qrels, qrels, run, ["RR", "nDCG@10"])
    assert found["ndcg_cut_10"] is found["nDCG@10"] is found[rs.nDCG @ 10]
    with pytest.raises(rs.MeasureError, match="map was not evaluated"):
        found["map"]


OF_DOCUMENTS = rs.Interval(method="dense")


def draw_gains(random, queries):
    """Return human gains [queries, 5], and those of a model that is too generous."""
    ease = random.random((queries, 1))
    human = (random.random((queries, 5)) < ease) * random.integers(1, 4, (queries, 5))
    return human, np.minimum(human + (random.random(human.shape) < 0.3), 3)


def test_with_all_documents_judged_the_estimate_is_the_mean():
    human, model = draw_gains(np.random.default_rng(1), 50)
    whole = make_documents(human, model, np.ones(human.shape, bool))
    for interval in (OF_DOCUMENTS, rs.Interval()):
        found = estimate_powered(whole, interval=interval)
        # The ratio of weights is 1, so that the model's gains cancel.
        assert found.value == pytest.approx((human @ DISCOUNTS).mean(), rel=1e-12)
        assert found.human == pytest.approx(found.value, rel=1e-12)


def test_the_correction_is_the_weighted_mean_of_residuals():
    random = np.random.default_rng(2)
    human, model = draw_gains(random, 200)
    is_judged = random.random(human.shape) < 0.2
    found = estimate_powered(make_documents(human, model, is_judged), interval=OF_DOCUMENTS)
    weights = np.tile(DISCOUNTS, (200, 1))[is_judged]
    residual = weights @ (human - found.weight * model)[is_judged] / weights.sum()
    expected = found.weight * (model @ DISCOUNTS).mean() + DISCOUNTS.sum() * residual
    assert found.value == pytest.approx(expected, rel=1e-12)


def test_documents_of_a_query_depend_on_each_other():
    # Ten copies of a query's only document say as much as one.
    random = np.random.default_rng(3)
    human = random.integers(0, 4, (60, 1)) * np.ones((60, 5))
    is_judged = np.ones(human.shape, bool)
    for interval in (OF_DOCUMENTS, rs.Interval()):
        many = estimate_powered(make_documents(human, human * 0, is_judged), interval=interval)
        is_first = np.arange(5) == 0
        few = estimate_powered(
            make_documents(human, human * 0, is_judged & is_first), interval=interval
        )
        assert many.upper - many.lower == pytest.approx(few.upper - few.lower, rel=1e-9)


def make_lists():
    random = np.random.default_rng(4)
    human, model = draw_gains(random, 60)
    docs = [f"d{at}" for at in range(5)]
    named = [
        {f"q{query}": dict(zip(docs, row, strict=True)) for query, row in enumerate(table.tolist())}
        for table in (human, model)
    ]
    run = {f"q{query}": {doc: random.random() for doc in docs} for query in range(60)}
    return named[0], named[1], run


def test_all_documents_judged_give_the_mean_of_evaluate():
    human, model, run = make_lists()
    for measure in ("DCG@3", "DCG(gain='exp2')@2"):
        found = rs.estimate_dcg(human, model, run, measure)
        expected = rs.evaluate(human, run, measure)[measure]
        assert found.means[0].value == pytest.approx(expected, rel=1e-12)
        assert found.means[0].model == pytest.approx(rs.evaluate(model, run, measure)[measure])
    assert found.human_documents == 120


def test_a_difference_is_that_of_both_runs():
    human, model, run = make_lists()
    best = {
        query: {doc: float(grade) for doc, grade in docs.items()} for query, docs in human.items()
    }
    found = rs.estimate_dcg(human, model, best, "DCG@3", baseline=run).means[0]
    means = [rs.evaluate(human, each, "DCG@3")["DCG@3"] for each in (best, run)]
    assert found.value == pytest.approx(means[0] - means[1], rel=1e-12)
    assert found.lower > 0


def test_probabilities_weigh_the_documents():
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


def test_a_document_at_the_same_rank_of_both_runs_says_nothing():
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


def test_the_scale_of_the_model_does_not_matter():
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


def test_grades_that_are_all_zero_limit_nothing():
    human, model, run = make_lists()
    none = {query: dict.fromkeys(docs, 0) for query, docs in human.items()}
    unknown = rs.estimate_dcg(none, none, run, "DCG@5")
    assert (unknown.means[0].method, np.isnan(unknown.means[0].lower)) == ("", True)
    assert "there is no interval" in str(unknown)
    # The model's grades are far above those of people, whose scale isn't known either.
    found = rs.estimate_dcg(none, model, run, "DCG@5").means[0]
    assert found.method == ""


def test_other_measures_and_few_queries_are_refused():
    human, model, run = make_lists()
    for measure in ("nDCG@10", "DCG"):
        with pytest.raises(rs.MeasureError):
            rs.estimate_dcg(human, model, run, measure)
    with pytest.raises(rs.InputError, match="1 or more queries that the model judged, found 0"):
        rs.estimate_dcg({"q0": {"x": 1}}, model, run)
