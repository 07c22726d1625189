"""The largest grade of a document that is judged several times stands, wherever it comes."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING

import pytest
import rankscope as rs

if TYPE_CHECKING:
    from pathlib import Path

RUN = {"q": {"a": 1.0}}
WAYS = ("rows", "file", "table", "integers", "subtopics")


@pytest.mark.parametrize("grades", [*permutations((1, 3, 2))])
@pytest.mark.parametrize("way", WAYS)
def test_the_largest_of_three_grades_stands(
    way: str, grades: tuple[int, ...], tmp_path: Path
) -> None:
    path = tmp_path / "qrels.txt"
    path.write_text("".join(f"q 0 a {grade}\n" for grade in grades), encoding="utf-8")
    columns = {"query_id": ["q"] * 3, "doc_id": ["a"] * 3, "relevance": list(grades)}
    numbers = {"query_id": [7] * 3, "doc_id": [8] * 3, "relevance": list(grades)}
    judged = {
        "rows": [("q", "a", grade) for grade in grades],
        "file": path,
        "table": columns,
        "integers": numbers,
        "subtopics": [("q", "1", "a", grade) for grade in grades],
    }[way]
    run = {7: {8: 1.0}} if way == "integers" else RUN
    for duplicates, expected in (("max", 3.0), ("first", float(grades[0]))):
        found = rs.evaluate(
            judged,  # type: ignore[arg-type]  # one of many
            run,
            "DCG@1",
            duplicates=duplicates,  # type: ignore[arg-type]  # one of two
            subtopics=True if way == "subtopics" else None,
        )
        assert found["DCG@1"] == expected
