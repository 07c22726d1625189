"""What is wrong with a batch is an error that says where, or NaN where nobody looks."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import array_api_strict
import numpy as np
import pytest
import rankscope as rs
from rankscope.array import evaluate_batch, ndcg, precision
from rankscope.errors import FormatError, MeasureError, PolicyError, RankscopeError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

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
def test_a_mistake_is_an_error_with_a_code_and_a_hint(
    arguments: dict[str, Any], kind: type[RankscopeError], code: str
) -> None:
    with pytest.raises(kind) as raised:
        ndcg(**arguments)
    assert raised.value.code == code
    assert raised.value.hint


@pytest.mark.parametrize(
    "measure", ["IDCG", "ERR@5", "AP(denominator='found')", "nDCG(judged_only=True)", "P"]
)
def test_a_measure_without_a_definition_for_arrays_is_an_error(measure: str) -> None:
    with pytest.raises(MeasureError):
        evaluate_batch(measure, **ONE)


def test_precision_needs_a_cutoff() -> None:
    with pytest.raises(TypeError, match="'k'"):
        precision(**ONE)  # type: ignore[call-arg]  # that is the mistake


def test_grades_and_scores_cannot_be_swapped_in_silence() -> None:
    with pytest.raises(TypeError, match="positional"):
        ndcg([[1, 0]], [[2.0, 1.0]])  # type: ignore[misc]  # that is the mistake


def test_an_error_names_the_place_of_the_number() -> None:
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
def test_unchecked_lists_with_mistakes_have_the_value_nan(convert: Callable[..., Any]) -> None:
    values = ndcg(grades=convert(GRADES), scores=convert(SCORES), check=False, empty="one")
    np.testing.assert_array_equal(np.asarray(values), [1, math.nan, math.nan, math.nan])


def test_integers_that_are_no_doubles_are_never_read_as_unjudged() -> None:
    large = array_api_strict.asarray([[2**60 + 1, 0]])
    assert np.isnan(np.asarray(ndcg(grades=large, scores=array_api_strict.asarray([[2, 1]])))).all()


def test_other_devices_are_looked_at_on_request() -> None:
    arrays = {
        "grades": array_api_strict.asarray(GRADES),
        "scores": array_api_strict.asarray(SCORES),
    }
    assert np.isnan(np.asarray(ndcg(**arrays))).sum() == 3
    with pytest.raises(FormatError, match=r"found nan in scores\[1, 0\]"):
        ndcg(**arrays, check=True)


@pytest.mark.parametrize("convert", [np.asarray, array_api_strict.asarray])
def test_masked_places_can_hold_anything(convert: Callable[..., Any]) -> None:
    arrays = {"grades": GRADES, "scores": SCORES, "mask": np.isfinite(SCORES)}
    arrays["mask"][3] = [True, False]
    values = ndcg(**{name: convert(array) for name, array in arrays.items()})
    assert np.asarray(values).tolist() == [1, 0, 0, 1]


def test_a_list_longer_than_max_length_has_no_value_on_a_device() -> None:
    flat = {"grades": [1, 0, 1], "scores": [3.0, 2.0, 1.0], "lengths": [2, 1]}
    arrays = {name: array_api_strict.asarray(values) for name, values in flat.items()}
    np.testing.assert_array_equal(np.asarray(ndcg(**arrays, max_length=1)), [math.nan, 1])
    short = arrays | {"lengths": array_api_strict.asarray([1, 1])}
    assert np.isnan(np.asarray(ndcg(**short, max_length=2))).all()


def test_scikit_learns_functions_know_the_gains_of_all_grades() -> None:
    gains = {0: 3, 1: 0}
    matrices = np.array([[0.0, 1, 1]]), np.array([[3.0, 2, 1]])
    assert rs.ndcg_score(*matrices, k=1, gain=gains) == 1
    with pytest.raises(MeasureError, match="found none for 5"):
        rs.ndcg_score(np.array([[0.0, 5]]), np.array([[1.0, 2]]), gain={0: 0, 1: 1})
