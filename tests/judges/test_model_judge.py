"""Means and DCG estimated from human grades of some queries or documents and a model of all."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
import rankscope as rs
from rankscope._stats.power import estimate_mean
from rankscope.judges.powered import Items, estimate_powered, rescale, split_strata
from scipy import stats

from tests.refusals import refuses, refuses_if
from tests.trec import write_qrels, write_run

DISCOUNTS = 1 / np.log2(np.arange(2, 7))


QUERIES, DOCUMENTS = rs.judges.evaluate, rs.judges.estimate_dcg
DENSE, BOUNDED = rs.Interval(method="dense"), rs.Interval(method="bounded")


def estimate(
    human, model, others=(), *, unchanged=0, limits=(0.0, 1.0), strata=None, interval=BOUNDED
):
    """Estimate from queries that people and a model judged, others of the model, and unchanged."""
    judged, count = len(human), len(human) + len(others) + unchanged
    by_human, by_model, sizes = np.full(count, np.nan), np.zeros(count), np.ones(count)
    by_human[:judged], by_model[:judged] = human, model
    by_model[judged : count - unchanged] = others
    by_human[count - unchanged :] = sizes[count - unchanged :] = 0
    items = Items(
        measure=rs.nDCG,
        names=[(f"q{at}", None) for at in range(count)],
        sizes=sizes,
        human=by_human,
        model=by_model,
        model_mean=0.0,
        strata=np.zeros(count, np.int64) if strata is None else np.asarray(strata),
        count=count,
        limits=limits,
    )
    return estimate_powered(items, interval=interval)


def estimate_documents(human, model, is_judged, interval):
    """Estimate from documents with gains [queries, ranks]."""
    queries, depth = human.shape
    items = Items(
        measure=rs.DCG,
        names=[(f"q{at // depth}", f"d{at % depth}") for at in range(human.size)],
        sizes=np.tile(DISCOUNTS, queries),
        model=model.ravel().astype(float),
        model_mean=0.0,
        human=np.where(is_judged, human, np.nan).ravel(),
        strata=np.zeros(human.size, np.int64),
        queries=np.repeat(np.arange(queries), depth),
        count=queries,
        limits=(0.0, 3.0),
        reach=float(DISCOUNTS.sum()),
    )
    return estimate_powered(items, interval=interval)


def draw(seed, judged, others=0):
    """Return values by people with mass at 0 and 1, and those of a model that is too generous.

    The last are those of other queries.
    """
    random = np.random.default_rng(seed)
    value = random.beta(2, 2, judged + others)
    place = random.random(judged + others)
    value = np.where(place < 0.15, 0, np.where(place > 0.9, 1, value))
    model = np.clip(0.35 + 0.6 * value + 0.2 * random.normal(size=len(value)), 0, 1)
    return value[:judged], model[:judged], model[judged:]


def judge_lists(seed, count, accuracy, judged=None):
    """Return human judgments of the first queries, those of a model and a run, for so many."""
    random = np.random.default_rng(seed)
    human, model, run = {}, {}, {}
    docs = [f"d{doc}" for doc in range(6)]
    for query in map("q{}".format, range(count)):
        grades = random.integers(0, 3, 6)
        others = np.where(random.random(6) < accuracy, grades, random.integers(0, 3, 6))
        human[query] = dict(zip(docs, grades.tolist(), strict=True))
        model[query] = dict(zip(docs, others.tolist(), strict=True))
        run[query] = dict(zip(docs, random.random(6).tolist(), strict=True))
    return take(human, judged), model, run


def take(judgments, count):
    return dict([*judgments.items()][:count])


def change(judgments, grade):
    return {
        query: {doc: grade(given) for doc, given in docs.items()}
        for query, docs in judgments.items()
    }


def test_the_estimate_is_that_of_ppi_plus_plus():
    human, model, others = draw(1, 40, 300)
    found = estimate(human, model, others, interval=DENSE)
    weight = np.cov(human, model)[0, 1] / model.var(ddof=1) / (1 + 40 / 300)
    expected = human.mean() + weight * (others.mean() - model.mean())
    assert 0 < weight < 1
    assert found.value == pytest.approx(expected, rel=1e-12)
    assert found.weight == pytest.approx(weight * 340 / 300, rel=1e-12)
    assert found.correlation == pytest.approx(np.corrcoef(human, model)[0, 1], rel=1e-12)
    # A bounded interval trusts a model as much as the human queries allow.
    careful = estimate(human, model, others)
    assert careful.weight == pytest.approx(found.weight * 40 / (40 + 40), rel=1e-12)


def test_a_bounded_interval_has_the_bounds_of_its_two_parts():
    human, model, others = draw(2, 40, 300)
    found = estimate(human, model, others)
    every = np.concatenate([model, others])
    limits = -found.weight * every.max(), 1 - found.weight * every.min()
    slope = 2 * found.weight
    fitted = slope * every + (human - slope * model).mean()
    part, whole = (
        estimate_mean(values, interval=BOUNDED, low=low, high=high)
        for values, (low, high) in ((human - found.weight * model, limits), (fitted, (0.0, 1.0)))
    )
    lower = np.hypot(part.value - part.lower, whole.value - whole.lower)
    upper = np.hypot(part.upper - part.value, whole.upper - whole.value)
    # Weights of 1 are counted as weights.
    assert found.lower == pytest.approx(found.value - lower, rel=1e-6)
    assert found.upper == pytest.approx(found.value + upper, rel=1e-6)


def test_a_model_is_ignored_if_it_knows_nothing_and_trusted_at_most_fully():
    human, *_ = draw(3, 30)
    found = estimate(human, -human, -human, limits=(-9.0, 9.0), interval=DENSE)
    assert (found.weight, found.gain, found.value) == (0, 1, found.human)
    assert (found.lower, found.upper) == (found.human_lower, found.human_upper)
    human = np.linspace(0, 1, 30)
    # The model's values differ half as much, which would ask for twice its weight.
    assert estimate(human, human / 2, human / 2, interval=DENSE).weight == 1


def test_human_values_without_skewness_have_the_t_interval():
    human = np.linspace(0, 1, 21)
    interval = rs.Interval(0.9, method="dense")
    found = estimate(human, np.zeros(21), np.zeros(50), interval=interval)
    ends = stats.t.interval(0.9, 20, loc=0.5, scale=stats.sem(human))
    assert (found.human_lower, found.human_upper) == pytest.approx(ends, rel=1e-9)
    assert np.isnan(found.correlation)


@pytest.mark.parametrize("interval", [DENSE, BOUNDED])
def test_the_interval_is_never_outside_the_range(interval):
    human = np.array([1.0] * 29 + [0.0])
    found = estimate(human, human, np.ones(500), interval=interval)
    assert (found.human_upper == 1) == (interval is DENSE)
    assert 0 <= found.lower < found.value <= found.upper <= 1


def test_a_bounded_interval_stands_in_for_a_dense_one_of_few_or_equal_values():
    human, model, _ = draw(4, 20)
    for count, method in ((20, "dense"), (19, "bounded")):
        assert estimate(human[:count], model[:count], model, interval=DENSE).method == method
    equal = np.full(30, 0.3)
    found = estimate(equal, equal, equal, interval=DENSE)
    assert (found.method, found.lower < 0.3 < found.upper) == ("bounded", True)
    without = estimate(equal, equal, equal, limits=(-np.inf, np.inf), interval=DENSE)
    assert (without.method, np.isnan(without.lower), np.isnan(without.upper)) == ("", True, True)


def test_unchanged_queries_shrink_the_mean_of_the_changed_ones():
    human, model, _ = draw(5, 30)
    alone = estimate(human, model, interval=DENSE)
    found = estimate(human, model, unchanged=70, interval=DENSE)
    # All that changed were judged, so that only their share is multiplied.
    assert found.value == pytest.approx(0.3 * alone.value, rel=1e-12)
    assert found.human == pytest.approx(0.3 * human.mean(), rel=1e-12)
    # The variance of the mean shrinks, too, and that of the share is added.
    variance = 0.3**2 * human.var(ddof=1) / 30 + human.mean() ** 2 * 0.3 * 0.7 / 99
    half = stats.t.ppf(0.975, 29) * variance**0.5
    assert (found.human_upper - found.human_lower) / 2 == pytest.approx(half, rel=0.05)


def test_without_a_judged_query_that_changed_only_their_share_limits_the_mean():
    found = estimate([], [], np.full(10, 0.5), unchanged=90, limits=(-1.0, 1.0))
    assert (found.lower, found.upper) == pytest.approx((-0.1, 0.1), abs=0.03)
    assert found.lower < -0.1 < 0.1 < found.upper
    assert np.isnan(found.value)
    assert found.next_query in {f"q{at}" for at in range(10)}


def test_strata_count_as_much_as_they_have_queries():
    # Nobody judged the last stratum, which is part of the one before.
    for strata in ([0, 0, 1, *[1] * 17], [0, 0, 1, *[1] * 10, *[2] * 7]):
        found = estimate([0.1, 0.2, 0.9], np.zeros(3), np.zeros(17), strata=strata)
        assert found.value == pytest.approx(0.1 * 0.15 + 0.9 * 0.9, rel=1e-12)
    assert strata[int(found.next_query[1:])] == 2


@pytest.mark.parametrize("interval", [DENSE, BOUNDED])
def test_the_query_to_judge_next_is_of_the_stratum_that_varies_most(interval):
    human = np.concatenate([np.full(20, 0.5), np.random.default_rng(6).random(20)])
    strata = np.repeat([0, 1, 0, 1], [20, 20, 200, 200])
    found = estimate(human, np.zeros(40), np.zeros(400), strata=strata, interval=interval)
    at = int(found.next_query[1:])
    assert (strata[at], at >= 40) == (1, True)
    assert 0 < found.narrowing < 0.05 * (found.upper - found.lower)
    judged = estimate(human, np.zeros(40), strata=strata[:40], interval=interval)
    assert judged.next_query is None


def test_the_interval_narrows_by_about_as_much_as_predicted():
    predicted, narrowed = [], []
    for seed in range(60):
        human, model, others = draw(seed, 31, 300)
        few, more = (estimate(human[:n], model[:n], [*model[n:], *others]) for n in (30, 31))
        predicted.append(few.narrowing)
        narrowed.append(few.upper - few.lower - more.upper + more.lower)
    assert np.mean(predicted) == pytest.approx(np.mean(narrowed), rel=0.3)


def test_strata_are_halves_by_the_model():
    values = np.arange(9.0)
    assert split_strata(values, np.ones(9)).tolist() == [0, 0, 0, 0, 0, 1, 1, 1, 1]
    assert split_strata(values[:6], np.ones(6)).tolist() == [0, 0, 0, 1, 1, 1]
    # Only those that count decide, and equal values stay together.
    assert split_strata(values, (values < 3).astype(float)).tolist() == [0, 0, *[1] * 7]
    assert split_strata(np.array([0.0, 0, 0, 0, 1, 2]), np.ones(6)).tolist() == [0, 0, 0, 0, 1, 1]


def test_the_mean_of_a_measure_is_estimated_from_every_kind_of_input(tmp_path):
    few, model, run = judge_lists(7, 120, 0.8, 40)
    found = QUERIES(few, model, run, ["nDCG@5", "RR"])
    mean = found["nDCG@5"]
    by_human, by_model = (
        dict(zip(each.query_texts, each.per_query("nDCG@5").tolist(), strict=True))
        for each in (rs.evaluate(few, run, "nDCG@5"), rs.evaluate(model, run, "nDCG@5"))
    )
    # In the order of the ids as text.
    chosen, others = sorted(few), sorted(model.keys() - few.keys())
    values = np.array([by_model[query] for query in (*chosen, *others)])
    people, strata = [by_human[query] for query in chosen], split_strata(values, np.ones(120))
    expected = estimate(people, values[:40], values[40:], strata=strata)
    # Values are added up in the order of the ids.
    assert [mean.value, mean.lower, mean.upper] == pytest.approx(
        [expected.value, expected.lower, expected.upper], rel=1e-12
    )
    assert (mean.human_queries, mean.queries, mean.method) == (40, 120, "bounded")
    assert found.agreement.items == 240
    files = [write_qrels(tmp_path / name, of) for name, of in (("few", few), ("model", model))]
    files.append(write_run(tmp_path / "run", run))
    assert QUERIES(*files, ["nDCG@5", "RR"]).to_dict() == found.to_dict()
    rows = [(query, doc, score) for query, docs in run.items() for doc, score in docs.items()]
    frame = pd.DataFrame(rows, columns=["query_id", "doc_id", "score"])
    for way in (frame, iter(rows)):
        assert QUERIES(few, model, way, ["nDCG@5", "RR"])["RR"] == found["RR"]


@pytest.mark.parametrize(
    ("evaluate", "judged", "grade"),
    [
        (QUERIES, range(6), lambda grade: 40 * grade),
        (DOCUMENTS, [2], lambda grade: 10 * grade + 40),
    ],
)
def test_the_scale_of_the_model_does_not_matter(evaluate, judged, grade):
    human, model, run = judge_lists(14, 90, 0.8, 40)
    few = {query: {f"d{at}": docs[f"d{at}"] for at in judged} for query, docs in human.items()}
    found = [evaluate(few, each, run, "DCG@3").means[0] for each in (model, change(model, grade))]
    for field in ("value", "lower", "upper", "weight", "gain"):
        assert getattr(found[1], field) == pytest.approx(getattr(found[0], field), rel=1e-9)
    by_model = rs.evaluate(change(model, grade), run, "DCG@3")["DCG@3"]
    assert found[1].model == pytest.approx(by_model, rel=1e-12)
    query, document = found[0].next_query, found[0].next_document
    if evaluate is QUERIES:
        assert (found[0].method, document, query in few) == ("dense", None, False)
    else:
        assert (found[0].method, document in few.get(query, ())) == ("bounded", False)
        text = str(evaluate(few, model, run, "DCG@3"))
        assert f"judge document {document} of {query} next" in text


def test_a_model_of_one_value_says_the_human_mean():
    assert rescale(np.array([1.0, 5.0]), np.array([2.0, 4.0]), np.full(2, 7.0)).tolist() == [3, 3]


@pytest.mark.parametrize("evaluate", [QUERIES, DOCUMENTS])
def test_a_difference_is_that_of_the_values_of_both_runs(evaluate):
    human, model, run = judge_lists(8, 60, 0.8)
    best = change(human, float)
    found = evaluate(human, model, best, "DCG@3", baseline=run).means[0]
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
    run = {f"q{at}": {"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0} for at in range(9)}
    other = run | {"q4": {"a": 4.0, "b": 3.0, "c": 1.0, "d": 2.0}}
    qrels = change(run, lambda _: 1)
    (mean,) = QUERIES(qrels, qrels, run, measure, baseline=other, **options).means
    assert (mean.changed, mean.value, mean.human) == (is_changed, 0, 0)


@pytest.mark.parametrize(("ties", "changed"), [("average", 3), ("doc_id", 2), ("doc_id_asc", 1)])
def test_ties_that_the_value_averages_over_are_a_change(ties, changed):
    run = {f"q{at}": {"a": 2.0, "b": 1.0} for at in range(9)}
    # The larger id comes first of equal scores.
    run["q6"] = {"a": 1.0, "b": 2.0}
    other = run | {query: {"a": 1.0, "b": 1.0} for query in ("q4", "q5", "q6")}
    qrels = {query: {"a": 1, "b": 1} for query in run}
    found = QUERIES(qrels, qrels, run, "P@1", baseline=other, policy=f"ties={ties}")
    assert found.means[0].changed == changed


def test_a_query_without_documents_in_one_run_changed():
    run = {f"q{at}": {"a": 2.0} for at in range(9)}
    qrels, other = change(run, lambda _: 1), {query: run[query] for query in [*run][2:]}
    mean = QUERIES(qrels, qrels, run, "RR", baseline=other).means[0]
    assert (mean.changed, mean.human_changed, mean.value) == (2, 2, 2 / 9)


def test_human_queries_that_did_not_change_say_nothing():
    human, model, run = judge_lists(15, 100, 0.8)
    other = run | change(take(run, 30), lambda score: -score)
    few, unchanged = take(human, 12), dict([*human.items()][60:])
    found, again, none = (
        QUERIES(each, model, run, "nDCG@5", baseline=other)
        for each in (few, few | unchanged, unchanged)
    )
    for mean in (found.means[0], again.means[0]):
        assert (mean.changed, mean.human_changed) == (30, 12)
        ends = (mean.value, mean.lower, mean.upper)
        assert ends == (found.means[0].value, found.means[0].lower, found.means[0].upper)
    assert np.isnan(none.means[0].value)
    assert "people judged none of the 30 queries in which the runs differ" in str(none)


@pytest.mark.parametrize(
    ("judged", "others", "is_used"),
    [(25, 5000, False), (26, 5000, True), (40, 65, False), (40, 68, True), (40, 0, False)],
)
def test_a_bounded_interval_uses_the_model_from_25_human_queries_on(judged, others, *, is_used):
    # The human queries count by the share of queries that people didn't judge.
    assert (judged * others / (judged + others) >= 25) == is_used
    human = np.linspace(0, 1, judged)
    found = estimate(human, human, np.linspace(0, 1, others))
    assert (found.weight > 0) == is_used
    if not is_used:
        assert found.value == pytest.approx(found.human, rel=1e-12)
        assert (found.lower, found.upper) == pytest.approx((found.human_lower, found.human_upper))


@pytest.mark.parametrize(
    ("accuracy", "judged", "first", "text"),
    [
        (0.9, 20, 0, "the model's judgments have no weight. People judged 20 of 200 that count"),
        (0, 40, 0, "judge more by hand, or improve the model's instructions"),
        (0.9, 40, 160, "the human queries are not a random sample"),
    ],
)
def test_a_model_that_does_not_help_and_a_sample_that_is_not_random_are_named(
    accuracy, judged, first, text
):
    human, model, run = judge_lists(9, 200, accuracy)
    values = dict(zip(human, rs.evaluate(model, run, "nDCG@5").per_query("nDCG@5"), strict=True))
    queries = sorted(human, key=values.__getitem__) if first else [*human]
    few = {query: human[query] for query in queries[first : first + judged]}
    assert text in str(QUERIES(few, model, run, "nDCG@5"))


def test_few_human_queries_are_enough_with_limits():
    human, model, run = judge_lists(11, 30, 1, 19)
    few = human | {"other": {"d0": 1}}
    found = QUERIES(few, model, run, "RR")["RR"]
    assert (found.human_queries, found.method) == (19, "bounded")
    # No query has a value, though the judges share a document.
    only = change(few, lambda _: 0)
    with refuses(rs.InputError, "too_few_queries", match=r"1 or more queries .* found 0"):
        QUERIES(only, model, run, "RR", policy="empty=skip")


@pytest.mark.parametrize(("queries", "is_refused"), [(19, True), (20, False), (21, False)])
def test_an_estimate_without_limits_needs_20_human_queries(queries, *, is_refused):
    human, model, run = judge_lists(18, 30, 0.8, queries)
    with refuses_if(is_refused, rs.InputError, match="expected 20 or more queries .* found 19"):
        found = QUERIES(human, model, run, "DCG@1")["DCG@1"]
        assert (found.human_queries, found.queries, found.method) == (queries, 30, "dense")


@pytest.mark.parametrize(("top", "is_limit"), [(3, True), (4, False)])
def test_a_model_on_another_scale_does_not_limit_gains(top, *, is_limit):
    model = {f"q{at}": {"d": top * (at % 2)} for at in range(30)}
    # One gain says next to nothing, so that only the limit counts.
    upper = DOCUMENTS({"q0": {"d": 2}}, model, change(model, float), "DCG@1").means[0].upper
    assert upper == 2 if not is_limit else 2.9 < upper < 3


def test_judgments_without_a_document_in_common_are_an_error():
    _, model, run = judge_lists(12, 60, 1)
    human = {f"q{n}": {"docs/a": 1} for n in range(30)}
    with pytest.raises(rs.InputError, match="expected judged documents in the run") as caught:
        QUERIES(human, model, run, "RR")
    assert "for query 'q0', judged are 'docs/a'" in str(caught.value)
    # The run has both.
    human, model = {"q0": {"d0": 1}}, {"q0": {"d1": 1}, "q1": {"d0": 1}}
    with refuses(rs.InputError, "nothing_in_common"):
        QUERIES(human, model, run, "RR")


def test_swapped_judgments_and_different_scales_are_a_warning():
    human, model, run = judge_lists(13, 90, 1, 45)
    (warning,) = QUERIES(model, human, run, "nDCG@5").warnings
    assert "check that human and model judgments aren't swapped" in warning
    assert QUERIES(human, model, run, "DCG@2").warnings == ()
    (warning,) = QUERIES(human, change(model, lambda grade: 2 * grade), run, "DCG@2").warnings
    assert "the highest grade of human is 2, and that of model is 4" in warning


def test_a_mean_is_found_by_any_name_of_its_measure():
    found = QUERIES(*judge_lists(12, 30, 1), ["RR", "nDCG@10"])
    assert found["ndcg_cut_10"] is found["nDCG@10"] is found[rs.nDCG @ 10]
    with pytest.raises(rs.errors.MeasureError, match="map was not evaluated"):
        found["map"]


def test_the_correction_is_the_weighted_mean_of_residuals():
    random = np.random.default_rng(2)
    human = random.integers(0, 4, (200, 5)) * (random.random((200, 5)) < random.random((200, 1)))
    # The model is too generous.
    model = np.minimum(human + (random.random(human.shape) < 0.3), 3)
    is_judged = random.random(human.shape) < 0.2
    found = estimate_documents(human, model, is_judged, DENSE)
    weights = np.tile(DISCOUNTS, (200, 1))[is_judged]
    residual = weights @ (human - found.weight * model)[is_judged] / weights.sum()
    expected = found.weight * (model @ DISCOUNTS).mean() + DISCOUNTS.sum() * residual
    assert found.value == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("interval", [DENSE, BOUNDED])
def test_documents_of_a_query_depend_on_each_other(interval):
    # Copies of a query's only document say as much as one.
    human = np.random.default_rng(3).integers(0, 4, (60, 1)) * np.ones((60, 5))
    every, first = (
        estimate_documents(human, human * 0, is_judged, interval)
        for is_judged in (True, np.arange(5) == 0)
    )
    assert every.upper - every.lower == pytest.approx(first.upper - first.lower, rel=1e-9)


def test_all_documents_judged_give_the_mean_of_evaluate():
    human, model, run = judge_lists(4, 60, 0.7)
    for measure, interval in itertools.product(("DCG@3", "DCG(gain='exp2')@2"), (DENSE, BOUNDED)):
        found = DOCUMENTS(human, model, run, measure, interval=interval)
        expected = rs.evaluate(human, run, measure)[measure]
        # The ratio of weights is 1, so that the model's gains cancel.
        mean = found.means[0]
        assert (mean.value, mean.human) == pytest.approx((expected, expected), rel=1e-12)
        assert mean.model == pytest.approx(rs.evaluate(model, run, measure)[measure])
    assert found.human_documents == 120


def test_a_document_at_the_same_rank_of_both_runs_says_nothing():
    human, model, run = judge_lists(4, 60, 0.7)
    other = {query: docs | {"d0": docs["d1"], "d1": docs["d0"]} for query, docs in run.items()}
    rest = {query: {doc: docs[doc] for doc in ("d0", "d1")} for query, docs in human.items()}
    found, again = (
        DOCUMENTS(each, model, run, "DCG@6", baseline=other).means[0] for each in (human, rest)
    )
    # Two documents of each query changed their ranks.
    assert (found.changed, found.human_changed) == (120, 120)
    assert (again.value, again.lower, again.upper) == (found.value, found.lower, found.upper)
    assert found.next_document is None


def test_grades_that_are_all_zero_limit_nothing():
    human, model, run = judge_lists(4, 60, 0.7)
    none = change(human, lambda _: 0)
    unknown = DOCUMENTS(none, none, run, "DCG@5")
    assert (unknown.means[0].method, np.isnan(unknown.means[0].lower)) == ("", True)
    assert "there is no interval" in str(unknown)
    # The model's grades are far above those of people, whose scale isn't known either.
    assert DOCUMENTS(none, model, run, "DCG@5").means[0].method == ""


HUMAN, MODEL, RUN = judge_lists(17, 30, 1)


@pytest.mark.parametrize(
    ("evaluate", "run", "measure", "options", "code"),
    [
        (QUERIES, "-", "RR", {}, "stdin_twice"),
        (DOCUMENTS, rs.File("-"), "DCG@3", {}, "stdin_twice"),
        (QUERIES, RUN, "RR", {"policy": "aggregate=median"}, "aggregate_unavailable"),
        (DOCUMENTS, RUN, "DCG@3", {"policy": "aggregate=median"}, "aggregate_unavailable"),
        (QUERIES, RUN, "RR", {"interval": rs.Interval(method="t")}, "bad_parameter"),
        (DOCUMENTS, RUN, "DCG", {"interval": rs.Interval(method="percentile")}, "bad_parameter"),
        (DOCUMENTS, RUN, "nDCG@10", {}, "bad_parameter"),
        (DOCUMENTS, RUN, "DCG", {}, "bad_parameter"),
        (DOCUMENTS, {"q0": {"x": 1.0}}, "DCG@3", {}, "too_few_queries"),
    ],
)
def test_what_cannot_be_estimated_is_refused(evaluate, run, measure, options, code):
    with refuses(rs.RankscopeError, code):
        evaluate(HUMAN, MODEL, run, measure, **options)
