"""Policies, averages over ties, gains, means and counts are those of plain definitions."""

from __future__ import annotations

import itertools
import math
import statistics
from fractions import Fraction
from math import log2

import numpy as np
import pytest
import rankscope as rs
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from rankscope import AP, CG, DCG, ERR, RBP, RR, F, Judged, P, Policy, R, Rprec, Success, nDCG
from rankscope._settings import CHOICES, FIELDS
from rankscope.errors import MeasureError, PolicyError, RankscopeError

from tests.generated import examples
from tests.invariance.lists import Judged as JudgedQuery
from tests.invariance.lists import judged_queries
from tests.invariance.variants import VARIANTS
from tests.reference import mean
from tests.refusals import refuses

MEASURES = VARIANTS[::7]
CUTOFFS = sorted({variant.k for variant in MEASURES if variant.k is not None})

batches = st.lists(
    st.tuples(judged_queries(), st.sampled_from(["both", "both", "missing", "run only"])),
    max_size=5,
)
# Averages over ties, gains between the worst and the best order, and other aggregates than the mean
# are tested against definitions of their own.
PLAIN = {
    name: [value for value in values if value not in {"average", "minmax"}]
    for name, values in CHOICES.items()
    if name in FIELDS and name != "aggregate"
}
policies = st.builds(Policy, **{name: st.sampled_from(values) for name, values in PLAIN.items()})
FIRST = JudgedQuery({"a": 1.0, "b": 1.0}, {"a": 1.0})


class Batch:
    """Queries that are judged, retrieved, or both; the first is always both."""

    def __init__(self, entries):
        named = {f"q{number}": entry for number, entry in enumerate([(FIRST, "both"), *entries])}
        self.judged = {q: one for q, (one, side) in named.items() if side != "run only"}
        self.missing = {q for q, (_, side) in named.items() if side == "missing"}
        self.run = {q: one.scores for q, (one, side) in named.items() if side != "missing"}

    @property
    def qrels(self):
        return {query: one.grades for query, one in self.judged.items()}

    def present(self):
        return [one for query, one in self.judged.items() if query not in self.missing]


class Refused(Exception):  # noqa: N818 - it says what is expected, not what went wrong
    """A policy asks for an error of this code."""

    def __init__(self, code):
        super().__init__(code)
        self.code = code


def check(batch, policy):
    """Refuse what the policy refuses before any value is made."""
    grades = [grade for one in batch.judged.values() for grade in one.grades.values()]
    if policy.negative == "error" and min(grades) < 0:
        raise Refused("negative_gain")
    if policy.missing == "error" and batch.missing:
        raise Refused("missing_query")


def values_of(batch, policy):
    """The value of each judged query by measure, `None` where it takes no part."""
    rows = []
    for query, one in batch.judged.items():
        if query not in batch.missing:
            rows.append(one.values(MEASURES, policy))
        elif policy.missing == "zero":
            rows.append(JudgedQuery({}, one.grades).values(MEASURES, policy))
        else:
            rows.append([])
    table = {}
    for at, measure in enumerate(MEASURES):
        table[measure] = [fill(row[at], policy) if row else None for row in rows]
    return table


def fill(value, policy):
    """What a query counts as, by its value."""
    if not math.isnan(value):
        return value
    if policy.empty == "error":
        raise Refused("empty_query")
    return {"zero": 0.0, "one": 1.0, "nan": math.nan, "skip": None}[policy.empty]


def define(batch, policy):
    """The code of the error that is due, or the values."""
    try:
        check(batch, policy)
        return "", values_of(batch, policy)
    except Refused as refused:
        return refused.code, {}


