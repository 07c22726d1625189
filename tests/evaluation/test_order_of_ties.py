"""Tied documents come in the order that their policy names, to the last document."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest
import rankscope as rs

if TYPE_CHECKING:
    from collections.abc import Callable

GRADES = {"a": 1, "b": 1, "c": 0, "d": 0, "n": -1, "m": -1}
UNJUDGED = ["w", "bb", "z"]


def find_grade(doc: str) -> float:
    """Return the grade that a document is ordered by: 0 where it is unjudged."""
    return GRADES.get(doc, 0)


def descending(docs: list[str]) -> list[str]:
    return sorted(docs, reverse=True)


ORDERS: dict[str, Callable[[list[str]], list[str]]] = {
    "doc_id": descending,
    "doc_id_asc": sorted,
    # The sort is stable, so documents of one grade stay in descending order.
    "best": lambda docs: sorted(descending(docs), key=lambda doc: -find_grade(doc)),
    "worst": lambda docs: sorted(descending(docs), key=find_grade),
    "input": list,
}


@pytest.mark.parametrize("ties", ORDERS)
def test_documents_of_one_score_are_in_the_order_of_their_policy(ties: str) -> None:
    generator = random.Random(4)
    for _ in range(20):
        docs = [*GRADES, *UNJUDGED]
        generator.shuffle(docs)
        first, rest = docs[:4], docs[4:]
        scores = dict.fromkeys(first, 2.0) | dict.fromkeys(rest, 1.0)
        expected = [*ORDERS[ties](first), *ORDERS[ties](rest)]
        joined = rs.Rankings.from_run({"q": GRADES}, {"q": scores}, ties=ties)  # type: ignore[arg-type]  # one
        assert joined.doc_ids("q") == expected
        table = {
            "query_id": ["q"] * len(docs),
            "doc_id": docs,
            "score": list(scores.values()),
            "relevance": [GRADES.get(doc) for doc in docs],
        }
        assert rs.Rankings.from_table(table, ties=ties).doc_ids("q") == expected  # type: ignore[arg-type]  # one
