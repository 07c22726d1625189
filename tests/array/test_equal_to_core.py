"""Every measure, layout and policy gives the values of the core, by the core and by the program."""

from __future__ import annotations

import copy
import itertools
import math
import pickle
from fractions import Fraction

import array_api_strict
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import rankscope as rs
from hypothesis import given
from hypothesis import strategies as st
from rankscope._core import EMPTY_VALUES
from rankscope.array import RunningMeans, evaluate_batch, ndcg
from rankscope.errors import EmptyError, FormatError, PolicyError, UsageError

from tests.array.oracle import batches, check, large
from tests.generated import examples

TIES = ("average", "input", "best", "worst")
NEGATIVE = ("nonrelevant", "gain")


@pytest.mark.parametrize("ties", TIES)
@examples(30)
@given(batches())
def test_numpy_arrays_have_the_values_of_the_core(ties, lists):
    check(lists, np.asarray, ties=ties)


@pytest.mark.slow
@pytest.mark.parametrize("ties", ["average", "worst"])
@examples(30)
@given(batches())
def test_arrays_of_the_standard_have_the_values_of_the_core(ties, lists):
    check(lists, array_api_strict.asarray, ties=ties)


@examples(20)
@given(batches())
def test_negative_grades_can_lower_the_value_everywhere(lists):
    measures = ("nDCG", "DCG@2", "nDCG(dcg='exp-log2')@3", "AP", "R@2")
    for convert in (np.asarray, array_api_strict.asarray):
        check(lists, convert, measures, negative="gain")


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("levels", [3, 20, 10**9])
def test_long_lists_with_many_ties_have_the_values_of_the_core(levels, ties):
    lists = large(20, 300, levels=levels, seed=levels)
    check(lists, array_api_strict.asarray, ties=ties)
    check(lists, np.asarray, ties=ties)


@pytest.mark.slow
@pytest.mark.parametrize("ties", TIES)
def test_jax_arrays_have_the_values_of_the_core(ties):
    with jax.enable_x64(True):
        check(large(5, 12, levels=4, seed=1), jnp.asarray, ties=ties)


@pytest.mark.parametrize("convert", [np.asarray, array_api_strict.asarray])
def test_groups_are_in_order_of_first_appearance_and_keep_the_order_of_their_rows(convert):
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
def test_a_batch_of_batches_has_a_value_for_each_list(convert):
    lists = large(6, 8, levels=4, seed=4)
    flat = ndcg(grades=convert(lists.grades), scores=convert(lists.scores), k=3)
    cube = {"grades": lists.grades, "scores": lists.scores, "mask": np.ones((6, 8), dtype=bool)}
    values = ndcg(**{name: convert(array.reshape(2, 3, 8)) for name, array in cube.items()}, k=3)
    assert np.asarray(values).tolist() == np.asarray(flat).reshape(2, 3).tolist()


@pytest.mark.parametrize("convert", [np.asarray, array_api_strict.asarray])
@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.int16, np.uint8, np.bool_])
def test_grades_can_be_integers_of_any_width_and_booleans(convert, dtype):
    lists = large(6, 8, levels=4, seed=5)
    grades = lists.grades.astype(dtype)
    values = ndcg(grades=convert(grades), scores=convert(lists.scores))
    same = ndcg(grades=convert(grades.astype(float)), scores=convert(lists.scores))
    assert np.asarray(values).tolist() == np.asarray(same).tolist()


@pytest.mark.parametrize("convert", [np.asarray, array_api_strict.asarray])
def test_integer_scores_rank_as_they_are(convert):
    scores = np.array([[3, 1, 2], [2**40, 2**40 + 1, -5]])
    grades = convert(np.array([[1, 0, 0], [0, 1, 0]]))
    assert np.asarray(ndcg(grades=grades, scores=convert(scores))).tolist() == [1.0, 1.0]


