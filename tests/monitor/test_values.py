"""Values of rankings as they were logged, and what they lack."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import rankscope as rs
from hypothesis import given
from hypothesis import strategies as st
from rankscope.monitor.definition.definition import define
from rankscope.monitor.evaluate.grades import grade_chunk
from rankscope.monitor.evaluate.values import ChunkValues, evaluate_chunk, name_columns
from rankscope.monitor.events.event import Items, Ranking

from tests.monitor import plain
from tests.monitor.chunks import make_chunk

pytest.importorskip("sqlalchemy", reason="the store needs SQLAlchemy")

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


@pytest.mark.parametrize("k", [1, 2, 5])
def test_losses_are_those_of_rankings(k: int) -> None:
    lists = [[0, 1, 2, 3], [3, 2, 1, 0], [0, 0, 0, 1], [2]]
    values = evaluate(*(logged(*map(float, each)) for each in lists), measures=rs.nDCG @ k)
    wanted = rs.Rankings.from_lists(lists).losses(rs.nDCG @ k).to_dict()
    (found,) = values.measures
    for name in ("value", "truncation", "ordering"):
        assert getattr(found, name).tolist() == [one[name] for one in wanted.values()]
    assert found.ideal is not None
    assert found.ideal.tolist() == [rs.idcg(each, k) for each in lists]


def test_the_story_of_the_first_and_the_last() -> None:
    before, after = logged(6, 5, 1, 2, 0), logged(0, 5, 1, 2, 6)
    values = evaluate(before, after, measures=[rs.nDCG @ 5])
    assert values.columns()["nDCG@5"].tolist() == [
        rs.ndcg([6, 5, 1, 2, 0], 5),
        rs.ndcg([0, 5, 1, 2, 6], 5),
    ]
    assert values.columns()["nDCG@5 truncation"].tolist() == [0, 0]


def test_the_discount_is_that_of_the_rank_that_was_logged() -> None:
    below_a_gap = logged(2, 1, ranks=(2, 4))
    values = evaluate(below_a_gap, logged(2, 1), measures=["nDCG@4", "nDCG@3", "P@4"])
    ideal = 2 / 1 + 1 / math.log2(3)
    dcg = 2 / math.log2(3)
    columns = values.columns()
    assert columns["nDCG@3"].tolist() == [dcg / ideal, 1]
    assert columns["nDCG@4"].tolist() == [(dcg + 1 / math.log2(5)) / ideal, 1]
    assert columns["P@4"].tolist() == [2 / 4, 2 / 4]
    assert values.has_gaps.tolist() == [True, False]


def test_a_page_far_below_needs_no_places_above_it() -> None:
    values = evaluate(logged(1, 0, ranks=(999_999, 1_000_000)), measures="nDCG@2")
    columns = values.columns()
    assert columns["nDCG@2"].tolist() == [0]
    assert columns["nDCG@2 truncation"].tolist() == [1]


@pytest.mark.parametrize(
    ("empty", "value", "undefined"),
    [("skip", math.nan, math.nan), ("zero", 0.0, 1.0), ("one", 1.0, 0.0)],
)
def test_what_has_no_relevant_document_is_worth_what_the_policy_says(
    empty: str, value: float, undefined: float
) -> None:
    values = evaluate(logged(0, 0), logged(), measures="nDCG@2", policy=f"empty={empty}")
    (found,) = values.measures
    assert found.undefined is not None
    assert np.array_equal(found.value, [value] * 2, equal_nan=True)
    assert np.array_equal(found.undefined, [undefined] * 2, equal_nan=True)
    assert values.is_empty.tolist() == [True, True]
    assert values.is_missing.tolist() == [False, True]


def test_a_grade_beyond_the_largest_leaves_out_its_ranking_alone() -> None:
    huge = rs.nDCG(gain="exp2") @ 2
    values = evaluate(logged(1, 5000), logged(0, 1), measures=huge, policy="empty=zero")
    column = values.columns()[huge.name]
    assert np.array_equal(column, [math.nan, 1 / math.log2(3)], equal_nan=True)
    assert values.is_refused.tolist() == [True, False]
    assert values.is_empty.tolist() == [False, False]


def test_equal_scores_are_ties_and_no_scores_are_none() -> None:
    ids = ("a", "b", "c")
    scores = [(3.0, 2.0, 2.0), (3.0, 2.0, 1.0), (None, None, 1.0), ()]
    rankings = [Ranking("r", "r", 0, Items(ids, (1, 2, 3), each)) for each in scores]
    assert evaluate(*rankings).is_tied.tolist() == [True, False, False, False]


def test_a_value_between_worst_and_best_has_no_losses() -> None:
    values = evaluate(logged(1, -1, 2), measures="nDCG@3", policy="negative=minmax")
    worst = -1 + 1 / math.log2(3) + 2 / 2
    best = 2 + 1 / math.log2(3) - 1 / 2
    dcg = 1 - 1 / math.log2(3) + 2 / 2
    columns = values.columns()
    assert [*columns] == ["nDCG@3"]
    assert columns["nDCG@3"][0] == pytest.approx((dcg - worst) / (best - worst), abs=1e-15)


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
        parts = (found.value, found.truncation, found.ordering, found.undefined)
        total = sum(part for part in parts if part is not None)
        assert np.all(np.isnan(total) | (abs(total - 1) < 1e-12))
