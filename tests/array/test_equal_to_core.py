"""Every measure, layout and policy gives the values of the core, by the core and by the program."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import array_api_strict
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import rankscope as rs
from hypothesis import given
from rankscope.array import evaluate_batch, ndcg

from tests.array.oracle import Lists, batches, check, large
from tests.generated import examples

if TYPE_CHECKING:
    from collections.abc import Callable

TIES = ("average", "input", "best", "worst")
NEGATIVE = ("nonrelevant", "gain")


@pytest.mark.parametrize("ties", TIES)
@examples(30)
@given(batches())
def test_numpy_arrays_have_the_values_of_the_core(ties: str, lists: Lists) -> None:
    check(lists, np.asarray, ties=ties)


@pytest.mark.slow
@pytest.mark.parametrize("ties", ["average", "worst"])
@examples(30)
@given(batches())
def test_arrays_of_the_standard_have_the_values_of_the_core(ties: str, lists: Lists) -> None:
    check(lists, array_api_strict.asarray, ties=ties)


@examples(20)
@given(batches())
def test_negative_grades_can_lower_the_value_everywhere(lists: Lists) -> None:
    measures = ("nDCG", "DCG@2", "nDCG(dcg='exp-log2')@3", "AP", "R@2")
    for convert in (np.asarray, array_api_strict.asarray):
        check(lists, convert, measures, negative="gain")


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("levels", [3, 20, 10**9])
def test_long_lists_with_many_ties_have_the_values_of_the_core(levels: int, ties: str) -> None:
    lists = large(20, 300, levels=levels, seed=levels)
    check(lists, array_api_strict.asarray, ties=ties)
    check(lists, np.asarray, ties=ties)


@pytest.mark.slow
@pytest.mark.parametrize("ties", TIES)
def test_jax_arrays_have_the_values_of_the_core(ties: str) -> None:
    with jax.enable_x64(True):
        check(large(5, 12, levels=4, seed=1), jnp.asarray, ties=ties)


@pytest.mark.parametrize("convert", [np.asarray, array_api_strict.asarray])
def test_groups_are_in_order_of_first_appearance_and_keep_the_order_of_their_rows(
    convert: Callable[..., Any],
) -> None:
    lists = large(30, 12, levels=3, seed=2)
    random = np.random.default_rng(3)
    names = random.permutation(30) * 7 - 50
    rows = np.repeat(np.arange(30), 12).reshape(30, 12)
    order = random.permutation(30 * 12)
    groups = names[rows].ravel()[order]
    values = ndcg(
        grades=convert(lists.grades.ravel()[order]),
        scores=convert(lists.scores.ravel()[order]),
        groups=convert(groups),
        ties="input",
        k=5,
    )
    first = list(dict.fromkeys(groups.tolist()))
    expected = []
    for name in first:
        at = order[groups == name]
        one = rs.Rankings.from_arrays(
            [lists.grades.ravel()[at]], [lists.scores.ravel()[at]], ties="input"
        )
        expected.append(one.evaluate("nDCG@5")["nDCG@5"])
    np.testing.assert_allclose(np.asarray(values), expected, rtol=1e-12)


@pytest.mark.parametrize("convert", [np.asarray, array_api_strict.asarray])
def test_a_batch_of_batches_has_a_value_for_each_list(convert: Callable[..., Any]) -> None:
    lists = large(6, 8, levels=4, seed=4)
    flat = ndcg(grades=convert(lists.grades), scores=convert(lists.scores), k=3)
    cube = {"grades": lists.grades, "scores": lists.scores, "mask": np.ones((6, 8), dtype=bool)}
    values = ndcg(**{name: convert(array.reshape(2, 3, 8)) for name, array in cube.items()}, k=3)
    assert np.asarray(values).tolist() == np.asarray(flat).reshape(2, 3).tolist()


@pytest.mark.parametrize("convert", [np.asarray, array_api_strict.asarray])
@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.int16, np.uint8, np.bool_])
def test_grades_can_be_integers_of_any_width_and_booleans(
    convert: Callable[..., Any], dtype: type
) -> None:
    lists = large(6, 8, levels=4, seed=5)
    grades = lists.grades.astype(dtype)
    values = ndcg(grades=convert(grades), scores=convert(lists.scores))
    same = ndcg(grades=convert(grades.astype(float)), scores=convert(lists.scores))
    assert np.asarray(values).tolist() == np.asarray(same).tolist()


@pytest.mark.parametrize("convert", [np.asarray, array_api_strict.asarray])
def test_integer_scores_rank_as_they_are(convert: Callable[..., Any]) -> None:
    scores = np.array([[3, 1, 2], [2**40, 2**40 + 1, -5]])
    grades = convert(np.array([[1, 0, 0], [0, 1, 0]]))
    assert np.asarray(ndcg(grades=grades, scores=convert(scores))).tolist() == [1.0, 1.0]


@pytest.mark.parametrize("empty", ["zero", "one", "nan", "skip"])
@pytest.mark.parametrize("convert", [np.asarray, array_api_strict.asarray])
def test_lists_without_relevant_documents_have_the_value_of_the_policy(
    convert: Callable[..., Any], empty: str
) -> None:
    arrays = {"grades": np.array([[0, 0], [0, 1]]), "scores": np.array([[2, 1], [2, 1]])}
    arrays = {name: convert(array) for name, array in arrays.items()}
    found = evaluate_batch(["nDCG", "RR", "P@2"], **arrays, empty=empty)
    rankings = rs.Rankings.from_arrays([[0, 0], [0, 1]], [[2, 1], [2, 1]])
    core = rankings.evaluate(list(found), policy=rs.Policy(empty=empty, ties="average"))
    for name, values in found.items():
        np.testing.assert_array_equal(np.asarray(values), core.per_query(name))


@pytest.mark.parametrize("convert", [np.asarray, array_api_strict.asarray])
def test_batches_without_lists_or_documents_have_values(convert: Callable[..., Any]) -> None:
    none, rows = convert(np.zeros((0, 3))), convert(np.zeros((2, 0)))
    flat, lengths = convert(np.zeros(0)), convert(np.zeros(2, dtype=np.int64))
    assert np.asarray(ndcg(grades=none, scores=none)).tolist() == []
    assert np.asarray(ndcg(grades=rows, scores=rows)).tolist() == [0, 0]
    assert np.asarray(ndcg(grades=flat, scores=flat, lengths=lengths)).tolist() == [0, 0]
    assert np.asarray(ndcg(grades=flat, scores=flat, groups=lengths[:0])).tolist() == []
