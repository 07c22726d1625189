"""Ask TorchMetrics: `… -m dev.parity.peers.torchmetrics.measure ANSWERS`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import torch
from torchmetrics.retrieval import (
    RetrievalHitRate,
    RetrievalMAP,
    RetrievalMRR,
    RetrievalNormalizedDCG,
    RetrievalPrecision,
    RetrievalRecall,
)

from dev.parity.answers import Answers, at, publish

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dev.parity.cases import Case

CUTOFFS = (None, 1, 3, 5, 10)
BINARY = {
    "AP": RetrievalMAP,
    "RR": RetrievalMRR,
    "P": RetrievalPrecision,
    "R": RetrievalRecall,
    "Success": RetrievalHitRate,
}


def measure(cases: list[Case]) -> Iterable[Answers]:
    """Ask for its metrics of retrieval, with rows indexed by query."""
    answers = Answers(
        "torchmetrics",
        "torchmetrics",
        "RetrievalNormalizedDCG(top_k=k)(preds, target, indexes)",
        precision="float32",
        arbitrary_above=dict.fromkeys(BINARY, 1),
    )
    for case in filter(lambda case: case.complete, cases):
        is_binary = all(grade <= 1 for row in case.qrels.values() for grade in row.values())
        metrics = {"nDCG": RetrievalNormalizedDCG} | (BINARY if is_binary else {})
        if case.name == "graded":
            metrics |= {"AP": RetrievalMAP}  # to see what it makes of grades
        for name, metric in metrics.items():
            for k in CUTOFFS:
                if name != "Success" or k is not None:
                    answers.ask(case, at(name, k), partial(evaluate, case, metric, k))
    yield answers


def evaluate(case: Case, metric: type, k: int | None, queries: list[str]) -> float:
    """Evaluate some queries."""
    scores = [score for query in queries for score in case.scores(query)]
    grades = [grade for query in queries for grade in case.grades(query)]
    indexes = [number for number, query in enumerate(queries) for _ in case.run[query]]
    ask = metric(top_k=k)
    return float(ask(torch.tensor(scores), torch.tensor(grades), indexes=torch.tensor(indexes)))


if __name__ == "__main__":
    publish(measure)