@given(entries=batches, policy=policies)
@examples(30)
@example(entries=[], policy=Policy(empty="skip"))
def test_values_means_and_denominators_are_those_of_the_definition(entries, policy):
    batch = Batch(entries)
    refused, expected = define(batch, policy)
    if refused:
        with refuses(RankscopeError, refused):
            rs.evaluate(batch.qrels, batch.run, MEASURES, policy=policy)
        return
    evaluation = rs.evaluate(batch.qrels, batch.run, MEASURES, policy=policy)
    assert evaluation.query_ids == list(batch.judged)
    for measure, values in expected.items():
        found = evaluation.per_query_list(measure)
        shown = [math.nan if value is None else value for value in values]
        assert list(map(repr, found)) == list(map(repr, shown)), measure
        taking_part = [value for value in values if value is not None]
        assert evaluation.denominators[measure.name] == len(taking_part), measure
        assert repr(evaluation[measure]) == repr(mean(taking_part, measure.row.mean)), measure


@given(entries=batches, policy=policies)
@examples(30)
def test_counts_are_those_of_the_definition(entries, policy):
    batch = Batch(entries)
    refused, _ = define(batch, policy)
    assume(not refused)
    counts = rs.evaluate(batch.qrels, batch.run, MEASURES, policy=policy).counts
    judged = batch.judged.values()
    assert counts.queries == len(judged)
    assert counts.missing == len(batch.missing)
    assert counts.run_only == len(batch.run.keys() - batch.judged.keys())
    assert counts.empty == sum(max(one.grades.values()) <= 0 for one in judged)
    assert counts.tied == sum(map(is_tied, batch.present()))
    left_out = len(batch.missing) if policy.missing == "skip" else 0
    assert counts.evaluated == len(judged) - left_out
    rankings = [one.ranking(policy.ties) for one in batch.present()]
    assert list(counts.retrieved_at_k) == list(counts.unjudged_at_k) == [*CUTOFFS, None]
    for k in (*CUTOFFS, None):
        shown = [grade for ranking in rankings for grade in ranking[:k]]
        assert counts.retrieved_at_k[k] == len(shown)
        assert counts.unjudged_at_k[k] == shown.count(None)


def is_tied(one):
    """Whether a judged document shares its score with another."""
    scores = list(one.scores.values())
    return any(
        scores.count(one.scores[document]) > 1 for document in one.scores.keys() & one.grades
    )


@given(queries=st.lists(judged_queries(), min_size=1, max_size=3), policy=policies)
@examples(30)
def test_rankings_count_as_an_evaluation_does(queries, policy):
    batch = Batch([(one, "both") for one in queries])
    allowed = Policy(ties=policy.ties, missing=policy.missing, unjudged=policy.unjudged)
    direct = rs.evaluate(batch.qrels, batch.run, MEASURES, policy=allowed)
    rankings = rs.Rankings.from_run(batch.qrels, batch.run, ties=policy.ties)
    held = rankings.evaluate(MEASURES, policy=allowed)
    assert held.counts == direct.counts
    assert dict(held) == dict(direct)
    assert held.to_dict() == direct.to_dict()


AVERAGED = [nDCG @ 3, nDCG, DCG @ 2, CG @ 2, AP, AP @ 3, RR, P @ 2, R @ 3, F @ 2, Success @ 2]
AVERAGED += [RBP, Judged @ 2, Rprec, nDCG(gain="exp2", judged_only=True) @ 2]
AVERAGED += [nDCG(gain="binary") @ 2, nDCG(ideal="whole") @ 2, nDCG(ideal="slots") @ 3]
AVERAGED += [AP(denominator="found"), P(denominator="retrieved") @ 4]
AVERAGED += [AP(denominator=name) @ 2 for name in ("reachable", "cutoff", "found")]
AVERAGED += [AP(denominator="found") @ k for k in (1, 3, 4)]
AVERAGED += [R(denominator="reachable") @ 2]

grades = st.none() | st.integers(0, 3)
tied_lists = st.lists(st.tuples(st.integers(0, 2), grades), min_size=1, max_size=5)


def orders(docs):
    """Every order of the documents in which no score is above the one before it."""
    ranked = sorted(docs, key=lambda doc: -doc[0])
    groups = itertools.groupby(ranked, key=lambda doc: doc[0])
    permuted = [list(itertools.permutations(group)) for _, group in groups]
    return [list(itertools.chain(*choice)) for choice in itertools.product(*permuted)]


