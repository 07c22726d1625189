"""Limits of pages: just below, at and just above each of them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
from rankscope.report.gather import _choose_shown, _list, _read_slices
from rankscope.web.templating import shorten

if TYPE_CHECKING:
    from typing import Any


@pytest.mark.parametrize("runs", [1, 2])
def test_a_page_shows_40_000_values_at_most(runs: int) -> None:
    for queries in (40_000 // runs - 1, 40_000 // runs, 40_000 // runs + 1):
        values = [0.5] * queries
        evaluation = SimpleNamespace(
            measures=["RR"],
            per_query_list=lambda _, v=values: v,
            query_texts=[str(at) for at in range(queries)],
        )
        given: Any = [SimpleNamespace(evaluation=evaluation)] * runs
        assert len(_choose_shown(given)) == min(queries, 40_000 // runs)


class Slices:
    """A table of slices without values."""

    names = ("queries",)
    attributes = ("country",)

    def __init__(self, count: int) -> None:
        self.labels = tuple(map(str, range(count)))

    def rows(self) -> list[tuple[int]]:
        """The number of queries of each."""
        return [(1,)] * len(self)

    def __len__(self) -> int:
        return len(self.labels)


@pytest.mark.parametrize("count", [999, 1000, 1001])
def test_a_page_shows_1_000_slices_at_most(count: int) -> None:
    evaluation: Any = []
    table: Any = Slices(count)
    found = _read_slices(evaluation, table)
    assert len(found.parts) == min(count, 1000)
    assert found.left_out == max(0, count - 1000)


@pytest.mark.parametrize("count", [19, 20, 21])
def test_a_page_shows_20_documents_of_a_list_at_most(count: int) -> None:
    documents = [(str(at), 0.0) for at in range(30)]
    run: Any = SimpleNamespace(list_documents=lambda _: documents)
    assert len(_list(run, "q", count)) == min(count, 20)


@pytest.mark.parametrize("count", [199, 200, 201])
def test_a_page_shows_200_characters_of_a_name(count: int) -> None:
    expected = "x" * min(count, 200) + "… (201 characters)" * (count > 200)
    assert shorten("x" * count) == expected
