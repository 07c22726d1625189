"""Budgets and their verdicts, from judgments and runs, and rankings."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
import rankscope as rs
from rankscope._compare.gate.budget import decide
from rankscope._compare.gate.checks import Settings, check_budget
from rankscope._compare.gate.command import parse_budget
from rankscope._compare.promise import MeasureValues
from rankscope._settings import Interval, of_measure
from rankscope._stats.power import estimate_mean, queries_needed
from rankscope._stats.sums import estimate_quantile
from rankscope.testing import assert_not_worse
from scipy.stats import beta

from tests.refusals import refuses, refuses_if

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


def expect(differences, low=-1, level=0.95, **units):
    """Return the ends of a bounded interval with the random numbers of nDCG@10."""
    interval = of_measure(Interval(level), "nDCG@10")
    return estimate_mean(differences, interval=interval, low=low, high=1, **units).ends


def ends(check):
    return check.lower, check.upper


def check_one(budget, baseline, candidate, **settings):
    measure = MeasureValues(
        name="nDCG@10", low=0.0, high=1.0, values=np.array([baseline, candidate], dtype=float)
    )
    (check,) = check_budget(budget, measure, settings=Settings(**settings))
    return check


def test_the_interval_is_that_of_what_is_limited():
    old, new = values(OLD), values(SAME)
    budgets = [rs.Budget("nDCG@10", minimum=limit) for limit in (0.5, 0.999)]
    drop, least, most = rs.gate(QRELS, OLD, SAME, [rs.Budget("nDCG@10", max_drop=0.005), *budgets])
    assert ends(drop) == expect(new - old)
    assert (drop.value, drop.threshold) == ((new - old).mean(), -0.005)
    assert drop.interval_method == "bounded"
    assert (drop.n, drop.slice, drop.clusters, drop.corrected_for) == (120, None, None, 1)
    assert drop.candidate_mean - drop.baseline_mean == pytest.approx(drop.value, abs=1e-15)
    assert ends(least) == ends(most) == expect(new, low=0)
    assert (least.verdict, most.verdict) == ("holds", "broken")
    assert least.value == least.candidate_mean


def test_a_relative_budget_is_the_interval_of_what_is_left():
    (check,) = rs.gate(QRELS, OLD, WORSE, {"nDCG@10": "20%"})
    old, new = values(OLD), values(WORSE)
    lower, upper = expect(new - 0.8 * old, low=-0.8)
    found = (check.threshold, check.value, check.lower, check.upper)
    moved = 0.2 * old.mean()
    expected = (-moved, new.mean() - old.mean(), lower - moved, upper - moved)
    assert found == pytest.approx(expected, rel=1e-12)
    assert check.verdict == decide(lower, upper, 0.0)
    assert f"20% of {old.mean():.4f}" in check.message


@pytest.mark.parametrize("limit", ["max_drop", "max_loss"])
def test_the_limits_at_which_the_verdict_changes_are_the_ends_of_the_interval(limit):
    (check,) = rs.gate(QRELS, OLD, WORSE, rs.Budget("nDCG@10", quantile=0.9, **{limit: 0.1}))
    least, most = -check.upper, -check.lower
    if limit == "max_loss":
        expected = estimate_quantile(values(OLD) - values(WORSE), 0.9, low=-1, high=1)
        assert (check.value, *ends(check)) == (expected.value, expected.lower, expected.upper)
        least, most = ends(check)
    assert 0 < least < most < 1
    for at, verdict in (
        (most, "holds"),
        (math.nextafter(most, 0), "inconclusive"),
        (least, "inconclusive"),
        (math.nextafter(least, 0), "broken"),
    ):
        budget = rs.Budget("nDCG@10", quantile=0.9, **{limit: at})
        assert rs.gate(QRELS, OLD, WORSE, budget).verdict == verdict


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
    (twice,) = check_budget(budget, measure, clusters=clusters)
    assert twice.queries_needed == 2 * once.queries_needed
    assert twice.queries_needed_lower == 2 * once.queries_needed_lower
    assert twice.queries_needed_upper == 2 * once.queries_needed_upper
    assert once.queries_needed_lower < once.queries_needed < once.queries_needed_upper


SHIFTS = np.tile([-0.125, 0.125], 30)


@pytest.mark.parametrize(
    ("limit", "old", "new", "is_planned", "message"),
    [
        (0.3, [0.75] * 10, [0.5] * 10, True, "queries or more show"),
        (0, 0.5 - SHIFTS, 0.5 + SHIFTS, False, "These don't tell how many"),
        (
            0.02,
            [0.5] * 400,
            [0.479 + 0.02 * (-1) ** at for at in range(400)],
            True,
            "and there are 400. More queries may show that it doesn't.",
        ),
    ],
    ids=["no variance", "at the limit", "enough"],
)
def test_the_plan_of_an_odd_sample_says_what_is_known(limit, old, new, is_planned, message):
    check = check_one(rs.Budget("nDCG@10", max_drop=limit), old, new)
    assert (check.verdict, check.queries_needed is not None) == ("inconclusive", is_planned)
    assert (check.queries_needed_lower is not None) == (len(old) == 400)
    assert message in check.message


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
    lower, upper = expect(np.full(count, shift))
    assert lower < shift < upper
    for limit, verdict in ((-lower, "holds"), (math.nextafter(-lower, 0), "inconclusive")):
        budget = rs.Budget("nDCG@10", max_drop=limit)
        interval = Interval(method=method)
        check = check_one(budget, [0.5] * count, [0.5 + shift] * count, interval=interval)
        assert ends(check) == (lower, upper)
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
        assert (check.level, check.corrected_for, check.by) == (1 - 0.05 / 4, 4, "country")
        assert ends(check) == expect((values(WORSE) - values(OLD))[chosen], level=check.level)


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
    assert ends(check) == expect(values(SAME) - values(OLD), clusters=(np.arange(120) // 5)[ORDER])
    assert (result.cluster, check.clusters) == ("user", 24)
    assert "in 24 clusters" in check.message
    by_mapping = dict(zip(QUERIES, ATTRIBUTES["user"], strict=True))
    (other,) = rs.gate(QRELS, OLD, SAME, {"nDCG@10": 0.005}, cluster=by_mapping)
    assert ends(other) == ends(check)


def test_rankings_and_a_table_of_runs_are_gated_as_runs_are():
    budgets = {"nDCG@10": 0.005}
    (expected,) = rs.gate(QRELS, OLD, SAME, budgets).checks
    runs = {"old": OLD, "new": SAME}
    rankings = {name: rs.Rankings.from_run(QRELS, run) for name, run in runs.items()}
    rows = [
        (query, doc, grade, score, name)
        for name, run in runs.items()
        for query, of in run.items()
        for doc, score in of.items()
        for grade in [QRELS[query][doc]]
    ]
    table = pd.DataFrame(rows, columns=["query_id", "doc_id", "relevance", "score", "model"])
    for result in (
        rs.gate(rankings, budgets=budgets),
        rs.gate(rankings, budgets),
        rs.gate(table, "model", budgets),
        rs.gate(table, "model", budgets=budgets),
    ):
        assert (result.baseline, result.candidate) == ("old", "new")
        assert result.checks == (expected,)


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
        ({"minimum": math.inf}, "a finite number"),
        ({"max_loss": 0.1, "quantile": 1}, "quantile between 0 and 1"),
        ({"max_drop": 0.1, "confidence": 95}, "confidence between 0 and 1, found 95"),
        ({"max_drop": 0.1, "on_inconclusive": "passes"}, "unknown value 'passes'"),
        ({"tolerance": -0.1}, "tolerance to be a number of 0 or more"),
        ({"tolerance": math.nan}, "a number of 0 or more"),
        ({"tolerance": 0.1, "max_drop": 0.1}, "exactly one limit"),
        ({"tolerance": 0.1, "by": "country"}, "no slices"),
        ({"tolerance": 0.1, "confidence": 0.9}, "no confidence"),
    ],
)
def test_a_budget_that_cannot_be_meant_is_refused(arguments, message):
    with refuses(rs.UsageError, "bad_budget", match=message) as caught:
        rs.Budget("nDCG@10", **arguments)
    assert caught.value.hint


TABLE = {"query_id": ["q"] * 3, "doc_id": [*"abc"], "relevance": [1, 0, 0], "score": [3, 2, 1]}
OTHER = make_lists(9, "x")[0], {f"q{number}": {"x": 2.0, "y": 1.0} for number in range(9)}
"""Judgments, and a run that has none of their documents."""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((QRELS, OLD, SAME), "expected budgets"),
        ((QRELS, OLD, SAME, {}), "expected budgets"),
        ((QRELS, OLD, SAME, ["nDCG@10"]), "expected budgets"),
        ((QRELS, OLD, SAME, {"nDCG@10": rs.Budget("nDCG@10", max_drop=0.1)}), "0 or more"),
        ((QRELS, OLD, None, {"AP": 0}), "expected judgments, a baseline"),
        ((TABLE, None, None, {"AP": 0}), "expected judgments, a baseline"),
        (({name: rs.Rankings.from_run(QRELS, OLD) for name in "abc"}, {"AP": 0}), "a baseline and"),
        ((rs.compare(QRELS, {"a": OLD, "b": SAME}, "AP"), {"AP": 0}), "expected judgments"),
        ((QRELS, OLD, SAME, {"nDGC@10": 0}), "nDGC"),
        ((QRELS, OLD, SAME, {"GMAP": 0}), "whose values are averaged"),
        ((QRELS, OLD, SAME, {"OrderingLoss@10": 0}), "is an improvement"),
        ((QRELS, OLD, SAME, {"NumRet": 0}), "which of two rankings is better"),
        ((QRELS, OLD, SAME, {"AP": 0}, {"by": "country"}), "country"),
        ((QRELS, OLD, SAME, {"AP": 0}, {"confidence": 1}), "confidence"),
        ((QRELS, OLD, SAME, {"AP": 0}, {"method": "percentile"}), "auto, dense, bounded, t; found"),
        ((QRELS, OLD, SAME, {"AP": 0}, {"names": ("a", "a")}), "2 different names"),
        ((QRELS, OLD, SAME, {"AP": 0}, {"policy": "aggregate=median"}), "aggregate=mean"),
        ((QRELS, OLD, SAME, {"AP": 0}, {"scores": ["old", "new"]}), "scores has no effect"),
        ((QRELS, OLD, SAME, {"AP": 5}), "write '5%' for 5 percent, or 0.01"),
        ((QRELS, OLD, SAME, {"AP": "150%"}), "give a limit that the values can exceed"),
        (
            (QRELS, OLD, SAME, rs.Budget("AP", max_loss=1)),
            "give a limit that the values can exceed",
        ),
        ((QRELS, OLD, SAME, rs.Budget("AP", minimum=40)), "AP: min 40 checks nothing"),
        ((QRELS, OLD, SAME, rs.Budget("AP", tolerance=0.1)), "each query has a value of it"),
        ((QRELS, OLD, SAME, rs.Budget("Coverage", max_drop=0.1)), "of all lists together"),
        ((QRELS, OLD, SAME, rs.Budget("Coverage", minimum=0.1)), "of all lists together"),
        ((QRELS, OLD, SAME, rs.Budget("Coverage", max_loss=0.1)), "of all lists together"),
        ((QRELS, OLD, SAME, rs.Budget("Coverage", tolerance=1)), "from 0 to 1"),
        ((QRELS, OLD, SAME, rs.Budget("Coverage", tolerance=5)), "write '5%' for 5 percent"),
        ((QRELS, OLD, SAME, rs.Budget("Coverage", tolerance="100%")), "drop by more than itself"),
        ((*OTHER, OTHER[1], {"RR": 0.1}), "of the documents of baseline is judged"),
        ((*OTHER, {"q0": {"z": 1.0}}, {"RR": 0.1}), "of the documents of baseline is judged"),
        ((*OTHER, make_lists(10)[1], {"RR": 0.1}), "of the documents of baseline is judged"),
        (({"q": {"a": 1}}, {"q": {}}, {"q": {}}, {"RR": 0.1}), "documents of baseline is judged"),
    ],
)
def test_a_gate_that_cannot_be_meant_is_refused(arguments, message):
    *given, last = arguments
    options = last if len(arguments) == 5 else {}
    with pytest.raises(rs.UsageError, match=message) as caught:
        rs.gate(*(given if options else arguments), **options)
    assert caught.value.hint
    assert caught.value.exit_status == 2


def test_one_judged_document_of_the_baseline_is_enough_for_a_verdict():
    qrels, run = OTHER
    baseline = run | {"q8": {"x": 2.0, "y": 1.0, "a": 0.5}}
    assert rs.gate(qrels, baseline, run, {"RR": 0.1}).verdict == "inconclusive"


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
    with pytest.raises(rs.errors.EmptyError, match="no query has a value"):
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
        ("max-drop", "nDCG@10", None),
        ("max-drop", "0.005", None),
        ("max-drop", "=0.005", None),
        ("max-drop", "nDCG@10=little", None),
        ("max-loss", "p9x:nDCG@10=0.3", None),
        ("max-loss", "nDCG@10=3%", None),
        ("min", "nDCG@10=40%", None),
    ],
)
def test_the_options_of_budgets_are_read_or_refused(kind, text, expected):
    with refuses_if(expected is None, rs.UsageError, match=f"cannot read --{kind}"):
        assert parse_budget(kind, text) == expected


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