def values(docs, policy):
    qrels = {
        "q": {f"d{place}": grade for place, (_, grade) in enumerate(docs) if grade is not None}
    }
    qrels["q"]["elsewhere"] = 2
    run = {"q": {f"d{place}": float(score) for place, (score, _) in enumerate(docs)}}
    evaluation = rs.evaluate(qrels, run, AVERAGED, policy=policy)
    return list(evaluation.values())


@examples(60)
@given(docs=tied_lists)
def test_an_average_is_the_mean_over_all_orders_of_ties(docs):
    found = values(docs, Policy(ties="average"))
    every = [values(order, Policy(ties="input")) for order in orders(docs)]
    expected = [math.fsum(column) / len(every) for column in zip(*every, strict=True)]
    assert found == pytest.approx(expected, abs=1e-12)


def test_without_ties_an_average_is_the_value_itself():
    docs = [(3, 1), (2, None), (1, 3), (0, 0)]
    assert values(docs, Policy(ties="average")) == values(docs, Policy(ties="doc_id"))


@settings(deadline=None)
@given(
    scores=st.lists(st.integers(0, 4), min_size=1, max_size=30),
    of_score=st.lists(st.sampled_from([None, 0.0, 0.1, 1.0, 2.5, 3.0]), min_size=5, max_size=5),
    unjudged=st.sampled_from(["nonrelevant", 0.1]),
)
def test_where_tied_documents_have_one_grade_an_average_is_the_value_of_any_order(
    scores, of_score, unjudged
):
    qrels = {f"d{at}": grade for at, s in enumerate(scores) if (grade := of_score[s]) is not None}
    run = {"q": {f"d{at}": float(score) for at, score in enumerate(scores)}}
    found = {
        ties: rs.evaluate(
            {"q": qrels | {"x": 1}}, run, AVERAGED, policy=Policy(ties=ties, unjudged=unjudged)
        )
        for ties in ("average", "input")
    }
    assert dict(found["average"]) == dict(found["input"])


@pytest.mark.parametrize("count", [2, 3, 7, 50, 1000])
@pytest.mark.parametrize("grade", [1, 3, 0.1, 0.7])
def test_a_tie_of_one_grade_is_perfect(grade, count):
    assert rs.ndcg_score([[grade] * count], [[0.5] * count]) == 1
    assert rs.ndcg_score([[grade] * count], [[0.5] * count], k=count - 1) == 1


def test_a_measure_without_an_exact_average_is_refused():
    with refuses(PolicyError, "ties_unavailable", match="ERR"):
        rs.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, [ERR @ 10], policy="ties=average")


def one(qrels, run, measure, policy):
    scores = {doc: -float(rank) for rank, doc in enumerate(run)}
    return rs.evaluate({"q": qrels}, {"q": scores}, measure, policy=policy)[measure]


def test_missing_documents_have_the_gain_that_is_asked_for():
    policy = Policy(missing_gain=-1)
    found = one({"a": 3, "b": 1}, ["b", "a"], DCG @ 4, policy)
    assert found == 1 / log2(2) + 3 / log2(3) - 1 / log2(4) - 1 / log2(5)
    assert one({"a": 3}, ["a"], CG @ 3, policy) == 3 - 1 - 1
    assert one({"a": 3}, ["a"], DCG, policy) == 3


def test_unjudged_documents_have_the_gain_that_is_asked_for():
    found = one({"a": 2, "b": 1}, ["x", "b", "y"], DCG @ 2, Policy(unjudged=0.5))
    assert found == 0.5 / log2(2) + 1 / log2(3)
    own = nDCG(ideal="retrieved") @ 3
    best = 2 / log2(2) + 0.5 / log2(3)
    assert one({"a": 2}, ["x", "a"], own, Policy(unjudged=0.5)) == pytest.approx(
        (0.5 / log2(2) + 2 / log2(3)) / best
    )


