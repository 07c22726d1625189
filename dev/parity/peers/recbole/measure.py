"""Ask RecBole: `… -m dev.parity.peers.recbole.measure ANSWERS`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import torch
from recbole.evaluator.metrics import MAP, MRR, NDCG, Hit, Precision, Recall

from dev.parity.answers import Answers, at, publish

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dev.parity.answers import Found
    from dev.parity.cases import Case

CUTOFFS = (1, 3, 5, 10)
METRICS = {"nDCG": NDCG, "AP": MAP, "RR": MRR, "P": Precision, "R": Recall, "Success": Hit}
CONFIG = {"topk": list(CUTOFFS), "metric_decimal_place": 15}


def measure(cases: list[Case]) -> Iterable[Answers]:
    """Ask for every metric, as it is and with the name that NumPy has dropped."""
    answers = Answers(
        "recbole",
        "recbole",
        "NDCG(config).calculate_metric(…) of the matrix that its collector makes, with np.float = "
        "float and the documents with a grade above 0 as positive items",
        notes=["It is asked about judged queries only; a short list is filled with other items."],
    )
    for case in cases:
        ask(answers, case)
    # NumPy 1.24 removed the alias; without it most metrics end with an AttributeError.
    vars(np)["float"] = float
    for case in cases:
        ask(answers, case)
    yield answers


def ask(answers: Answers, case: Case) -> None:
    """Ask for every metric on one case."""
    for name, metric in METRICS.items():
        names = [at(name, k) for k in CUTOFFS]
        answers.ask_at_once(case, names, partial(evaluate, name, metric, case))


def evaluate(name: str, metric: type, case: Case) -> Found:
    """Evaluate one metric on the matrix of hits by rank, and the number of positive items."""
    matrix = []
    for query in case.qrels:
        relevant = set(case.relevant(query))
        hits = [int(document in relevant) for document in case.ranked(query)[: max(CUTOFFS)]]
        matrix.append([*hits, *[0] * (max(CUTOFFS) - len(hits)), len(relevant)])
    asked = metric(CONFIG)
    data = {"rec.topk": torch.tensor(matrix)}
    means = asked.calculate_metric(data)
    hits, positive = asked.used_info(data)
    needs = (hits, positive) if name in {"nDCG", "AP", "R"} else (hits,)
    values = asked.metric_info(*needs)
    return {
        at(name, k): (
            float(means[f"{metric.__name__.lower()}@{k}"]),
            dict(zip(case.qrels, values[:, k - 1].tolist(), strict=True)),
        )
        for k in CUTOFFS
    }


if __name__ == "__main__":
    publish(measure)
