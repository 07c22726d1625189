"""Ask rankkit: `… -m dev.parity.peers.rankkit.measure ANSWERS`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from rankkit.data import extract_runs
from rankkit.metrics import scores

from dev.parity.answers import Answers, at, publish

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dev.parity.answers import Found
    from dev.parity.cases import Case

CUTOFFS = (1, 3, 5, 10)
OTHERS = {"AP": "map", "RR": "mrr", "P": "precision", "R": "recall", "Success": "hit"}


def measure(cases: list[Case]) -> Iterable[Answers]:
    """Ask for nDCG in its two forms, and for the measures that have one form."""
    for convention, gain in (("rankkit", "exp"), ("rankkit_linear", "linear")):
        answers = Answers(
            "rankkit",
            convention,
            f"metrics.scores(runs, 'ndcg', k=k, gain='{gain}'), a record for each query of the run",
            notes=["It prints the mean and gives the values; the mean here is that of the values."],
        )
        names = {"nDCG": "ndcg"} | (OTHERS if gain == "exp" else {})
        for case in cases:
            for name, metric in names.items():
                for k in CUTOFFS:
                    asked = partial(evaluate, case, at(name, k), metric, k, gain)
                    answers.ask_at_once(case, [at(name, k)], asked)
        yield answers


def evaluate(case: Case, name: str, metric: str, k: int, gain: str) -> Found:
    """Evaluate one metric of the queries that have a list."""
    runs = extract_runs(
        {"qid": query, "ranking": case.ranked(query), "relevance": case.qrels.get(query, {})}
        for query in case.run
    )
    values = scores(runs, metric, k=k, gain=gain)
    return {name: (sum(values.values()) / len(values), values)}


if __name__ == "__main__":
    publish(measure)