def test_bad_documents_are_between_the_worst_order_and_the_best():
    qrels = {"a": 2.0, "b": -1.0, "c": 1.0}
    best = 2 / log2(2) + 1 / log2(3) - 1 / log2(4)
    worst = -1 / log2(2) + 1 / log2(3) + 2 / log2(4)
    policy = Policy(negative="minmax")
    assert one(qrels, ["a", "c", "b"], nDCG @ 3, policy) == 1
    assert one(qrels, ["b", "c", "a"], nDCG @ 3, policy) == 0
    between = -1 / log2(2) + 2 / log2(3) + 1 / log2(4)
    assert one(qrels, ["b", "a", "c"], nDCG @ 3, policy) == pytest.approx(
        (between - worst) / (best - worst), abs=1e-15
    )


def test_gains_of_policies_enter_the_list_and_not_an_ideal_of_judged_documents_or_slots():
    policy = Policy(unjudged=0.5, missing_gain=-1)
    listed = 0.5 / log2(2) + 1 / log2(3) - 1 / log2(4)
    for ideal, best in (
        ("judged", 2 / log2(2) + 1 / log2(3)),
        ("whole", 2 / log2(2) + 1 / log2(3)),
        ("slots", 1 / log2(2) + 1 / log2(3) + 1 / log2(4)),
    ):
        measure = nDCG(ideal=ideal) @ 3
        assert one({"a": 2, "b": 1}, ["x", "b"], measure, policy) == listed / best


@pytest.mark.parametrize("ideal", ["whole", "slots"])
def test_an_ideal_without_a_worst_order_has_no_minmax(ideal):
    with refuses(PolicyError, "minmax_unavailable", match="worst order"):
        one({"a": 2, "b": -1}, ["b"], nDCG(ideal=ideal) @ 3, Policy(negative="minmax"))


@pytest.mark.parametrize(
    ("measure", "policy"),
    [(nDCG(ideal="slots") @ (10**7 + 1), Policy()), (DCG @ 10**18, Policy(missing_gain=1))],
)
def test_gains_at_more_ranks_than_can_be_counted_are_refused(measure, policy):
    with refuses(MeasureError, "bad_parameter", match="at most 10000000"):
        one({"a": 1}, ["a"], measure, policy)


def test_the_mean_over_those_found_is_exact_where_the_cutoff_splits_a_long_tie():
    size, relevant, k = 400, 150, 100
    qrels = {"q": {f"d{place}": int(place < relevant) for place in range(size)}}
    run = {"q": {f"d{place}": 1.0 for place in range(size)}}
    measure = AP(denominator="found") @ k
    # By linearity, given how many are drawn into the first k ranks.
    expected = Fraction(0)
    for drawn in range(1, k + 1):
        ways = math.comb(relevant, drawn) * math.comb(size - relevant, k - drawn)
        precisions = sum(
            Fraction(drawn, k) * (1 + Fraction((rank - 1) * (drawn - 1), k - 1)) / rank
            for rank in range(1, k + 1)
        )
        expected += Fraction(ways, math.comb(size, k)) * precisions / drawn
    found = rs.evaluate(qrels, run, measure, policy="ties=average")[measure]
    assert found == pytest.approx(float(expected), rel=1e-12)


def test_ratios_of_sums_have_the_denominators_that_are_asked_for():
    qrels = {"x": {"a": 1, "b": 1, "c": 1}, "y": {"a": 1}, "z": {"a": 0}}
    run = {"x": {"a": 2.0}, "y": {"n": 2.0, "a": 1.0}, "z": {"a": 1.0}}
    measures = [P(denominator="retrieved") @ 2, R(denominator="reachable") @ 2]
    measures += [nDCG(ideal="slots") @ 2]
    found = rs.evaluate(qrels, run, measures, policy="aggregate=ratio_of_sums")
    slots = 1 + 1 / log2(3)
    expected = [(1 + 1) / (1 + 2), (1 + 1) / (2 + 1), (1 + 1 / log2(3)) / (slots + slots)]
    assert list(found.values()) == pytest.approx(expected, rel=1e-15)


