"""Probabilities of gains, and what they make of lists."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rankscope.stats.expected.curves import (
    Curve,
    Grades,
    Lists,
    expect_lists,
    fit_curve,
    fit_grades,
    fit_isotonic,
)

WEIGHED = st.lists(st.tuples(st.floats(-10, 10), st.floats(0.1, 10)), min_size=1, max_size=12)


@given(WEIGHED)
def test_isotonic_values_are_the_greatest_of_the_least_means(
    pairs: list[tuple[float, float]],
) -> None:
    values, weights = (np.array(column) for column in zip(*pairs, strict=True))
    count = len(values)
    expected = [
        max(
            min(
                float(np.average(values[j : k + 1], weights=weights[j : k + 1]))
                for k in range(i, count)
            )
            for j in range(i + 1)
        )
        for i in range(count)
    ]
    np.testing.assert_allclose(fit_isotonic(values, weights), expected, atol=1e-9)


def list_of(ranks: list[int], scores: list[float]) -> Lists:
    none = np.zeros(1, dtype=np.int64)
    return Lists(
        np.array([0, len(ranks)]),
        np.array(ranks, dtype=np.int64),
        np.array(scores, dtype=float),
        none,
        none,
        none[:, None],
    )


@pytest.mark.parametrize("cutoff", [1, 2, 5])
@pytest.mark.parametrize("ranks", [[1, 2, 3, 4], [1, 3, 4, 7]])
def test_lists_have_the_mean_gain_and_the_mean_ideal_of_all_outcomes(
    cutoff: int, ranks: list[int]
) -> None:
    # Grades 0, 1 and 3: the probability of at least 1, and of at least 3, by the score.
    curves = (
        Curve((0.0, 1.0), (0.1, 0.7), 0.5, (1.0,)),
        Curve((0.0, 1.0), (0.0, 0.4), 0.2, (1.0, 0.5)),
    )
    grades = Grades((1.0, 2.0), curves)
    scores = [0.9, 0.6, float("nan"), 0.1]
    discounts = 1 / np.log2(np.arange(2, cutoff + 2))
    lists = list_of(ranks, scores)
    least, most = (curve.find(lists.scores, lists.ranks) for curve in curves)
    # Grades of different thresholds are of one document: at least 3 is at least 1.
    chances = np.stack([1 - least, least - most, most])
    gains = np.array([0.0, 1.0, 3.0])
    value = ideal = some = 0.0
    for outcome in product(range(3), repeat=4):
        chance = float(np.prod([chances[grade, at] for at, grade in enumerate(outcome)]))
        gained = gains[list(outcome)]
        counted = [discounts[rank - 1] if rank <= cutoff else 0.0 for rank in ranks]
        value += chance * float(gained @ counted)
        best = -np.sort(-gained)[:cutoff]
        ideal += chance * float(best @ discounts[: len(best)])
        some += chance * any(outcome)
    share, chance = expect_lists(grades, lists, discounts)
    assert share[0] == pytest.approx(value / ideal, abs=1e-12)
    assert chance[0] == pytest.approx(some, abs=1e-12)


def test_a_list_without_documents_is_expected_to_have_nothing() -> None:
    grades = Grades((1.0,), (Curve((), (), 0.5, (1.0,)),))
    share, chance = expect_lists(grades, list_of([], []), np.ones(3))
    assert (share.tolist(), chance.tolist()) == ([0.0], [0.0])


def test_a_curve_has_the_rates_of_ranks_where_no_scores_are_logged() -> None:
    ranks = np.tile([1, 2], 10_000)
    hits = np.tile([1.0, 0.0, 1.0, 1.0], 5_000)
    curve = fit_curve(np.full(20_000, np.nan), ranks, hits)
    found = curve.find(np.full(2, np.nan), np.array([1, 2]))
    assert found == pytest.approx([1.0, 0.5], rel=1e-3)


def test_a_curve_tells_the_score_from_the_rank() -> None:
    random = np.random.default_rng(3)
    scores, ranks = random.random(200_000), random.integers(1, 4, 200_000)
    chance = scores / ranks
    curve = fit_curve(scores, ranks, (random.random(200_000) < chance).astype(float))
    at = np.array([0.25, 0.5, 0.75])
    for rank in (1, 2, 3):
        assert curve.find(at, np.full(3, rank)) == pytest.approx(at / rank, abs=0.02)


@given(st.lists(st.floats(-5, 5), min_size=2, max_size=40), st.integers(0, 10))
def test_a_higher_score_is_never_less_likely(scores: list[float], seed: int) -> None:
    random = np.random.default_rng(seed)
    hits = random.integers(0, 2, len(scores)).astype(float)
    ranks = random.integers(1, 4, len(scores))
    curve = fit_curve(np.array(scores), ranks, hits)
    found = curve.find(np.sort(scores), np.ones(len(scores), dtype=np.int64))
    assert (np.diff(found) >= -1e-12).all()
    assert ((found >= 0) & (found <= 1)).all()


def test_many_grades_are_told_apart_at_four_thresholds() -> None:
    gains = np.arange(1.0, 101.0)
    grades = fit_grades(np.zeros(100), np.ones(100, dtype=np.int64), gains)
    assert len(grades.steps) == 4
    assert sum(grades.steps) == 75.0  # three quarters of 100