@pytest.mark.parametrize("empty", ["zero", "one", "nan", "skip"])
@pytest.mark.parametrize("convert", [np.asarray, array_api_strict.asarray])
def test_lists_without_relevant_documents_have_the_value_of_the_policy(convert, empty):
    arrays = {"grades": np.array([[0, 0], [0, 1]]), "scores": np.array([[2, 1], [2, 1]])}
    arrays = {name: convert(array) for name, array in arrays.items()}
    found = evaluate_batch(["nDCG", "RR", "P@2"], **arrays, empty=empty)
    rankings = rs.Rankings.from_arrays([[0, 0], [0, 1]], [[2, 1], [2, 1]])
    core = rankings.evaluate(list(found), policy=rs.Policy(empty=empty, ties="average"))
    for name, values in found.items():
        np.testing.assert_array_equal(np.asarray(values), core.per_query(name))


@pytest.mark.parametrize("convert", [np.asarray, array_api_strict.asarray])
def test_batches_without_lists_or_documents_have_values(convert):
    none, rows = convert(np.zeros((0, 3))), convert(np.zeros((2, 0)))
    flat, lengths = convert(np.zeros(0)), convert(np.zeros(2, dtype=np.int64))
    assert np.asarray(ndcg(grades=none, scores=none)).tolist() == []
    assert np.asarray(ndcg(grades=rows, scores=rows)).tolist() == [0, 0]
    assert np.asarray(ndcg(grades=flat, scores=flat, lengths=lengths)).tolist() == [0, 0]
    assert np.asarray(ndcg(grades=flat, scores=flat, groups=lengths[:0])).tolist() == []


MEASURES = ("nDCG@3", "DCG(gain='exp2')", "AP", "RR")
ONE = {"grades": [[1, 0]], "scores": [[2.0, 1.0]]}


@pytest.mark.parametrize("convert", [np.asarray, array_api_strict.asarray])
@examples(20)
@given(st.lists(st.integers(1, 59), max_size=5), st.randoms(use_true_random=False))
def test_the_means_do_not_depend_on_the_batches_or_their_order(convert, cuts, random):
    lists = large(60, 7, levels=3, seed=6)
    together, first, second = (RunningMeans(MEASURES) for _ in range(3))
    together.update(grades=convert(lists.grades), scores=convert(lists.scores))
    parts = list(itertools.pairwise([0, *sorted(cuts), 60]))
    random.shuffle(parts)
    for (start, end), means in zip(parts, itertools.cycle([first, second]), strict=False):
        grades, scores = lists.grades[start:end], lists.scores[start:end]
        means.update(grades=convert(grades), scores=convert(scores))
    assert (first + second).compute() == together.compute()
    first.merge(second)
    assert first.compute() == together.compute()


def test_the_mean_is_that_of_the_values_without_rounding():
    lists = large(500, 9, levels=4, seed=7)
    arrays = {"grades": lists.grades, "scores": lists.scores}
    means = RunningMeans(MEASURES)
    means.update(**arrays)
    for name, values in evaluate_batch(MEASURES, **arrays).items():
        exact = sum(map(Fraction, values.tolist())) / 500
        # Values below 2^-8 have bits beyond 2^-60.
        assert abs(Fraction(means.compute()[name]) - exact) <= Fraction(1, 2**53) * max(exact, 1)


def test_negative_values_add_up_too():
    means = RunningMeans("DCG@1", negative="gain")
    means.update(grades=[[-3], [1], [-1]], scores=[[1], [1], [1]])
    assert means.compute() == {"DCG@1": -1.0}


MEANS = {
    word: 1.0 if math.isnan(value) else (1 + value) / 2 for word, value in EMPTY_VALUES.items()
}


@pytest.mark.parametrize(("empty", "mean"), [("skip", 1.0), *MEANS.items()])
@pytest.mark.parametrize("convert", [np.asarray, array_api_strict.asarray])
def test_undefined_lists_count_as_the_policy_says(convert, empty, mean):
    means = RunningMeans("nDCG", empty=empty)
    means.update(grades=convert(np.eye(2)[[0]]), scores=convert(np.array([[2.0, 1.0]])))
    means.update(grades=convert(np.zeros((1, 2))), scores=convert(np.array([[2.0, 1.0]])))
    assert means.compute() == {"nDCG": mean}


