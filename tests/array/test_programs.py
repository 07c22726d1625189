"""Programs are traced and depend on shapes alone; what is wrong with a batch is an error or NaN."""

from __future__ import annotations

import math

import array_api_strict
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import rankscope as rs
from rankscope.array import evaluate_batch, ndcg, precision
from rankscope.errors import FormatError, MeasureError, PolicyError, UsageError

from tests.array.oracle import MEASURES, large

ONE = {"grades": [[1, 0]], "scores": [[2.0, 1.0]]}


@pytest.mark.parametrize(
    ("arguments", "kind", "code"),
    [
        ({"grades": [1, 0], "scores": [1.0, 2.0]}, FormatError, "array_shape"),
        (
            {"grades": [1, 0], "scores": [1.0, 2.0], "mask": [True, True]},
            FormatError,
            "array_shape",
        ),
        ({**ONE, "groups": [1]}, FormatError, "array_shape"),
        ({**ONE, "scores": [[1.0]]}, FormatError, "length_mismatch"),
        ({**ONE, "scores": [[1.0, math.nan]]}, FormatError, "score_nan"),
        ({**ONE, "scores": [[1.0, -math.inf]]}, FormatError, "score_overflow"),
        ({**ONE, "scores": np.array([[2**60, 2**60 + 1]])}, FormatError, "inexact_number"),
        ({**ONE, "scores": [["a", "b"]]}, FormatError, "not_numeric"),
        ({**ONE, "scores": np.array([[True, False]])}, FormatError, "not_numeric"),
        ({**ONE, "scores": np.array([[1j, 2]])}, FormatError, "not_numeric"),
        ({**ONE, "scores": np.ma.array([[1.0, 2]], mask=[[0, 1]])}, FormatError, "not_numeric"),
        ({**ONE, "scores": array_api_strict.ones((1, 2))}, FormatError, "device_array"),
        ({**ONE, "grades": [[1, math.inf]]}, FormatError, "rel_out_of_range"),
        ({**ONE, "grades": [[1, -1]], "negative": "error"}, FormatError, "negative_gain"),
        ({**ONE, "grades": [[1, 5]], "gain": {0: 0, 1: 1}}, FormatError, "gain_missing"),
        ({**ONE, "grades": [[1, 1100]], "gain": "exp2"}, FormatError, "gain_overflow"),
        ({**ONE, "gain": lambda grade: grade}, MeasureError, "bad_parameter"),
        ({**ONE, "gain": "exp"}, MeasureError, "bad_parameter"),
        ({**ONE, "k": 0}, MeasureError, "bad_parameter"),
        ({**ONE, "discount": [1.0], "k": 2}, MeasureError, "bad_parameter"),
        ({**ONE, "ties": "doc_id"}, PolicyError, "bad_policy"),
        ({**ONE, "negative": "minmax"}, PolicyError, "bad_policy"),
        ({**ONE, "empty": "nothing"}, PolicyError, "bad_policy"),
        ({**ONE, "dtype": "float16"}, UsageError, "bad_parameter"),
        ({**ONE, "max_length": 0}, UsageError, "bad_parameter"),
        ({**ONE, "mask": [[True, True]], "lengths": [2]}, UsageError, "bad_parameter"),
        ({**ONE, "mask": [[0.5, 1.0]]}, FormatError, "not_numeric"),
        ({**ONE, "mask": [[True]]}, FormatError, "length_mismatch"),
        ({**ONE, "lengths": [3]}, FormatError, "length_mismatch"),
        ({**ONE, "lengths": [1, 1]}, FormatError, "length_mismatch"),
        ({"grades": [1, 0], "scores": [1, 2], "lengths": [3]}, FormatError, "length_mismatch"),
        ({"grades": [1, 0], "scores": [1, 2], "lengths": [3, -1]}, FormatError, "length_mismatch"),
        ({"grades": [1, 0], "scores": [1, 2], "offsets": [0, 1]}, FormatError, "length_mismatch"),
        ({"grades": [1, 0], "scores": [1, 2], "offsets": []}, FormatError, "length_mismatch"),
        ({"grades": [1, 0], "scores": [1, 2], "groups": [1]}, FormatError, "length_mismatch"),
        ({"grades": [1, 0], "scores": [1, 2], "groups": ["a", "b"]}, FormatError, "not_numeric"),
        ({**ONE, "grades": np.array([[2**60 + 1, 0]])}, FormatError, "inexact_number"),
        ({"grades": [1, 0], "scores": [1, 2], "groups": [0.5, 1]}, FormatError, "not_numeric"),
        (
            {"grades": [1, 0], "scores": [1, 2], "lengths": [2], "max_length": 1},
            FormatError,
            "length_mismatch",
        ),
        ({"grades": [[0, 0]], "scores": [[1, 2]], "empty": "error"}, PolicyError, "empty_query"),
    ],
)
def test_a_mistake_is_an_error_with_a_code_and_a_hint(arguments, kind, code):
    with pytest.raises(kind) as raised:
        ndcg(**arguments)
    assert raised.value.code == code
    assert raised.value.hint


