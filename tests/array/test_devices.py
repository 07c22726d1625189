"""Programs are traced, and depend on the shapes alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from rankscope.array import evaluate_batch, ndcg
from rankscope.errors import UsageError

from tests.array.oracle import MEASURES, large

if TYPE_CHECKING:
    from rankscope.array.space import Array


def by_mask(grades: Array, scores: Array, mask: Array) -> Array:
    return evaluate_batch(MEASURES, grades=grades, scores=scores, mask=mask)


def test_jit_traces_all_measures_and_gives_the_same_values() -> None:
    lists = large(4, 9, levels=3, seed=9)
    expected = evaluate_batch(MEASURES, grades=lists.grades, scores=lists.scores, mask=lists.mask)
    with jax.enable_x64(True):
        found = jax.jit(by_mask)(lists.grades, lists.scores, lists.mask)
    for name, values in found.items():
        np.testing.assert_allclose(values, expected[name], rtol=1e-12, atol=1e-12)


def test_vmap_maps_over_batches_and_lists() -> None:
    lists = large(4, 9, levels=3, seed=10)
    expected = ndcg(grades=lists.grades, scores=lists.scores, k=3)

    def of_one(grades: Array, scores: Array) -> Array:
        return ndcg(grades=grades[None, :], scores=scores[None, :], k=3)[0]

    with jax.enable_x64(True):
        found = jax.jit(jax.vmap(of_one))(lists.grades, lists.scores)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.slow
def test_ragged_batches_are_traced_where_the_longest_list_is_known() -> None:
    def by_lengths(lengths: Array, max_length: int | None) -> Array:
        flat = {"grades": jnp.asarray([0.0, 1, 2]), "scores": jnp.asarray([3.0, 2, 1])}
        return ndcg(**flat, lengths=lengths, max_length=max_length)

    with jax.enable_x64(True):
        traced = jax.jit(by_lengths, static_argnames="max_length")
        lengths = jnp.asarray([2, 1])
        np.testing.assert_allclose(traced(lengths, 2), by_lengths(lengths, None), rtol=1e-12)
        with pytest.raises(UsageError, match="being traced") as raised:
            traced(lengths, None)
    assert "max_length" in raised.value.hint


def test_groups_cannot_be_traced() -> None:
    def by_groups(groups: Array) -> Array:
        return ndcg(grades=jnp.asarray([0.0, 1]), scores=jnp.asarray([3.0, 2]), groups=groups)

    with pytest.raises(UsageError, match="being traced"):
        jax.jit(by_groups)(jnp.asarray([1, 1]))


@pytest.mark.slow
def test_single_precision_is_what_jax_has_by_default() -> None:
    lists = large(50, 200, levels=20, seed=11)
    arrays = {"grades": lists.grades, "scores": lists.scores, "mask": lists.mask}
    expected = evaluate_batch(MEASURES, **arrays)
    with jax.enable_x64(False):
        found = evaluate_batch(MEASURES, **{name: jnp.asarray(a) for name, a in arrays.items()})
        with pytest.raises(UsageError, match="double precision") as raised:
            ndcg(grades=jnp.ones((1, 1)), scores=jnp.ones((1, 1)), dtype="float64")
    assert "jax_enable_x64" in raised.value.hint
    for name, values in found.items():
        assert values.dtype == jnp.float32
        np.testing.assert_allclose(values, expected[name], rtol=2e-5)


def test_half_precision_grades_and_scores_are_taken_as_they_are() -> None:
    grades = jnp.asarray([[0, 1, 2]], dtype=jnp.bfloat16)
    scores = jnp.asarray([[0.3, 0.2, 0.1]], dtype=jnp.float16)
    values = ndcg(grades=grades, scores=scores)
    same = ndcg(grades=np.array([[0, 1, 2]]), scores=np.array([[3, 2, 1]], dtype=np.float16))
    assert values.tolist() == pytest.approx(same.tolist(), rel=1e-6)


def test_the_values_have_the_type_that_is_asked_for() -> None:
    arrays = {"grades": np.array([[0, 1]]), "scores": np.array([[0.2, 0.1]], dtype=np.float32)}
    assert ndcg(**arrays).dtype == np.float64
    assert ndcg(**arrays, dtype="float32").dtype == np.float32
    assert ndcg(**arrays, dtype=np.float32).dtype == np.float32
