"""Ask RePlay: `… -m dev.parity.peers.replay.measure ANSWERS`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pandas as pd
from replay.metrics import MAP, MRR, NDCG, HitRate, PerUser, Precision, Recall

from dev.parity.answers import Answers, at, publish

if TYPE_CHECKING:
    from collections.abc import Iterable

    from replay.metrics.base_metric import Metric

    from dev.parity.answers import Found
    from dev.parity.cases import Case

CUTOFFS = (1, 3, 5, 10)
METRICS = {"nDCG": NDCG, "AP": MAP, "RR": MRR, "P": Precision, "R": Recall, "Success": HitRate}


def measure(cases: list[Case]) -> Iterable[Answers]:
    """Ask for every metric as a mean, and by user."""
    answers = Answers(
        "replay-rec",
        "replay",
        "NDCG(k)(recommendations, ground_truth) of pandas frames, the documents with a grade above "
        "0 as ground truth",
    )
    for case in cases:
        frames = recommendations(case), truth(case)
        for name, metric in METRICS.items():
            names = [at(name, k) for k in CUTOFFS]
            answers.ask_at_once(case, names, partial(evaluate, name, metric, frames))
    yield answers


def recommendations(case: Case) -> pd.DataFrame:
    """The run as a frame."""
    rows = [(q, document, score) for q, row in case.run.items() for document, score in row.items()]
    return pd.DataFrame(rows, columns=["query_id", "item_id", "rating"])


def truth(case: Case) -> pd.DataFrame:
    """The relevant documents as a frame."""
    rows = [(query, document) for query in case.qrels for document in case.relevant(query)]
    return pd.DataFrame(rows, columns=["query_id", "item_id"])


def evaluate(name: str, metric: type[Metric], frames: tuple[pd.DataFrame, pd.DataFrame]) -> Found:
    """Evaluate one metric at every cutoff."""
    means = metric(list(CUTOFFS))(*frames)
    by_user = metric(list(CUTOFFS), mode=PerUser())(*frames)
    return {
        at(name, k): (
            float(means[f"{metric.__name__}@{k}"]),
            by_user[f"{metric.__name__}-PerUser@{k}"],
        )
        for k in CUTOFFS
    }


if __name__ == "__main__":
    publish(measure)
