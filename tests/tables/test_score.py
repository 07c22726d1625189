"""Matrices that the core reads where they lie give what the same numbers give in any other way."""

from __future__ import annotations

import math

import numpy as np
import pytest
import rankscope as rs
import sklearn.metrics


def make_matrices(seed: int, *, kind: str, decimals: int) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    shape = (17, int(generator.integers(1, 90)))
    grades = generator.integers(0, 4, shape) * (generator.random(shape) < 0.6)
    scores = generator.normal(size=shape).round(decimals)
    if kind.startswith("i"):
        return grades.astype(kind), (scores * 10).astype(kind)
    return grades.astype(kind), scores.astype(kind)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", ["f8", "f4", "i8", "i4"])
@pytest.mark.parametrize("decimals", [1, 12])
@pytest.mark.parametrize("ignore_ties", [False, True])
@pytest.mark.parametrize("name", ["ndcg_score", "dcg_score"])
def test_a_plain_matrix_gives_the_bits_of_its_lists(
    seed: int, kind: str, decimals: int, name: str, *, ignore_ties: bool
) -> None:
    grades, scores = make_matrices(seed, kind=kind, decimals=decimals)
    score = getattr(rs, name)
    weights = np.random.default_rng(seed).random(len(grades))
    for k in (1, 3, 10, 70, 1000, None):
        for sample_weight in (None, weights):
            choices = {"k": k, "ignore_ties": ignore_ties, "sample_weight": sample_weight}
            expected = score(grades.tolist(), scores.tolist(), **choices)
            assert score(grades, scores, **choices) == expected


@pytest.mark.parametrize("seed", range(3))
def test_any_gain_and_discount_work_on_matrices(seed: int) -> None:
    grades, scores = make_matrices(seed, kind="f8", decimals=1)
    for settings in (
        {"gain": "exp2"},
        {"gain": [0, 1, 3, 7]},
        {"gain": lambda grade: grade**3},
        {"discount": "reciprocal"},
        {"discount": "log", "base": math.e},
        {"gain": "binary", "discount": "jk", "base": 3},
        {"gain": [0, 3, 1, 7]},
        {"ideal": "whole"},
        {"ideal": "retrieved"},
        {"ideal": "slots"},
        {"negative": "minmax"},
        {"missing_gain": 0.5},
        {"empty": "one"},
        {"ties": "worst"},
        {"ties": "best", "empty": "skip"},
    ):
        expected = rs.ndcg_score(grades.tolist(), scores.tolist(), k=5, **settings)
        assert rs.ndcg_score(grades, scores, k=5, **settings) == expected


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("columns", [2, 63, 64, 127, 128, 129, 600])
@pytest.mark.parametrize("ignore_ties", [False, True])
def test_scores_that_are_nearly_equal_are_not_tied(
    seed: int, columns: int, *, ignore_ties: bool
) -> None:
    generator = np.random.default_rng(seed)
    shape = (9, columns)
    grades = generator.integers(0, 4, shape).astype(float)
    scores = generator.integers(-1, 2, shape).astype(float)
    nearly = np.nextafter(scores, generator.choice([-1.0, 0.0, 1.0, 9.0], shape))
    signed = np.where(generator.random(shape) < 0.5, 0.0, -0.0)
    for odd in (nearly, signed, np.where(signed == nearly, 5e-324, signed), scores * 1e300):
        for k in (1, 2, 10, 63, 64, None):
            expected = rs.ndcg_score(grades.tolist(), odd.tolist(), k=k, ignore_ties=ignore_ties)
            assert rs.ndcg_score(grades, odd, k=k, ignore_ties=ignore_ties) == expected


def test_ignoring_ties_beside_a_choice_of_ties_is_a_contradiction() -> None:
    with pytest.raises(rs.PolicyError):
        rs.ndcg_score([[1, 0]], [[1, 2]], ignore_ties=True, ties="best")


@pytest.mark.parametrize("documents", [5, 30, 300])
@pytest.mark.parametrize("name", ["ndcg_score", "dcg_score"])
def test_ignoring_ties_gives_the_number_of_scikit_learn_in_the_order_of_its_sort(
    name: str, documents: int
) -> None:
    generator = np.random.default_rng(documents)
    ours, theirs = getattr(rs, name), getattr(sklearn.metrics, name)
    for _ in range(20):
        grades = generator.integers(0, 5, (1, documents))
        scores = generator.integers(0, 10, (1, documents)).astype(float)
        # It isn't stable, so that tied documents come in any order.
        order = np.argsort(scores)[:, ::-1]
        sorted_grades = np.take_along_axis(grades, order, axis=1)
        expected = theirs(grades, scores, ignore_ties=True)
        found = ours(sorted_grades, -np.arange(documents)[None])
        assert math.isclose(found, expected, rel_tol=1e-12)  # it multiplies by reciprocals
        stable = np.argsort(scores, kind="stable")[:, ::-1]
        last_first = ours(np.take_along_axis(grades, stable, axis=1), -np.arange(documents)[None])
        assert ours(grades, scores, ignore_ties=True) == last_first
        distinct = generator.permuted(np.arange(documents))[None] / 7
        assert math.isclose(
            ours(grades, distinct, ignore_ties=True),
            theirs(grades, distinct, ignore_ties=True),
            rel_tol=1e-12,
        )
