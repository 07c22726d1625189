"""Ask XGBoost: `… -m dev.parity.peers.xgboost.measure ANSWERS`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import xgboost

from dev.parity.answers import Answers, at, publish

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dev.parity.cases import Case

CUTOFFS = (None, 1, 3, 5, 10)


def measure(cases: list[Case]) -> Iterable[Answers]:
    """Ask boosters without trees, which score a row by its `base_margin`."""
    for convention, suffix, exponential in (
        ("xgboost", "", True),
        ("xgboost_minus", "-", True),
        ("xgboost_linear", "", False),
    ):
        answers = Answers(
            "xgboost-cpu",
            convention,
            "Booster.eval() before any tree, the scores as base_margin of the data, "
            f"eval_metric='ndcg@k{suffix}', ndcg_exp_gain={exponential}",
        )
        for case in filter(lambda case: case.complete, cases):
            ask(answers, case, {"nDCG": "ndcg"}, suffix, exponential=exponential)
            # Grades above 1 are refused query by query; one such case shows it.
            if exponential and ("binary" in case.name or case.name in {"graded", "logits"}):
                ask(answers, case, {"AP": "map"}, suffix, exponential=exponential)
                ask(answers, case, {"P": "pre"}, suffix, exponential=exponential)
        yield answers


def ask(
    answers: Answers, case: Case, names: dict[str, str], suffix: str, *, exponential: bool
) -> None:
    """Ask for some measures at every cutoff, evaluating each group once."""
    metrics = {
        at(name, k): at(theirs, k) + suffix for name, theirs in names.items() for k in CUTOFFS
    }
    evaluate = partial(evaluate_groups, case, list(metrics.values()), exponential)
    answers.ask_for_groups(case, metrics, evaluate)


def evaluate_groups(
    case: Case, metrics: list[str], exponential: bool, queries: list[str]
) -> dict[str, float]:
    """Evaluate some queries, each a group."""
    grades = np.concatenate([case.grades(query) for query in queries])
    data = xgboost.DMatrix(
        np.zeros((len(grades), 1)),
        label=grades,
        base_margin=np.concatenate([case.scores(query) for query in queries]),
    )
    data.set_group([len(case.run[query]) for query in queries])
    parameters = {
        "objective": "rank:pairwise",
        "eval_metric": metrics,
        "ndcg_exp_gain": exponential,
        "nthread": 1,
    }
    line = xgboost.Booster(parameters, [data]).eval(data)
    fields = (field.removeprefix("eval-").rpartition(":") for field in line.split("\t")[1:])
    return {metric: float(value) for metric, _, value in fields}


if __name__ == "__main__":
    publish(measure)
