"""Ask LightGBM: `… -m dev.parity.peers.lightgbm.measure ANSWERS`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import lightgbm
import numpy as np

from dev.parity.answers import Answers, at, publish

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dev.parity.cases import Case

CUTOFFS = (1, 3, 5, 10)
PARAMETERS = {
    "objective": "lambdarank",
    "metric": ["ndcg", "map"],
    "eval_at": list(CUTOFFS),
    "feature_pre_filter": False,
    "num_threads": 1,  # the sum of several threads has other last digits each time
    "verbosity": -1,
}


def measure(cases: list[Case]) -> Iterable[Answers]:
    """Ask boosters without trees, which score a row by its `init_score`."""
    answers = Answers(
        "lightgbm",
        "lightgbm",
        "Booster.eval_valid() before any tree, the scores as init_score of the data",
    )
    metrics = {
        at(name, k): at(theirs, k)
        for name, theirs in (("nDCG", "ndcg"), ("AP", "map"))
        for k in CUTOFFS
    }
    for case in filter(lambda case: case.complete, cases):
        answers.ask_for_groups(case, metrics, partial(evaluate_groups, case))
    yield answers


def evaluate_groups(case: Case, queries: list[str]) -> dict[str, float]:
    """Evaluate some queries, each a group."""
    grades = np.concatenate([case.grades(query) for query in queries])
    data = lightgbm.Dataset(
        np.zeros((len(grades), 1)),
        label=grades,
        group=[len(case.run[query]) for query in queries],
        init_score=np.concatenate([case.scores(query) for query in queries]),
    )
    booster = lightgbm.Booster(PARAMETERS, data)
    booster.add_valid(data, "cases")
    return {name: value for _, name, value, *_ in booster.eval_valid()}


if __name__ == "__main__":
    publish(measure)
