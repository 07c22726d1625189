"""The largest grade of a document that is judged several times stands, wherever it comes."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING, Any

import pytest
import rankscope as rs

if TYPE_CHECKING:
    from collections.abc import Callable

WAYS: dict[str, Callable[[Any], Any]] = {
    "rows": lambda grades: [("q", "a", grade) for grade in grades],
    "file": lambda grades: "".join(f"q 0 a {grade}\n" for grade in grades).encode(),
    "table": lambda grades: {"query_id": ["q"] * 3, "doc_id": ["a"] * 3, "relevance": [*grades]},
    "integers": lambda grades: {"query_id": [7] * 3, "doc_id": [8] * 3, "relevance": [*grades]},
    "subtopics": lambda grades: [("q", "1", "a", grade) for grade in grades],
}


@pytest.mark.parametrize("grades", [*permutations((1, 3, 2))])
@pytest.mark.parametrize("way", WAYS)
def test_the_largest_of_three_grades_stands(way: str, grades: tuple[int, ...]) -> None:
    run: Any = {7: {8: 1.0}} if way == "integers" else {"q": {"a": 1.0}}
    choices: Any = {"subtopics": True} if way == "subtopics" else {}
    for duplicates, expected in (("max", 3.0), ("first", float(grades[0]))):
        choices["duplicates"] = duplicates
        assert rs.evaluate(WAYS[way](grades), run, "DCG@1", **choices)["DCG@1"] == expected
