"""Values of rankings as they were logged, and what they lack."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from rankscope.monitor.definition.definition import define
from rankscope.monitor.evaluate.grades import grade_chunk
from rankscope.monitor.evaluate.values import ChunkValues, evaluate_chunk, name_columns
from rankscope.monitor.events.event import Items, Ranking

from tests.monitor import plain
from tests.monitor.chunks import make_chunk

GRADED: dict[str, Any] = {"positive": "click", "window": 1}


def evaluate(*rankings: Ranking, **rule: Any) -> ChunkValues:  # noqa: ANN401 - of `define`
    """The values of rankings whose grades were logged."""
    chunk, _ = make_chunk(list(rankings))
    definition = define(**GRADED | rule)
    return evaluate_chunk(chunk, grade_chunk(chunk, definition, 0), definition)


def logged(*grades: float | None, ranks: tuple[int, ...] = ()) -> Ranking:
    """A ranking with grades in rank order."""
    count = len(grades)
    ids = tuple(f"d{at}" for at in range(count))
    items = Items(ids, ranks or tuple(range(1, count + 1)), (), grades)
    return Ranking("r", "r", 0, items)


def test_a_page_far_below_needs_no_places_above_it() -> None:
    values = evaluate(logged(1, 0, ranks=(999_999, 1_000_000)), measures="nDCG@2")
    columns = values.columns()
    assert columns["nDCG@2"].tolist() == [0]
    assert columns["nDCG@2 truncation"].tolist() == [1]


def test_other_measures_have_no_losses() -> None:
    values = evaluate(logged(1, 0), measures=["P@1", "nDCG(ideal='slots')@2"])
    assert list(values.columns()) == ["P@1", "nDCG(ideal='slots')@2"]


@given(
    st.lists(st.lists(st.sampled_from([None, 0.0, 0.5, 1.0, 3.0, -1.0]), max_size=6), min_size=1),
    st.lists(st.integers(1, 12), min_size=6, max_size=6, unique=True).map(sorted),
    st.sampled_from(["skip", "zero", "one"]),
)
def test_values_are_those_of_the_definitions_and_parts_add_up(
    lists: list[list[float | None]], ranks: list[int], empty: str
) -> None:
    rule = {"measures": ["nDCG@1", "nDCG@4", "RR@3"], "policy": f"empty={empty}"}
    rankings = [logged(*each, ranks=tuple(ranks[: len(each)])) for each in lists]
    values = evaluate(*rankings, **rule)
    definition = define(**GRADED | rule)
    wanted = [plain.measure(*pair, definition) for pair in zip(rankings, lists, strict=True)]
    columns = values.columns()
    assert tuple(columns) == name_columns(definition)
    for name, column in columns.items():
        assert np.array_equal(column, [one[name] for one in wanted], equal_nan=True), name
    for found in values.measures[:2]:
        lost = (found.parts[name] for name in ("truncation", "ordering", "undefined"))
        total = found.value + sum(lost)
        assert np.all(np.isnan(total) | (abs(total - 1) < 1e-12))
