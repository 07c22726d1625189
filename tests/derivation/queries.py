"""Generated queries with a measure of cumulated gain and a policy, and what evaluates them."""

from __future__ import annotations

import math
from array import array

from hypothesis import assume, reject
from hypothesis import strategies as st
from rankscope import Policy, Rankings, RankscopeError
from rankscope._explain.explanation import Derivation

from tests.invariance.lists import judged_queries
from tests.invariance.variants import VARIANTS

RELEVANCE = [one for one in VARIANTS if one.row.name in {"AP", "RR", "P", "R"}]
EXPLAINED = [one for one in VARIANTS if one.row.name in {"nDCG", "DCG", "IDCG", "CG"}]


def policies():
    """Policies that change values of cumulated gain."""
    return st.builds(
        Policy,
        ties=st.sampled_from(["doc_id", "doc_id_asc", "input", "best", "worst", "average"]),
        empty=st.sampled_from(["zero", "one", "nan", "skip"]),
        unjudged=st.sampled_from(["nonrelevant", "remove", 0.25, 2]),
        unretrieved=st.sampled_from(["count", "ignore"]),
        negative=st.sampled_from(["nonrelevant", "gain", "minmax"]),
        missing_gain=st.sampled_from([None, -1, 0.5]),
    )


def rank(judged, policy):
    """Rank a query among others, so that its place matters."""
    qrels = {"before": {"a": 1, "z": 4}, "query": judged.grades, "after": {"b": 0.5}}
    run = {"after": {"a": 1.0, "b": 1.0}, "query": judged.scores, "before": {"z": 1.0}}
    return Rankings.from_run(qrels, run, ties=policy.ties)


def evaluate(rankings, measure, policy):
    values = rankings.evaluate(measure, policy=policy).per_query_list(measure)
    return values[rankings.query_ids.index("query")]


def bits(*values):
    """What tells two numbers apart, NaN included; zeros have one sign."""
    return array("d", [value + 0.0 if value == value else math.nan for value in values]).tobytes()  # noqa: PLR0124 - NaN alone differs


def attempt(ask):
    """What is answered, or the code of the refusal."""
    try:
        return ask()
    except RankscopeError as error:
        return error.code


def explain(judged, measure, policy):
    """Explain a query as it is evaluated: one value, or one refusal, which ends the test."""
    rankings = rank(judged, policy)
    value = attempt(lambda: evaluate(rankings, measure, policy))
    explanation = attempt(lambda: rankings.explain("query", measure, policy=policy))
    if explanation == "not_explained":  # ties of AP or RR whose order matters
        assert policy.ties == "average"
        assert measure.row.name in {"AP", "RR"}
        reject()
    assume(isinstance(explanation, Derivation) or explanation != value)
    assert isinstance(explanation, Derivation)
    assert isinstance(value, float)
    assert bits(explanation.value) == bits(value)
    return explanation


CASES = (judged_queries(), st.sampled_from(EXPLAINED), policies())
OF_RELEVANCE = (judged_queries(), st.sampled_from(RELEVANCE), policies())
BOTH = (judged_queries(), st.sampled_from([*EXPLAINED, *RELEVANCE]), policies())
