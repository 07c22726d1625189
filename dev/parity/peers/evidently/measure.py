"""Ask Evidently: `… -m dev.parity.peers.evidently.measure ANSWERS`."""

from __future__ import annotations

import warnings
from functools import partial
from typing import TYPE_CHECKING

import pandas as pd
from evidently import DataDefinition, Dataset, Recsys, Report
from evidently.metrics import NDCG

from dev.parity.answers import Answers, at, publish

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dev.parity.cases import Case

CUTOFFS = (1, 3, 5, 10)


def measure(cases: list[Case]) -> Iterable[Answers]:
    """Ask for nDCG of reports over the rows of users."""
    warnings.simplefilter("ignore")
    answers = Answers(
        "evidently",
        "evidently",
        "Report([NDCG(k=k)]) over rows of user, item, score and target",
        notes=["It gives a value for each cutoff from 1, with the next cutoff beside it."],
    )
    for case in filter(lambda case: case.complete, cases):
        for k in CUTOFFS:
            answers.ask(case, at("nDCG", k), partial(evaluate, case, k), singly=k == 3)
    yield answers


def evaluate(case: Case, k: int, queries: list[str]) -> float:
    """Evaluate some users."""
    rows = [
        (query, document, score, case.qrels[query][document])
        for query in queries
        for document, score in case.run[query].items()
    ]
    frame = pd.DataFrame(rows, columns=["user", "item", "score", "target"])
    definition = DataDefinition(
        ranking=[Recsys(user_id="user", item_id="item", target="target", prediction="score")]
    )
    data = Dataset.from_pandas(frame, data_definition=definition)
    result = Report([NDCG(k=k)]).run(data, None)
    return float(result.dict()["metrics"][0]["value"]["value"][k - 1])


if __name__ == "__main__":
    publish(measure)