def test_the_base_of_a_logarithm_cancels_in_every_ideal_that_is_discounted_by_it():
    qrels = {"a": 3.0, "b": 2.0, "c": 1.0, "d": 0.0}
    for ideal in ("judged", "retrieved", "whole", "slots"):
        natural = nDCG(ideal=ideal, discount="log", base=2.718281828459045) @ 3
        with_log2 = one(qrels, ["c", "d", "a", "x", "b"], nDCG(ideal=ideal) @ 3, Policy())
        found = one(qrels, ["c", "d", "a", "x", "b"], natural, Policy())
        assert found == pytest.approx(with_log2, rel=1e-12)


def aggregated(aggregate):
    """The aggregate of RR over queries with these values."""
    ranks = {"q0": 2, "q1": 4, "q2": 1, "q3": 8}
    qrels = {query: {"d": 1} for query in ranks}
    run = {
        query: {"d": 0.0} | {f"x{place}": float(place + 1) for place in range(rank - 1)}
        for query, rank in ranks.items()
    }
    return rs.evaluate(qrels, run, "RR", policy=Policy(aggregate=aggregate))["RR"]


def test_aggregates_are_their_definitions():
    of = [1 / 2, 1 / 4, 1, 1 / 8]
    assert aggregated("mean") == statistics.fmean(of)
    assert aggregated("geometric") == pytest.approx(statistics.geometric_mean(of), abs=1e-15)
    assert aggregated("harmonic") == statistics.harmonic_mean(of)
    assert aggregated("median") == statistics.median(of)
    for share in (0.1, 0.25, 0.6, 1.0):
        assert aggregated(f"quantile({share})") == pytest.approx(np.quantile(of, share), abs=1e-15)
    assert aggregated("tail_mean(0.5)") == (1 / 8 + 1 / 4) / 2
    assert aggregated("tail_mean(0.25)") == 1 / 8
    assert aggregated("tail_mean(1)") == pytest.approx(statistics.fmean(of), abs=1e-15)


def test_a_ratio_of_sums_is_one():
    qrels = {"x": {"c": 1, "d": 1, "e": 1}, "y": {"a": 1, "c": 1, "e": 1}, "z": {"a": 1}}
    run = {query: {doc: -float(rank) for rank, doc in enumerate("abcde")} for query in "xyz"}
    policy = Policy(aggregate="ratio_of_sums")
    evaluation = rs.evaluate(qrels, run, DCG, policy="aggregate=mean")
    ideal = rs.evaluate(qrels, run, rs.IDCG)["IDCG"]
    found = rs.evaluate(qrels, run, nDCG, policy=policy)["nDCG"]
    assert found == pytest.approx(evaluation["DCG"] / ideal, abs=1e-15)


def test_a_measure_that_is_no_ratio_has_no_ratio_of_sums():
    with refuses(PolicyError, "aggregate_unavailable", match="RR"):
        aggregated("ratio_of_sums")


@pytest.mark.parametrize(
    "text", ["quantile", "quantile(0)", "quantile(2)", "quantile(x)", "tail_mean(0.1", "mode", ""]
)
def test_what_is_no_aggregate_is_refused(text):
    with pytest.raises(PolicyError, match="expected"):
        Policy(aggregate=text)


@pytest.mark.parametrize("gain", [math.nan, math.inf, True, "x"])
def test_gains_of_policies_are_numbers(gain):
    for name in ("missing_gain", "unjudged"):
        with pytest.raises(PolicyError, match="expected"):
            Policy(**{name: gain})


def test_a_policy_reads_what_it_prints():
    policy = Policy(ties="average", unjudged=0.5, missing_gain=-1.0, aggregate="quantile(0.25)")
    assert Policy.parse(str(policy)) == policy
