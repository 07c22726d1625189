"""Ask polars-ds: `… -m dev.parity.peers.polars_ds.measure ANSWERS`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import polars as pl
import polars_ds as pds

from dev.parity.answers import Answers, at, publish

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dev.parity.answers import Found
    from dev.parity.cases import Case

CUTOFFS = (None, 1, 3, 5, 10)


def measure(cases: list[Case]) -> Iterable[Answers]:
    """Ask for nDCG, as an expression over the rows of each query."""
    answers = Answers(
        "polars-ds", "polars_ds", "query_ndcg_score(relevance, score, k=k) in a group_by().agg()"
    )
    for case in filter(lambda case: case.complete, cases):
        for k in CUTOFFS:
            answers.ask_at_once(case, [at("nDCG", k)], partial(evaluate, case, k))
    yield answers


def evaluate(case: Case, k: int | None) -> Found:
    """Evaluate one cutoff, by query and as the mean of its column."""
    frame = pl.DataFrame(
        [
            (query, grade, score)
            for query in case.run
            for grade, score in zip(case.grades(query), case.scores(query), strict=True)
        ],
        schema={"query": pl.String, "relevance": pl.Float64, "score": pl.Float64},
        orient="row",
    )
    by_query = frame.group_by("query", maintain_order=True).agg(
        value=pds.query_ndcg_score("relevance", "score", k=k)
    )
    values = dict(by_query.select("query", "value").iter_rows())
    return {at("nDCG", k): (by_query.select(pl.col("value").mean()).item(), values)}


if __name__ == "__main__":
    publish(measure)
