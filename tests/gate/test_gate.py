"""Budgets and their verdicts, from judgments and runs, and rankings."""

from __future__ import annotations

import math

import numpy as np
import pytest
import rankscope as rs
from rankscope._compare.cases import MeasureValues
from rankscope._compare.gate.checks import Settings, check_budgets
from rankscope._compare.gate.result import decide, parse_budget
from rankscope.settings.interval import Interval, of_measure
from rankscope.stats.estimate.interval import estimate_mean
from rankscope.stats.estimate.power import queries_needed
from rankscope.stats.quantiles import estimate_quantile
from rankscope.testing import assert_not_worse
from scipy.stats import beta

from tests.refusals import refuses

QUERIES = [f"q{number}" for number in range(120)]
QRELS = {query: {"a": 3, "b": 1, "c": 0} for query in QUERIES}
COUNTRIES = ["de" if number % 2 else ("at", "ch", "fr")[number // 2 % 3] for number in range(120)]
ATTRIBUTES = {
    "query_id": QUERIES,
    "country": COUNTRIES,
    "user": [f"u{number // 5}" for number in range(120)],
}


def make_run(seed, good):
    """Return lists that are in the best order with this probability, else in a random one."""
    generator = np.random.default_rng(seed)
    run = {}
    for query in QUERIES:
        order = [0, 1, 2] if generator.random() < good else generator.permutation(3).tolist()
        run[query] = {doc: -float(rank) for doc, rank in zip("abc", order, strict=True)}
    return run


OLD, SAME, WORSE = make_run(1, 0.7), make_run(2, 0.7), make_run(3, 0.1)


ORDER = np.argsort(QUERIES)
"""The order in which queries are resampled."""


def values(run):
    """Return the values of the queries in the order in which they are resampled."""
    return rs.evaluate(QRELS, run, "nDCG@10").per_query("nDCG@10")[ORDER]


def interval(level=0.95, resamples=9999):
    """Return the interval with the random numbers of nDCG@10."""
    return of_measure(Interval(level, resamples=resamples), "nDCG@10")


def check_one(budget, baseline, candidate, **settings):
    measure = MeasureValues(
        name="nDCG@10", low=0.0, high=1.0, values=np.array([baseline, candidate], dtype=float)
    )
    (check,) = check_budgets([(budget, measure)], groups={}, settings=Settings(**settings))
    return check


def test_the_interval_is_that_of_the_mean_difference():
    result = rs.gate(QRELS, OLD, SAME, {"nDCG@10": 0.005})
    (check,) = result.checks
    expected = estimate_mean(values(SAME) - values(OLD), interval=interval(), low=-1, high=1)
    found = (check.value, check.lower, check.upper)
    assert found == (expected.value, expected.lower, expected.upper)
    assert check.threshold == -0.005
    assert check.interval_method == expected.method
    assert (check.n, check.slice, check.clusters, check.corrected_for) == (120, None, None, 1)
    assert check.candidate_mean - check.baseline_mean == pytest.approx(check.value, abs=1e-15)


def test_the_limits_at_which_the_verdict_changes_are_the_ends_of_the_interval():
    (check,) = rs.gate(QRELS, OLD, WORSE, {"nDCG@10": 0.1})
    assert -1 < check.lower < check.upper < 0
    for limit, verdict in (
        (-check.lower, "holds"),
        (math.nextafter(-check.lower, 0), "inconclusive"),
        (-check.upper, "inconclusive"),
        (math.nextafter(-check.upper, 0), "broken"),
    ):
        assert rs.gate(QRELS, OLD, WORSE, {"nDCG@10": limit}).verdict == verdict


def test_an_inconclusive_budget_fails_unless_it_may_pass():
    budgets = {"nDCG@10": 0.005}
    result = rs.gate(QRELS, OLD, SAME, budgets)
    assert (result.verdict, result.passed) == ("inconclusive", False)
    result = rs.gate(QRELS, OLD, SAME, budgets, on_inconclusive="pass")
    assert (result.verdict, result.passed) == ("inconclusive", True)
    own = rs.Budget("nDCG@10", max_drop=0.005, on_inconclusive="pass")
    assert rs.gate(QRELS, OLD, SAME, own).passed
    assert not rs.gate(QRELS, OLD, WORSE, budgets, on_inconclusive="pass").passed


def test_an_inconclusive_budget_says_how_many_queries_would_decide():
    (check,) = rs.gate(QRELS, OLD, SAME, {"nDCG@10": 0.005})
    differences = values(SAME) - values(OLD)
    of_t = queries_needed(0.005, (float(np.std(differences, ddof=1)),))
    # A bounded interval allows for a query that isn't among so many.
    assert 120 < of_t < check.queries_needed < 1.5 * of_t
    assert "tell) show with a probability of 80% that the budget holds." in check.message
    (check,) = rs.gate(QRELS, OLD, WORSE, {"nDCG@10": 0.005})
    assert check.queries_needed is None


def test_the_planned_number_does_not_depend_on_the_difference_that_was_found():
    budget = rs.Budget("nDCG@10", max_drop=0.02)
    old = np.linspace(0.2, 0.8, 40)
    noise = np.tile([-0.1, 0.1], 20)
    checks = [check_one(budget, old, old + noise + shift) for shift in (-0.03, -0.01, 0.01)]
    assert {check.verdict for check in checks} == {"inconclusive"}
    assert len({check.queries_needed for check in checks}) == 1


def test_a_dense_interval_plans_with_the_t_test():
    (check,) = rs.gate(QRELS, OLD, SAME, {"nDCG@10": 0.005}, method="dense")
    differences = values(SAME) - values(OLD)
    expected = queries_needed(0.005, (float(np.std(differences, ddof=1)),))
    assert (check.interval_method, check.queries_needed) == ("dense", expected)
    squares = (differences - differences.mean()) ** 2
    found = estimate_mean(squares, interval=rs.Interval(method="dense"), low=0, high=None)
    for end, number in (
        (found.lower, check.queries_needed_lower),
        (found.upper, check.queries_needed_upper),
    ):
        spread = math.sqrt(end / squares.mean()) * float(np.std(differences, ddof=1))
        assert number == queries_needed(0.005, (spread,))


def test_the_range_of_a_plan_is_that_of_the_share_of_queries_that_changed():
    # Of differences -1, 0 and 1, the variance is a share, whose interval is Clopper and Pearson's.
    changed, count = 8, 40
    new = np.array([0, 1] * (changed // 2) + [0.5] * (count - changed))
    old = np.where(new == 0.5, 0.5, 1 - new)
    check = check_one(rs.Budget("nDCG@10", max_drop=0.02), old, new)
    lower = beta.ppf(0.025, changed, count - changed + 1)
    upper = beta.ppf(0.975, changed + 1, count - changed)
    for number, end in ((check.queries_needed_lower, lower), (check.queries_needed_upper, upper)):
        assert number / check.queries_needed == pytest.approx(end / (changed / count), rel=0.05)


def test_a_plan_counts_twice_the_queries_of_which_each_is_there_twice():
    budget, old = rs.Budget("nDCG@10", max_drop=0.02), np.linspace(0.2, 0.8, 40)
    new = old + np.tile([-0.1, 0.1, 0.2, -0.2], 10)
    once = check_one(budget, old, new)
    measure = MeasureValues(
        name="nDCG@10", low=0.0, high=1.0, values=np.array([old, new]).repeat(2, axis=1)
    )
    codes = [str(at) for at in range(40)]
    clusters = ("user", codes, np.arange(40).repeat(2).tolist())
    (twice,) = check_budgets([(budget, measure)], groups={}, clusters=clusters)
    assert twice.queries_needed == 2 * once.queries_needed
    assert twice.queries_needed_lower == 2 * once.queries_needed_lower
    assert twice.queries_needed_upper == 2 * once.queries_needed_upper
    assert once.queries_needed_lower < once.queries_needed < once.queries_needed_upper


def test_a_plan_without_variance_has_no_range():
    check = check_one(rs.Budget("nDCG@10", max_drop=0.3), [0.75] * 10, [0.5] * 10)
    assert check.queries_needed is not None
    assert (check.queries_needed_lower, check.queries_needed_upper) == (None, None)
    assert "queries or more show" in check.message


def test_no_number_of_queries_is_known_to_decide_at_the_limit():
    differences = np.tile([-0.25, 0.25], 30)
    old, new = 0.5 - differences / 2, 0.5 + differences / 2
    check = check_one(rs.Budget("nDCG@10", max_drop=0), old, new)
    assert (check.verdict, check.queries_needed) == ("inconclusive", None)
    assert "These don't tell how many" in check.message


def test_queries_that_should_have_been_enough_are_named():
    old, new = [0.5] * 400, [0.5 - 0.021 + 0.02 * (-1) ** at for at in range(400)]
    check = check_one(rs.Budget("nDCG@10", max_drop=0.02), old, new)
    assert check.verdict == "inconclusive"
    assert check.queries_needed <= 400
    assert "and there are 400. More queries may show that it doesn't." in check.message


def make_lists(count, unjudged="b", queries="q"):
    """Return judgments, and lists with a judged and an unjudged document; RR is 0.5 each."""
    names = [f"{queries}{number}" for number in range(count)]
    return {name: {"a": 1} for name in names}, {name: {unjudged: 2.0, "a": 1.0} for name in names}


@pytest.mark.parametrize("count", [1, 3, 200])
def test_identical_lists_pass_whatever_the_number_of_queries(count):
    qrels, run = make_lists(count)
    (check,) = rs.gate(qrels, run, dict(run), {"RR": 0})
    assert (check.verdict, check.passed) == ("unchanged", True)
    assert (check.lower, check.upper) == (0, 0)
    assert check.message.startswith("Both runs rank the same documents in the same order for every")
    # A query that loses everything is as rare as this, and isn't among so many.
    lost = float(check.message.partition("by up to ")[2].split()[0])
    assert lost == pytest.approx(1 - 0.025 ** (1 / count), rel=0.03)


METHODS = ("auto", "bounded", "dense", "t")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("shift", [0.0, -0.25])
@pytest.mark.parametrize("count", [1, 10, 100])
def test_equal_differences_have_a_bounded_interval(count, shift, method):
    differences = np.full(count, shift)
    expected = estimate_mean(differences, interval=interval(), low=-1, high=1)
    assert expected.lower < shift < expected.upper
    for limit, verdict in (
        (-expected.lower, "holds"),
        (math.nextafter(-expected.lower, 0), "inconclusive"),
    ):
        budget = rs.Budget("nDCG@10", max_drop=limit)
        settings = {"interval": Interval(method=method)}
        check = check_one(budget, [0.5] * count, 0.5 + differences, **settings)
        assert (check.lower, check.upper) == (expected.lower, expected.upper)
        assert (check.interval_method, check.verdict) == ("bounded", verdict)


@pytest.mark.parametrize("method", METHODS)
def test_equal_values_without_limits_decide_nothing_unless_their_lists_are_equal(method):
    qrels, old = make_lists(100)
    (check,) = rs.gate(qrels, old, make_lists(100, "c")[1], {"DCG@10": 0.01}, method=method)
    assert (check.value, check.verdict) == (0, "inconclusive")
    assert "These queries don't differ" in check.message
    assert rs.gate(qrels, old, dict(old), {"DCG@10": 0.01}, method=method).passed


@pytest.mark.parametrize("budget", [{"RR": 0.01}, {"RR": "2%"}, rs.Budget("RR", max_loss=0)])
def test_one_other_list_is_a_change_even_if_no_value_is(budget):
    qrels, old = make_lists(10)
    assert rs.gate(qrels, old, dict(old), budget).verdict == "unchanged"
    for changed in ({"c": 2.0, "a": 1.0}, {"b": 2.0, "a": 1.0, "c": 0.5}, {"b": 2.0}):
        result = rs.gate({**qrels, "q9": {"d": 1}}, old, old | {"q9": changed}, budget)
        assert [check.baseline_mean - check.candidate_mean for check in result] == [0]
        assert result.verdict == "inconclusive"


def test_a_new_tie_is_a_change_where_ties_are_averaged():
    qrels, _ = make_lists(10)
    old, new = ({query: {"a": score, "b": 1.0} for query in qrels} for score in (2.0, 1.0))
    one, other = (rs.Rankings.from_run(qrels, run, ties="average") for run in (old, new))
    assert one.doc_texts("q0") == other.doc_texts("q0")
    (check,) = rs.gate(qrels, old, new, {"nDCG@10": 0.01}, policy="ties=average")
    # The relevant document is first or second.
    assert check.value == pytest.approx((1 + 1 / math.log2(3)) / 2 - 1, rel=1e-12)
    assert check.verdict == "inconclusive"


def test_a_slice_is_unchanged_if_its_lists_are():
    qrels, old = make_lists(10)
    new = old | {"q9": {"c": 2.0, "a": 1.0}}
    country = {"query_id": [*qrels], "country": ["de"] * 5 + ["fr"] * 5}
    result = rs.gate(qrels, old, new, {"RR": 0.01}, by="country", attributes=country)
    verdicts = {check.slice: check.verdict for check in result}
    assert verdicts == {None: "inconclusive", "de": "unchanged", "fr": "inconclusive"}


def test_equal_values_without_lists_are_judged_by_the_interval():
    rankings = rs.Rankings.from_arrays([[1, 0]] * 10, [[0.1, 0.9]] * 10)  # without ids
    result = rs.gate({"old": rankings, "new": rankings}, budgets={"RR": 0.01})
    assert result.verdict == "inconclusive"


def test_identical_lists_lose_nothing_but_need_not_have_a_minimum():
    assert rs.gate(QRELS, OLD, OLD, rs.Budget("nDCG@10", max_loss=0)).passed
    assert not rs.gate(QRELS, OLD, OLD, rs.Budget("nDCG@10", minimum=1)).passed


def test_a_relative_budget_is_the_interval_of_what_is_left():
    (check,) = rs.gate(QRELS, OLD, WORSE, {"nDCG@10": "20%"})
    ours, theirs = values(WORSE), values(OLD)
    left = estimate_mean(ours - 0.8 * theirs, interval=interval(), low=-0.8, high=1)
    moved = 0.2 * theirs.mean()
    assert check.threshold == pytest.approx(-moved, rel=1e-15)
    assert check.value == pytest.approx(ours.mean() - theirs.mean(), rel=1e-12)
    assert check.lower == pytest.approx(left.lower - moved, rel=1e-12)
    assert check.upper == pytest.approx(left.upper - moved, rel=1e-12)
    assert check.verdict == decide(left.lower, left.upper, 0.0)
    assert f"20% of {theirs.mean():.4f}" in check.message


def test_a_minimum_is_about_the_mean_of_the_candidate():
    budgets = [rs.Budget("nDCG@10", minimum=limit) for limit in (0.5, 0.999)]
    low, high = rs.gate(QRELS, OLD, SAME, budgets)
    expected = estimate_mean(values(SAME), interval=interval(), low=0, high=1)
    assert (low.lower, low.upper) == (expected.lower, expected.upper)
    assert (low.verdict, high.verdict) == ("holds", "broken")
    assert low.value == low.candidate_mean


def test_a_quantile_of_losses_is_checked_by_order_statistics():
    losses = values(OLD) - values(WORSE)
    expected = estimate_quantile(losses, 0.9, low=-1, high=1)
    for limit, verdict in (
        (expected.upper, "holds"),
        (math.nextafter(expected.upper, 0), "inconclusive"),
        (expected.lower, "inconclusive"),
        (math.nextafter(expected.lower, 0), "broken"),
    ):
        budget = rs.Budget("nDCG@10", max_loss=limit, quantile=0.9)
        (check,) = rs.gate(QRELS, OLD, WORSE, budget)
        found = (check.value, check.lower, check.upper, check.verdict)
        assert found == (expected.value, expected.lower, expected.upper, verdict)


def test_too_few_queries_for_a_percentile_are_inconclusive():
    generator = np.random.default_rng(1)
    baseline = generator.random(50)
    check = check_one(rs.Budget("nDCG@10", max_loss=0.3), baseline, baseline - 0.01)
    assert (check.upper, check.verdict) == (1, "inconclusive")
    assert check.queries_needed >= 72


def test_slices_are_corrected_for_their_number():
    budget = rs.Budget("nDCG@10", max_drop=0.02, by="country")
    result = rs.gate(QRELS, OLD, WORSE, budget, attributes=ATTRIBUTES)
    counts = [(each.slice, each.n) for each in result]
    assert counts == [("de", 60), ("at", 20), ("ch", 20), ("fr", 20)]
    for check in result:
        chosen = (np.array(COUNTRIES) == check.slice)[ORDER]
        # 50 resamples beyond each end: 50 / (0.05 / 4 / 2)
        settings = interval(1 - 0.05 / 4, max(9999, math.ceil(50 / (0.0125 / 2))))
        differences = (values(WORSE) - values(OLD))[chosen]
        expected = estimate_mean(differences, interval=settings, low=-1, high=1)
        assert (check.level, check.corrected_for, check.by) == (1 - 0.05 / 4, 4, "country")
        assert (check.lower, check.upper) == (expected.lower, expected.upper)


def test_by_checks_all_queries_and_slices():
    result = rs.gate(QRELS, OLD, WORSE, {"nDCG@10": 0.02}, by="country", attributes=ATTRIBUTES)
    assert [each.slice for each in result] == [None, "de", "at", "ch", "fr"]
    assert result.checks[0].level == 0.95
    together = rs.Budget("nDCG@10", max_drop=0.02, by=("country", "user"))
    (check, *_) = rs.gate(QRELS, OLD, WORSE, together, attributes=ATTRIBUTES)
    assert (check.by, check.slice) == ("country, user", "de, u1")


def test_clusters_are_the_units():
    result = rs.gate(QRELS, OLD, SAME, {"nDCG@10": 0.005}, cluster="user", attributes=ATTRIBUTES)
    (check,) = result
    differences = values(SAME) - values(OLD)
    codes = (np.arange(120) // 5)[ORDER]
    expected = estimate_mean(differences, interval=interval(), low=-1, high=1, clusters=codes)
    assert (check.lower, check.upper, check.clusters) == (expected.lower, expected.upper, 24)
    assert result.cluster == "user"
    assert "in 24 clusters" in check.message
    by_mapping = dict(zip(QUERIES, ATTRIBUTES["user"], strict=True))
    (other,) = rs.gate(QRELS, OLD, SAME, {"nDCG@10": 0.005}, cluster=by_mapping)
    assert (other.lower, other.upper) == (check.lower, check.upper)


def test_rankings_are_gated_as_runs_are_and_a_comparison_is_refused():
    budgets = {"nDCG@10": 0.005}
    (expected,) = rs.gate(QRELS, OLD, SAME, budgets).checks
    runs = {"old": OLD, "new": SAME}
    rankings = {name: rs.Rankings.from_run(QRELS, run) for name, run in runs.items()}
    result = rs.gate(rankings, budgets=budgets)
    assert (result.baseline, result.candidate) == ("old", "new")
    assert result.checks == (expected,)
    with pytest.raises(rs.UsageError, match="doesn't have the values of queries") as caught:
        rs.gate(rs.compare(QRELS, runs, "nDCG@10", bounds=False), budgets=budgets)
    assert "gate(qrels, baseline, candidate" in caught.value.hint


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"max_drop": 0.1, "minimum": 0.2}, "exactly one limit"),
        ({}, "exactly one limit"),
        ({"max_drop": -0.1}, "0 or more, found -0.1"),
        ({"max_drop": math.nan}, "0 or more, found nan"),
        ({"max_drop": "two%"}, "0 or more, found 'two%'"),
        ({"max_drop": "0.1"}, "0 or more, found '0.1'"),
        ({"max_loss": True}, "0 or more, found True"),
        ({"max_loss": "2%"}, "0 or more, found '2%'"),
        ({"minimum": math.inf}, "finite minimum"),
        ({"max_loss": 0.1, "quantile": 1}, "quantile between 0 and 1"),
        ({"max_drop": 0.1, "confidence": 95}, "confidence between 0 and 1, found 95"),
        ({"max_drop": 0.1, "on_inconclusive": "passes"}, "unknown value 'passes'"),
    ],
)
def test_a_budget_that_cannot_be_meant_is_refused(arguments, message):
    with refuses(rs.UsageError, "bad_budget", match=message) as caught:
        rs.Budget("nDCG@10", **arguments)
    assert caught.value.hint


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: rs.gate(QRELS, OLD, SAME, {}), "expected budgets"),
        (lambda: rs.gate(QRELS, OLD, SAME, ["nDCG@10"]), "expected budgets"),
        (lambda: rs.gate(QRELS, OLD, budgets={"AP": 0}), "expected judgments, a baseline"),
        (lambda: rs.gate(QRELS, OLD, SAME, {"nDGC@10": 0}), "nDGC"),
        (lambda: rs.gate(QRELS, OLD, SAME, {"NumRet": 0}), "not a mean over queries"),
        (lambda: rs.gate(QRELS, OLD, SAME, {"OrderingLoss@10": 0}), "is an improvement"),
        (lambda: rs.gate(QRELS, OLD, SAME, {"AP": 0}, by="country"), "country"),
        (lambda: rs.gate(QRELS, OLD, SAME, {"AP": 0}, confidence=1), "confidence"),
        (lambda: rs.gate(QRELS, OLD, SAME, {"AP": 0}, names=("a", "a")), "two different names"),
        (lambda: rs.gate(QRELS, OLD, SAME, {"AP": 0}, policy="aggregate=median"), "only means"),
    ],
)
def test_a_gate_that_cannot_be_meant_is_refused(call, message):
    with pytest.raises(rs.UsageError, match=message):
        call()


