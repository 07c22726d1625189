"""Ask Recommenders: `… -m dev.parity.peers.recommenders.measure ANSWERS`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pandas as pd
from recommenders.evaluation.python_evaluation import (
    map_at_k,
    ndcg_at_k,
    precision_at_k,
    recall_at_k,
)

from dev.parity.answers import Answers, at, publish

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from dev.parity.cases import Case

CUTOFFS = (1, 3, 5, 10)
OTHERS = {"AP": map_at_k, "P": precision_at_k, "R": recall_at_k}


def measure(cases: list[Case]) -> Iterable[Answers]:
    """Ask for nDCG in its three forms, and for the measures that have one form."""
    for convention, score_type in (
        ("recommenders", "binary"),
        ("recommenders_raw", "raw"),
        ("recommenders_exp", "exp"),
    ):
        answers = Answers(
            "recommenders",
            convention,
            f"ndcg_at_k(rating_true, rating_pred, k=k, score_type='{score_type}'), every judged "
            "document as a row",
        )
        functions = {"nDCG": partial(ndcg_at_k, score_type=score_type)}
        if convention == "recommenders":
            functions |= OTHERS
        for case in cases:
            for name, function in functions.items():
                for k in CUTOFFS:
                    score = partial(evaluate, case, function, k)
                    answers.ask(case, at(name, k), score, singly=name == "nDCG" and k == 3)
        yield answers


def evaluate(case: Case, function: Callable[..., float], k: int, queries: list[str]) -> float:
    """Evaluate the rows of some users."""
    return float(
        function(frame(case.qrels, queries, "rating"), frame(case.run, queries, "prediction"), k=k)
    )


def frame(
    table: dict[str, dict[str, int]] | dict[str, dict[str, float]], queries: list[str], value: str
) -> pd.DataFrame:
    """Rows of some users."""
    rows = [
        (query, document, number)
        for query in queries
        for document, number in table.get(query, {}).items()
    ]
    return pd.DataFrame(rows, columns=["userID", "itemID", value])


if __name__ == "__main__":
    publish(measure)