@pytest.mark.parametrize(
    "measure", ["IDCG", "ERR@5", "AP(denominator='found')", "nDCG(judged_only=True)", "P"]
)
def test_a_measure_without_a_definition_for_arrays_is_an_error(measure):
    with pytest.raises(MeasureError):
        evaluate_batch(measure, **ONE)


def test_precision_needs_a_cutoff():
    with pytest.raises(TypeError, match="'k'"):
        precision(**ONE)


def test_grades_and_scores_cannot_be_swapped_in_silence():
    with pytest.raises(TypeError, match="positional"):
        ndcg([[1, 0]], [[2.0, 1.0]])


def test_an_error_names_the_place_of_the_number():
    scores = np.ones((3, 4))
    scores[1, 2] = math.nan
    with pytest.raises(FormatError, match=r"found nan in scores\[1, 2\]"):
        ndcg(grades=np.ones((3, 4)), scores=scores)
    cube = scores.reshape(3, 2, 2)
    with pytest.raises(FormatError, match=r"found nan in scores\[1, 1, 0\]"):
        ndcg(grades=np.ones((3, 2, 2)), scores=cube)
    flat = {"grades": np.ones(12), "scores": scores.ravel()}
    with pytest.raises(FormatError, match=r"found nan in scores\[6\]"):
        ndcg(**flat, groups=np.tile([1, 2], 6))


SCORES = np.array([[2.0, 1.0], [math.nan, 1.0], [math.inf, 1.0], [2.0, math.nan]])
GRADES = np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0], [1.0, math.inf]])


@pytest.mark.parametrize("convert", [np.asarray, array_api_strict.asarray])
def test_unchecked_lists_with_mistakes_have_the_value_nan(convert):
    values = ndcg(grades=convert(GRADES), scores=convert(SCORES), check=False, empty="one")
    np.testing.assert_array_equal(np.asarray(values), [1, math.nan, math.nan, math.nan])


def test_integers_that_are_no_doubles_are_never_read_as_unjudged():
    large = array_api_strict.asarray([[2**60 + 1, 0]])
    assert np.isnan(np.asarray(ndcg(grades=large, scores=array_api_strict.asarray([[2, 1]])))).all()


def test_other_devices_are_looked_at_on_request():
    arrays = {
        "grades": array_api_strict.asarray(GRADES),
        "scores": array_api_strict.asarray(SCORES),
    }
    assert np.isnan(np.asarray(ndcg(**arrays))).sum() == 3
    with pytest.raises(FormatError, match=r"found nan in scores\[1, 0\]"):
        ndcg(**arrays, check=True)


@pytest.mark.parametrize("convert", [np.asarray, array_api_strict.asarray])
def test_masked_places_can_hold_anything(convert):
    arrays = {"grades": GRADES, "scores": SCORES, "mask": np.isfinite(SCORES)}
    arrays["mask"][3] = [True, False]
    values = ndcg(**{name: convert(array) for name, array in arrays.items()})
    assert np.asarray(values).tolist() == [1, 0, 0, 1]