OTHER = make_lists(9, "x")[0], {f"q{number}": {"x": 2.0, "y": 1.0} for number in range(9)}
"""Judgments, and a run that has none of their documents."""


@pytest.mark.parametrize("candidate", [OTHER[1], {"q0": {"z": 1.0}}, make_lists(10)[1]])
def test_a_baseline_without_judged_documents_is_refused(candidate):
    qrels, baseline = OTHER
    with pytest.raises(rs.UsageError, match=r"of baseline.* is judged: for 'q0'") as refusal:
        rs.gate(qrels, baseline, candidate, {"RR": 0.1})
    assert "'a' is judged and 'x' is retrieved" in refusal.value.message
    assert (refusal.value.code, refusal.value.exit_status) == ("all_unjudged", 2)
    assert "document ids" in refusal.value.hint


def test_one_judged_document_of_the_baseline_is_enough_for_a_verdict():
    qrels, run = OTHER
    baseline = run | {"q8": {"x": 2.0, "y": 1.0, "a": 0.5}}
    assert rs.gate(qrels, baseline, run, {"RR": 0.1}).verdict == "inconclusive"


def test_lists_without_documents_are_refused():
    with pytest.raises(rs.UsageError, match="'a' is judged and nothing is retrieved"):
        rs.gate({"q": {"a": 1}}, {"q": {}}, {"q": {}}, {"RR": 0.1})


