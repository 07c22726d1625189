"""Ask CatBoost: `… -m dev.parity.peers.catboost.measure ANSWERS`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from catboost.utils import eval_metric

from dev.parity.answers import Answers, at, publish

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dev.parity.cases import Case

CUTOFFS = (None, 1, 3, 5, 10)
FORMS = {
    "catboost": ("Base", "LogPosition"),
    "catboost_exp": ("Exp", "LogPosition"),
    "catboost_position": ("Base", "Position"),
    "catboost_exp_position": ("Exp", "Position"),
}
BINARY = {"AP": "MAP", "P": "PrecisionAt", "R": "RecallAt", "RR": "MRR"}


def measure(cases: list[Case]) -> Iterable[Answers]:
    """Ask for nDCG in its four forms, and for the measures that have one form."""
    for convention, (gain, denominator) in FORMS.items():
        answers = Answers(
            "catboost",
            convention,
            "utils.eval_metric(label, approx, "
            f"'NDCG:top=k;type={gain};denominator={denominator}', group_id=…)",
        )
        for case in filter(lambda case: case.complete, cases):
            for name in ("nDCG", "DCG"):
                for k in CUTOFFS:
                    metric = f"{name.upper()}:top={k or -1};type={gain};denominator={denominator}"
                    answers.ask(case, at(name, k), partial(evaluate_groups, case, metric))
            if convention == "catboost":
                for name, theirs in BINARY.items():
                    for k in CUTOFFS:
                        metric = f"{theirs}:top={k or -1}"
                        answers.ask(case, at(name, k), partial(evaluate_groups, case, metric))
        yield answers


def evaluate_groups(case: Case, metric: str, queries: list[str]) -> float:
    """Evaluate some queries, each a group."""
    groups = [number for number, query in enumerate(queries) for _ in case.run[query]]
    grades = [grade for query in queries for grade in case.grades(query)]
    scores = [score for query in queries for score in case.scores(query)]
    return float(eval_metric(grades, scores, metric, group_id=groups)[0])


if __name__ == "__main__":
    publish(measure)
