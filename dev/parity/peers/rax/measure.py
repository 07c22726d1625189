"""Ask Rax: `… -m dev.parity.peers.rax.measure ANSWERS`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import jax.numpy as jnp
import rax

from dev.parity.answers import Answers, at, publish

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from dev.parity.cases import Case

CUTOFFS = (None, 1, 3, 5, 10)
METRICS = {
    "nDCG": rax.ndcg_metric,
    "DCG": rax.dcg_metric,
    "AP": rax.ap_metric,
    "RR": rax.mrr_metric,
    "P": rax.precision_metric,
    "R": rax.recall_metric,
}
GRADED = ("nDCG", "DCG")


def measure(cases: list[Case]) -> Iterable[Answers]:
    """Ask for its metrics, of matrices padded behind `where`."""
    answers = Answers(
        "rax",
        "rax",
        "ndcg_metric(scores, labels, where=…, topn=k)",
        precision="float32",
        notes=["AP, RR, P and R are asked where the grades are 0 and 1."],
    )
    for case in filter(lambda case: case.complete, cases):
        is_binary = all(grade <= 1 for row in case.qrels.values() for grade in row.values())
        for name, metric in METRICS.items():
            if is_binary or name in GRADED:
                for k in CUTOFFS:
                    answers.ask(case, at(name, k), partial(evaluate, case, partial(metric, topn=k)))
    yield answers


def evaluate(case: Case, metric: Callable[..., float], queries: list[str]) -> float:
    """Evaluate some queries, each a row."""
    width = max(len(row) for row in case.run.values())

    def pad(rows: list[list[float]]) -> jnp.ndarray:
        return jnp.array([[*row, *[0.0] * (width - len(row))] for row in rows])

    scores = pad([case.scores(query) for query in queries])
    grades = pad([[float(grade) for grade in case.grades(query)] for query in queries])
    where = pad([[1.0] * len(case.run[query]) for query in queries]) > 0
    return float(metric(scores, grades, where=where))


if __name__ == "__main__":
    publish(measure)