def test_measures_of_items_need_no_judged_document():
    qrels, run = OTHER
    budget = rs.Budget("Coverage@10", tolerance=0.1)
    assert rs.gate(qrels, run, run, budget, catalogue=["x", "y"]).passed
    with pytest.raises(rs.UsageError, match="is judged"):
        rs.gate(qrels, run, run, [budget, rs.Budget("RR", max_drop=0.1)], catalogue=["x", "y"])


@pytest.mark.parametrize("function", [rs.gate, rs.compare])
def test_rankings_of_other_queries_are_refused(function):
    rankings = {
        queries: rs.Rankings.from_run(*make_lists(10, queries=queries)) for queries in ("q", "p")
    }
    asked = {"budgets": {"RR": 0.1}} if function is rs.gate else {"measures": "RR"}
    with pytest.raises(rs.UsageError, match="'p' has other queries or another policy"):
        function(rankings, **asked)
    function({"q": rankings["q"], "p": rankings["q"]}, **asked)


def test_measures_without_values_in_common_are_refused():
    runs = ({"q": {"a": 1.0}}, {"q": {"a": 2.0}})
    with pytest.raises(rs.EmptyError, match="no query has a value"):
        rs.gate({"q": {"a": 0}}, *runs, {"AP": 0}, policy="empty=nan")


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        ("max-drop", "nDCG@10=0.005", rs.Budget("nDCG@10", max_drop=0.005)),
        ("max-drop", "nDCG@10 = 2%", rs.Budget("nDCG@10", max_drop="2%")),
        ("max-drop", "P(rel=2)@5=0", rs.Budget("P(rel=2)@5", max_drop=0.0)),
        ("max-loss", "p95:nDCG@10=0.3", rs.Budget("nDCG@10", max_loss=0.3)),
        ("max-loss", "p99.5:AP=0.3", rs.Budget("AP", max_loss=0.3, quantile=0.995)),
        ("max-loss", "AP=0.3", rs.Budget("AP", max_loss=0.3)),
        ("min", "nDCG@10=0.4", rs.Budget("nDCG@10", minimum=0.4)),
    ],
)
def test_the_options_of_budgets_are_read(kind, text, expected):
    assert parse_budget(kind, text) == expected


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("max-drop", "nDCG@10"),
        ("max-drop", "0.005"),
        ("max-drop", "=0.005"),
        ("max-drop", "nDCG@10=little"),
        ("max-loss", "p9x:nDCG@10=0.3"),
        ("max-loss", "nDCG@10=3%"),
        ("min", "nDCG@10=40%"),
    ],
)
def test_options_that_are_no_budgets_are_refused(kind, text):
    with pytest.raises(rs.UsageError, match=f"cannot read --{kind}"):
        parse_budget(kind, text)