def test_a_list_longer_than_max_length_has_no_value_on_a_device():
    flat = {"grades": [1, 0, 1], "scores": [3.0, 2.0, 1.0], "lengths": [2, 1]}
    arrays = {name: array_api_strict.asarray(values) for name, values in flat.items()}
    np.testing.assert_array_equal(np.asarray(ndcg(**arrays, max_length=1)), [math.nan, 1])
    short = arrays | {"lengths": array_api_strict.asarray([1, 1])}
    assert np.isnan(np.asarray(ndcg(**short, max_length=2))).all()


def test_scikit_learns_functions_know_the_gains_of_all_grades():
    gains = {0: 3, 1: 0}
    matrices = np.array([[0.0, 1, 1]]), np.array([[3.0, 2, 1]])
    assert rs.ndcg_score(*matrices, k=1, gain=gains) == 1
    with pytest.raises(MeasureError, match="found none for 5"):
        rs.ndcg_score(np.array([[0.0, 5]]), np.array([[1.0, 2]]), gain={0: 0, 1: 1})


def by_mask(grades, scores, mask):
    return evaluate_batch(MEASURES, grades=grades, scores=scores, mask=mask)


def test_jit_traces_all_measures_and_gives_the_same_values():
    lists = large(4, 9, levels=3, seed=9)
    expected = evaluate_batch(MEASURES, grades=lists.grades, scores=lists.scores, mask=lists.mask)
    with jax.enable_x64(True):
        found = jax.jit(by_mask)(lists.grades, lists.scores, lists.mask)
    for name, values in found.items():
        np.testing.assert_allclose(values, expected[name], rtol=1e-12, atol=1e-12)


def test_vmap_maps_over_batches_and_lists():
    lists = large(4, 9, levels=3, seed=10)
    expected = ndcg(grades=lists.grades, scores=lists.scores, k=3)

    def of_one(grades, scores):
        return ndcg(grades=grades[None, :], scores=scores[None, :], k=3)[0]

    with jax.enable_x64(True):
        found = jax.jit(jax.vmap(of_one))(lists.grades, lists.scores)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.slow
def test_ragged_batches_are_traced_where_the_longest_list_is_known():
    def by_lengths(lengths, max_length):
        flat = {"grades": jnp.asarray([0.0, 1, 2]), "scores": jnp.asarray([3.0, 2, 1])}
        return ndcg(**flat, lengths=lengths, max_length=max_length)

    with jax.enable_x64(True):
        traced = jax.jit(by_lengths, static_argnames="max_length")
        lengths = jnp.asarray([2, 1])
        np.testing.assert_allclose(traced(lengths, 2), by_lengths(lengths, None), rtol=1e-12)
        with pytest.raises(UsageError, match="being traced") as raised:
            traced(lengths, None)
    assert "max_length" in raised.value.hint


def test_groups_cannot_be_traced():
    def by_groups(groups):
        return ndcg(grades=jnp.asarray([0.0, 1]), scores=jnp.asarray([3.0, 2]), groups=groups)

    with pytest.raises(UsageError, match="being traced"):
        jax.jit(by_groups)(jnp.asarray([1, 1]))


@pytest.mark.slow
def test_single_precision_is_what_jax_has_by_default():
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


def test_half_precision_grades_and_scores_are_taken_as_they_are():
    grades = jnp.asarray([[0, 1, 2]], dtype=jnp.bfloat16)
    scores = jnp.asarray([[0.3, 0.2, 0.1]], dtype=jnp.float16)
    values = ndcg(grades=grades, scores=scores)
    same = ndcg(grades=np.array([[0, 1, 2]]), scores=np.array([[3, 2, 1]], dtype=np.float16))
    assert values.tolist() == pytest.approx(same.tolist(), rel=1e-6)


def test_the_values_have_the_type_that_is_asked_for():
    arrays = {"grades": np.array([[0, 1]]), "scores": np.array([[0.2, 0.1]], dtype=np.float32)}
    assert ndcg(**arrays).dtype == np.float64
    assert ndcg(**arrays, dtype="float32").dtype == np.float32
    assert ndcg(**arrays, dtype=np.float32).dtype == np.float32
