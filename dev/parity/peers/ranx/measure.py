"""Ask ranx: `… -m dev.parity.peers.ranx.measure ANSWERS`."""

from __future__ import annotations

import warnings
from functools import partial
from typing import TYPE_CHECKING

import ranx

from dev.parity.answers import Answers, at, publish

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dev.parity.answers import Found
    from dev.parity.cases import Case

CUTOFFS = (None, 1, 3, 5, 10)
AT_CUTOFFS = {
    "ranx": {
        "nDCG": "ndcg",
        "DCG": "dcg",
        "AP": "map",
        "RR": "mrr",
        "P": "precision",
        "R": "recall",
        "F": "f1",
    },
    "ranx_burges": {"nDCG": "ndcg_burges", "DCG": "dcg_burges"},
}


def measure(cases: list[Case]) -> Iterable[Answers]:
    """Ask for nDCG in its two forms, and for the measures that have one form."""
    # It casts identifiers, which are hashes, from one type of integer to another.
    warnings.filterwarnings("ignore", module="ranx")
    for convention, names in AT_CUTOFFS.items():
        metrics = {at(name, k): at(theirs, k) for name, theirs in names.items() for k in CUTOFFS}
        if convention == "ranx":
            metrics |= {"Rprec": "r-precision"} | {f"Success@{k}": f"hit_rate@{k}" for k in (1, 10)}
        answers = Answers(
            "ranx",
            convention,
            f"evaluate(qrels, run, '{names['nDCG']}@k'); make_comparable=True where it refuses",
            arbitrary_above=dict.fromkeys([*names, "Rprec", "Success"], 15),
            notes=["Its sort is stable up to 15 documents, where equal scores stay as given."],
        )
        for case in cases:
            answers.ask_at_once(case, metrics, partial(evaluate, case, metrics))
            if case.qrels.keys() != case.run.keys():
                answers.options[case.name] = "missing=zero"
                comparable = partial(evaluate, case, metrics, make_comparable=True)
                answers.ask_at_once(case, metrics, comparable)
        yield answers


def evaluate(case: Case, metrics: dict[str, str], *, make_comparable: bool = False) -> Found:
    """Evaluate a case by all metrics."""
    qrels, run = ranx.Qrels(case.qrels), ranx.Run(case.run)
    asked = list(metrics.values())
    means = ranx.evaluate(qrels, run, asked, make_comparable=make_comparable)
    return {name: (means[theirs], run.scores[theirs]) for name, theirs in metrics.items()}


if __name__ == "__main__":
    publish(measure)