def test_the_mean_of_no_list_is_an_error_or_nan_if_lists_were_skipped():
    means = RunningMeans("nDCG")
    with pytest.raises(EmptyError):
        means.compute()
    skipping = RunningMeans("nDCG", empty="skip")
    skipping.update(grades=[[0]], scores=[[1]])
    assert math.isnan(skipping.compute()["nDCG"])


def test_an_undefined_list_is_an_error_if_the_policy_says_so():
    means = RunningMeans("nDCG", empty="error")
    means.update(**ONE)
    assert means.compute() == {"nDCG": 1.0}
    means.update(grades=[[0]], scores=[[1]])
    with pytest.raises(PolicyError, match="found none for 1"):
        means.compute()


def test_a_list_without_a_value_is_an_error_when_the_mean_is_asked_for():
    means = RunningMeans("nDCG", check=False)
    means.update(grades=[[1, 0]], scores=[[math.nan, 1.0]])
    with pytest.raises(FormatError, match="found none for 1"):
        means.compute()
    checking = RunningMeans("nDCG")
    with pytest.raises(FormatError, match=r"scores\[0, 0\]"):
        checking.update(grades=[[1, 0]], scores=[[math.nan, 1.0]])


def test_a_reset_forgets_all_lists():
    means = RunningMeans("RR")
    means.update(grades=[[0, 1]], scores=[[2, 1]])
    means.reset()
    means.update(**ONE)
    assert means.compute() == {"RR": 1.0}


@pytest.mark.parametrize("convert", [np.asarray, array_api_strict.asarray])
def test_the_state_is_a_dictionary_of_integer_arrays(convert):
    means = RunningMeans(MEASURES)
    means.update(**{name: convert(np.asarray(array)) for name, array in ONE.items()})
    state = means.state()
    assert {name: np.asarray(array).dtype for name, array in state.items()} == dict.fromkeys(
        ("sums", "counts", "refused"), np.dtype(np.int64)
    )
    loaded = RunningMeans(MEASURES)
    loaded.load_state({name: np.asarray(array) for name, array in state.items()})
    assert loaded.compute() == means.compute()
    for bad in ({}, {**state, "more": 1}, {**state, "sums": state["counts"]}):
        with pytest.raises(FormatError):
            loaded.load_state(bad)


def test_the_means_pickle_and_copy():
    means = RunningMeans(MEASURES, empty="skip")
    means.update(**ONE)
    pickled = pickle.loads(pickle.dumps(means))  # noqa: S301 - made here
    for same in (pickled, copy.deepcopy(means)):
        same.update(**ONE)
        assert same.compute() == means.compute()


@pytest.mark.parametrize(
    "other", [RunningMeans("RR"), RunningMeans("nDCG", empty="skip"), "a text"]
)
def test_means_of_other_measures_or_settings_do_not_merge(other):
    with pytest.raises(UsageError, match="the same measures and settings"):
        RunningMeans("nDCG").merge(other)


@pytest.mark.slow
@pytest.mark.parametrize("has_double", [True, False])
def test_jax_arrays_have_means(has_double):
    lists = large(30, 6, levels=3, seed=8)
    measures = ("nDCG@3", "AP", "R@3", "Success@1")  # each takes a while to trace
    expected = RunningMeans(measures)
    expected.update(grades=lists.grades, scores=lists.scores)
    with jax.enable_x64(has_double):
        means = RunningMeans(measures)
        for part in (slice(0, 15), slice(15, 30)):  # of one shape, traced once
            arrays = lists.grades[part], lists.scores[part]
            means.update(**dict(zip(("grades", "scores"), map(jnp.asarray, arrays), strict=True)))
        for name, mean in means.compute().items():
            assert mean == pytest.approx(
                expected.compute()[name], rel=1e-12 if has_double else 1e-6
            )
