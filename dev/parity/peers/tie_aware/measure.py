"""Ask tie-aware-retrieval-metrics: `… -m dev.parity.peers.tie_aware.measure ANSWERS`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import trm

from dev.parity.answers import Answers, at, publish

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dev.parity.answers import Found
    from dev.parity.cases import Case

CUTOFFS = (1, 3, 5, 10)
METRICS = {"nDCG": "ndcg", "RR": "mrr", "AP": "map", "R": "recall", "P": "precision", "F": "f1"}
TIES = {"expected": "average", "maximum": "best", "minimum": "worst", "oblivious": "input"}


def measure(cases: list[Case]) -> Iterable[Answers]:
    """Ask for each of its four values, of grades above 0 as relevant."""
    complete = [case for case in cases if case.complete]
    for value, ties in TIES.items():
        answers = Answers(
            "tie-aware-retrieval-metrics",
            "tie_aware",
            f"evaluate(scores, is_relevant, metrics, k_list).metrics['ndcg'][k].{value}",
            variant="" if ties == "average" else value,
        )
        for case in complete:
            if ties != "average":
                answers.options[case.name] = f"ties={ties}"
            names = [at(name, k) for name in METRICS for k in CUTOFFS]
            answers.ask_at_once(case, names, partial(evaluate, case, value))
        yield answers


def evaluate(case: Case, value: str) -> Found:
    """Evaluate all metrics of a case."""
    found = trm.evaluate(
        [case.scores(query) for query in case.run],
        [[grade > 0 for grade in case.grades(query)] for query in case.run],
        list(METRICS.values()),
        list(CUTOFFS),
    )
    return {
        at(name, k): (
            getattr(found.metrics[theirs][k], value),
            {
                query: getattr(result, value)
                for query, result in zip(case.run, found.per_query[theirs][k], strict=True)
            },
        )
        for name, theirs in METRICS.items()
        for k in CUTOFFS
    }


if __name__ == "__main__":
    publish(measure)
