"""Ask RecTools: `… -m dev.parity.peers.rectools.measure ANSWERS`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pandas as pd
from rectools import Columns
from rectools.metrics import MAP, MRR, NDCG, HitRate, Precision, Recall

from dev.parity.answers import Answers, at, publish

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rectools.metrics.base import MetricAtK

    from dev.parity.answers import Found
    from dev.parity.cases import Case

CUTOFFS = (1, 3, 5, 10)
OTHERS = {"AP": MAP, "RR": MRR, "P": Precision, "R": Recall, "Success": HitRate}


def measure(cases: list[Case]) -> Iterable[Answers]:
    """Ask for nDCG in its two forms, and for the measures that have one form."""
    for convention, achievable in (("rectools", False), ("rectools_achievable", True)):
        answers = Answers(
            "rectools",
            convention,
            f"NDCG(k, divide_by_achievable={achievable}).calc(reco, interactions), the documents "
            "with a grade above 0 as interactions",
        )
        metrics: dict[str, MetricAtK] = {
            at("nDCG", k): NDCG(k, divide_by_achievable=achievable) for k in CUTOFFS
        }
        if not achievable:
            metrics |= {at(name, k): make(k) for name, make in OTHERS.items() for k in CUTOFFS}
        for case in cases:
            reco, interactions = frames(case)
            for name, metric in metrics.items():
                answers.ask_at_once(
                    case, [name], partial(evaluate, name, metric, reco, interactions)
                )
        yield answers


def frames(case: Case) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Recommendations with ranks, and interactions."""
    reco = [
        (query, document, rank)
        for query in case.run
        for rank, document in enumerate(case.ranked(query), start=1)
    ]
    interactions = [(query, document) for query in case.qrels for document in case.relevant(query)]
    return (
        pd.DataFrame(reco, columns=[Columns.User, Columns.Item, Columns.Rank]),
        pd.DataFrame(interactions, columns=Columns.UserItem),
    )


def evaluate(name: str, metric: MetricAtK, reco: pd.DataFrame, interactions: pd.DataFrame) -> Found:
    """Evaluate one metric: its mean, and its values by user."""
    by_user = metric.calc_per_user(reco, interactions)
    return {name: (float(metric.calc(reco, interactions)), by_user.to_dict())}


if __name__ == "__main__":
    publish(measure)