def test_assert_not_worse_returns_the_result():
    result = assert_not_worse(QRELS, WORSE, OLD, max_drop=0.005)
    assert (result.verdict, len(result)) == ("holds", 1)
    result = assert_not_worse(QRELS, OLD, SAME, rs.nDCG @ 10, on_inconclusive="pass")
    assert result.verdict == "inconclusive"


def test_assert_not_worse_shows_the_summary():
    with pytest.raises(AssertionError) as caught:
        assert_not_worse(QRELS, OLD, WORSE, "nDCG@10", max_drop="1%")
    assert str(caught.value).startswith("Gate failed: 1 of 1 check is broken\n")
    assert "nDCG@10: max drop 1%: The difference is -" in str(caught.value)
    with pytest.raises(AssertionError, match=r"about [0-9,]+\s+queries"):
        assert_not_worse(QRELS, OLD, SAME, "nDCG@10")


@pytest.mark.parametrize(
    ("budget", "hint"),
    [
        (rs.Budget("nDCG@10", max_drop=5), "write '5%' for 5 percent, or 0.01"),
        (rs.Budget("nDCG@10", max_drop="150%"), "give a limit that the values can exceed"),
        (rs.Budget("nDCG@10", max_loss=1), "give a limit that the values can exceed"),
        (rs.Budget("nDCG@10", minimum=40), "give a limit that the values can exceed"),
    ],
)
def test_a_limit_that_no_value_can_exceed_is_refused(budget, hint):
    qrels = {f"q{n}": {"a": 1} for n in range(30)}
    run = {query: {"a": 1.0} for query in qrels}
    with pytest.raises(rs.UsageError, match="checks nothing") as caught:
        rs.gate(qrels, run, run, budget)
    assert caught.value.hint == hint
