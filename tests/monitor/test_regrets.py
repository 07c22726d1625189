"""Regrets of documents add up to what a value lacks."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest
import rankscope as rs
from hypothesis import given
from hypothesis import strategies as st
from rankscope import DCG, Measure, Policy, Rankings, nDCG
from rankscope.monitor.ask.regrets import find_regrets

from tests.refusals import refuses

QRELS = {"q1": {"a": 3, "b": 1, "c": 1, "d": 2}, "q2": {"f": 1, "g": 1}, "empty": {"x": 0}}
RUN = {"q1": {"b": 4.0, "x": 3.0, "a": 2.0, "c": 1.0}, "q2": {"g": 1.0}, "empty": {"x": 1.0}}
POLICIES = ["ties=average", "ties=average,unjudged=remove", "unjudged=0.5", "negative=gain"]
POLICIES += ["missing=skip", "unretrieved=ignore"]
LOSSES = ("retrieval", "truncation", "ordering", "undefined")


def definition(ranking: Sequence[str], grades: dict[str, float], k: int | None) -> dict[str, float]:
    """The regret of each document with a gain, by its definition."""
    weights = [0 if k and rank > k else 1 / math.log2(rank + 1) for rank in range(1, 20)]
    best = sorted(grades, key=lambda doc: -grades[doc])
    ideal = math.fsum(grades[doc] * weights[at] for at, doc in enumerate(best))
    regrets = {}
    for doc, grade in grades.items():
        if grade == 0:
            continue
        places = [at for at, other in enumerate(best) if grades[other] == grade]
        wanted = math.fsum(weights[at] for at in places) / len(places)
        found = weights[ranking.index(doc)] if doc in ranking else 0.0
        regrets[doc] = grade * (wanted - found) / ideal
    return regrets


@pytest.mark.parametrize("k", [None, 1, 2, 3])
def test_regrets_are_those_of_the_definition(k: int | None) -> None:
    rankings = Rankings.from_run(QRELS, RUN)
    found = find_regrets(rankings, nDCG(k=k), Policy())
    rows = list(zip(found.queries, found.ranks, found.grades, found.regrets, strict=True))
    expected = []
    for at, query in enumerate(rankings.query_texts):
        grades = {doc: float(grade) for doc, grade in QRELS[query].items()}
        listed = list(RUN[query])
        for doc, regret in definition(listed, grades, k).items() if any(grades.values()) else ():
            rank = listed.index(doc) + 1 if doc in listed else 0
            expected.append((at, rank, grades[doc], pytest.approx(regret, abs=1e-15)))
    assert sorted(rows, key=lambda row: row[:3]) == sorted(expected, key=lambda row: row[:3])


scores = st.sampled_from([0.0, 1.0, 1.0, 2.0, 3.0])
lists = st.dictionaries(st.sampled_from("abcdefgh"), scores, max_size=7)
judgments = st.dictionaries(
    st.sampled_from("abcdefgh"), st.sampled_from([-1, 0, 1, 2, 3]), min_size=1
)


@given(
    qrels=st.fixed_dictionaries({"q0": judgments, "q1": judgments}),
    run=st.dictionaries(st.sampled_from(["q0", "q1"]), lists, min_size=1).filter(
        lambda run: any(run.values())
    ),
    measure=st.sampled_from(
        [
            nDCG @ 3,
            nDCG,
            nDCG(gain="exp2", discount="reciprocal") @ 2,
            nDCG(gain="binary") @ 4,
            nDCG(ideal="retrieved") @ 3,
            nDCG(ideal="whole") @ 2,
            nDCG(judged_only=True) @ 3,
            DCG @ 4,
            rs.CG @ 3,
        ]
    ),
    policy=st.sampled_from(["", *POLICIES]),
)
def test_regrets_add_up_to_the_losses(
    qrels: dict[str, dict[str, int]],
    run: dict[str, dict[str, float]],
    measure: Measure,
    policy: str,
) -> None:
    ties = "average" if "average" in policy else "doc_id"
    made = Rankings.from_run(qrels, run, ties=ties)  # type: ignore[arg-type]  # one of two
    losses = made.losses(measure, policy=f"{policy},empty=skip".strip(","))
    found = find_regrets(made, measure, rs.Policy.parse(policy))
    lacking = sum(losses.array(name) for name in LOSSES)
    for at, expected in enumerate(lacking.tolist()):
        total = math.fsum(found.regrets[found.queries == at].tolist())
        assert total == pytest.approx(0 if math.isnan(expected) else expected, abs=1e-12)


@pytest.mark.parametrize("measure", ["AP", "nDCG(ideal='slots')@3"])
def test_what_is_no_sum_over_documents_is_refused(measure: str) -> None:
    (asked,) = rs.evaluate(QRELS, RUN, measure).measures
    with refuses(rs.UsageError, "regrets_unavailable"):
        find_regrets(Rankings.from_run(QRELS, RUN), asked, Policy())
