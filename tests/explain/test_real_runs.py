"""Explanations of every query of a real run."""

from __future__ import annotations

import pytest
from rankscope import Rankings

from tests.parity.real import DATA

QRELS = DATA / "robust04" / "robust04.qrels"
RUN = DATA / "robust04" / "robust04.bm25.top150.run"


@pytest.mark.skipif(not QRELS.exists(), reason="the run of Robust04 is not here")
@pytest.mark.parametrize(
    ("measure", "ties"),
    [("nDCG@10", "average"), ("nDCG(gain='exp2', judged_only=True)", "doc_id"), ("P@20", "doc_id")],
)
def test_each_value_is_that_of_the_evaluation(measure: str, ties: str) -> None:
    rankings = Rankings.from_run(QRELS, RUN, ties=ties)  # type: ignore[arg-type]  # one of them
    values = rankings.evaluate(measure).per_query_list(measure)
    explained = [rankings.explain(query, measure) for query in rankings.query_ids]
    assert [explanation.value for explanation in explained] == values
    assert all(len(str(explanation)) < 20_000 for explanation in explained)
