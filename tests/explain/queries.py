"""Generated queries with a measure of cumulated gain and a policy, and what evaluates them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import strategies as st
from rankscope import Policy, Rankings

from tests.invariance.lists import Judged, judged_queries
from tests.invariance.variants import VARIANTS

if TYPE_CHECKING:
    from rankscope import Measure

EXPLAINED = [one for one in VARIANTS if one.row.name in {"nDCG", "DCG", "IDCG", "CG"}]


def policies() -> st.SearchStrategy[Policy]:
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


def rank(judged: Judged, policy: Policy) -> Rankings:
    """Rank a query among others, so that its place matters."""
    qrels = {"before": {"a": 1, "z": 4}, "query": judged.grades, "after": {"b": 0.5}}
    run = {"after": {"a": 1.0, "b": 1.0}, "query": judged.scores, "before": {"z": 1.0}}
    return Rankings.from_run(qrels, run, ties=policy.ties)


def evaluate(rankings: Rankings, measure: Measure, policy: Policy) -> float:
    """Return the value of the query."""
    values = rankings.evaluate(measure, policy=policy).per_query_list(measure)
    return values[rankings.query_ids.index("query")]


CASES = (judged_queries(), st.sampled_from(EXPLAINED), policies())
