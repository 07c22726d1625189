"""So many rows that threads share them out: columns are what sorting all rows at once gives."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest
import rankscope as rs
from rankscope import Rankings

if TYPE_CHECKING:
    from numpy.typing import NDArray

ROWS = 240_000
"""More than are left to one thread."""

QUERIES = {
    "close": np.arange(-500, 2500),
    "wide": np.arange(3000) * 3_000_000_019 - 2**40,
    "few": np.array([7]),
}
GRADES = {
    "levels": np.array([0, 1, 2, 3]),
    "many levels": np.arange(255),
    "negative": np.array([-1, 0, 2]),
    "fractions": np.array([0.0, 0.5, 2.0]),
    "unjudged": np.array([np.nan, 0.0, 1.0]),
    "large": np.array([0, 255, 1000]),
}


def draw(queries: str, grades: str, *, sort: bool = False) -> dict[str, NDArray[np.generic]]:
    rng = np.random.default_rng(5)
    query = rng.choice(QUERIES[queries], ROWS)
    query[-5:] = QUERIES[queries].max() + np.arange(5)  # seen by the last thread only
    scores = rng.permutation(ROWS) / 8
    return {
        "query": np.sort(query) if sort else query,
        "score": rng.choice(scores[: ROWS // 2], ROWS),  # every other one is there again
        "relevance": rng.choice(GRADES[grades], ROWS),
    }


def order(columns: dict[str, NDArray[np.generic]]) -> tuple[list[str], NDArray[np.intp]]:
    """The queries in first-seen order, and all rows by query, score and place."""
    values, first, code = np.unique(columns["query"], return_index=True, return_inverse=True)
    ranks = np.argsort(np.argsort(first))
    names = [str(value) for value in values[np.argsort(first)].tolist()]
    return names, np.lexsort((-columns["score"].astype(float), ranks[code]))


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("grades", GRADES)
@pytest.mark.parametrize("queries", QUERIES)
def test_columns_are_those_of_the_sorted_rows(
    queries: str, grades: str, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rankscope.settings.reading.count_threads", lambda _: threads)
    columns = draw(queries, grades, sort=threads == 5)
    rankings = Rankings.from_table(pa.table(columns), ties="input")
    names, rows = order(columns)
    assert rankings.query_texts == names
    np.testing.assert_array_equal(rankings.relevance, columns["relevance"][rows])
    np.testing.assert_array_equal(rankings.scores, columns["score"][rows])
    best = np.sort(columns["relevance"][~np.isnan(columns["relevance"].astype(float))])[-1]
    assert rankings.evaluate("DCG@1", threads=threads).counts.queries == len(names)
    assert rankings.ideal.max() == best


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("column", ["score", "relevance"])
def test_the_first_mistake_is_named_whoever_finds_it(
    column: str, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rankscope.settings.reading.count_threads", lambda _: threads)
    columns = draw("wide", "fractions")
    columns[column][[ROWS // 2 + 3, ROWS - 1]] = np.inf
    with pytest.raises(rs.FormatError) as caught:
        Rankings.from_table(pa.table(columns))
    assert caught.value.line == ROWS // 2 + 4
