"""Labels become the grades that their positive classes are worth."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import rankscope as rs
from hypothesis import given
from hypothesis import strategies as st

LOG = [["click"], ["click", "favorite", "buy"], ["view"], [], None, ["click", "click"]]
NAN = float("nan")


def grades(labels: object, **settings: object) -> list[float]:
    found = rs.attribute(labels, **settings)  # type: ignore[arg-type]  # as the test says
    assert isinstance(found, np.ndarray)
    assert found.dtype == np.float64
    return found.tolist()


def test_a_label_of_the_positive_class_counts_one_and_others_nothing() -> None:
    assert rs.attribute(["click", "favorite", "buy"], positive="click") == sum([1, 0, 0])
    assert rs.attribute(["view"], positive="click") == 0
    assert isinstance(rs.attribute(["click"], positive="click"), float)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"positive": "click"}, [1, 1, 0, 0, 0, 2]),
        ({"positive": ["click", "buy"]}, [1, 1 + 0 + 1, 0, 0, 0, 2]),
        ({"positive": {"click", "buy"}}, [1, 1 + 0 + 1, 0, 0, 0, 2]),
        ({"positive": np.array(["click", "buy"])}, [1, 1 + 0 + 1, 0, 0, 0, 2]),
        ({"positive": {"click": 1, "buy": 5}}, [1, 1 + 0 + 5, 0, 0, 0, 1 + 1]),
        ({"positive": {"click": 1, "buy": 5}, "combine": "max"}, [1, max(1, 0, 5), 0, 0, 0, 1]),
        ({"positive": "click", "repeats": "once"}, [1, 1, 0, 0, 0, 1]),
        ({"positive": {"click": 1, "view": -2}}, [1, 1, -2, 0, 0, 2]),
        ({"positive": {"click": -1, "buy": -5}, "combine": "max"}, [-1, 0, 0, 0, 0, -1]),
        ({"positive": "click", "unlabelled": 0.5}, [1, 1, 0, 0.5, 0.5, 2]),
        ({"positive": "absent"}, [0, 0, 0, 0, 0, 0]),
    ],
)
def test_each_setting_is_its_sum(settings: dict[str, object], expected: list[float]) -> None:
    assert grades(LOG, **settings) == expected


@pytest.mark.parametrize("unlabelled", [None, NAN])
def test_documents_without_labels_can_be_unjudged(unlabelled: float | None) -> None:
    found = grades(LOG, positive="click", unlabelled=unlabelled)
    assert [math.isnan(grade) for grade in found] == [False, False, False, True, True, False]
    one = rs.attribute([], positive="click", unlabelled=unlabelled)
    assert math.isnan(float(one))


def test_a_prediction_counts_where_prediction_label_and_positive_class_match() -> None:
    labels = ["click", "favorite", "buy"]
    classes = ["click", "buy"]
    assert rs.attribute(labels, positive=classes, predicted="buy") == 1
    assert rs.attribute(labels, positive=classes, predicted="favorite") == 0  # not positive
    assert rs.attribute(["favorite"], positive=classes, predicted="buy") == 0  # not a label
    weights = {"click": 1, "buy": 5}
    assert rs.attribute(labels, positive=weights, predicted="buy") == 5
    predicted = ["click", "click", "view", "click", "buy", None]
    assert grades(LOG, positive=weights, predicted=predicted) == [1, 1, 0, 0, 0, 0]
    # A document that has labels is labelled, whatever is predicted for it.
    found = grades(LOG, positive="click", predicted=["buy"] * 6, unlabelled=9)
    assert found == [0, 0, 0, 9, 9, 0]


def test_the_order_of_labels_changes_no_bit_of_a_grade() -> None:
    weights = {"a": 0.1, "b": 0.2, "c": 0.3}
    orders = [list(order) for order in itertools.permutations(weights)]
    assert set(grades(orders, positive=weights)) == {0.1 + 0.2 + 0.3}
    assert (0.3 + 0.2) + 0.1 != 0.1 + 0.2 + 0.3
    assert rs.attribute(set(weights), positive=weights) == 0.1 + 0.2 + 0.3


def test_text_is_split_only_where_a_separator_is_given() -> None:
    log = ["click|buy", "click", "", None, " buy | click "]
    settings = {"positive": {"click": 1, "buy": 5}, "separator": "|"}
    assert grades(log, **settings) == [6, 1, 0, 0, 6]
    assert rs.attribute("click|buy", **settings) == 6  # type: ignore[arg-type]  # as above
    assert grades(np.array(log[:2]), positive={"click": 1, "buy": 5}) == [0, 1]


def test_grades_of_labels_are_evaluated_as_any_others() -> None:
    shown = [["view"], ["click", "buy"], ["click"]]
    found = rs.attribute(shown, positive={"click": 1, "buy": 5})
    assert rs.ndcg(found) == rs.ndcg([0, 6, 1])  # type: ignore[arg-type]  # an array


CLASSES = ["click", "favorite", "buy", "view", "share"]
label_lists = st.lists(st.sampled_from(CLASSES), max_size=6)


@given(
    log=st.lists(st.none() | label_lists, min_size=1, max_size=12).filter(
        lambda log: any(row is not None for row in log)
    ),
    weights=st.dictionaries(st.sampled_from(CLASSES), st.integers(-4, 9), min_size=1),
    combine=st.sampled_from(["sum", "max"]),
    repeats=st.sampled_from(["each", "once"]),
    predicted=st.none() | st.sampled_from(CLASSES),
)
def test_every_grade_is_its_definition(
    log: list[list[str] | None],
    weights: dict[str, int],
    combine: str,
    repeats: str,
    predicted: str | None,
) -> None:
    def grade(labels: list[str]) -> float:
        counted = set(labels) if repeats == "once" else labels
        worth = [weights.get(label, 0) if predicted in {None, label} else 0 for label in counted]
        return {"sum": sum, "max": max}[combine](worth)

    expected = [grade(labels) if labels else -99 for labels in log]
    guess = None if predicted is None else [predicted] * len(log)
    settings = {"positive": weights, "combine": combine, "repeats": repeats, "unlabelled": -99}
    assert grades(log, **settings, predicted=guess) == expected
    for labels, one in zip(log, expected, strict=True):
        assert rs.attribute(labels or [], **settings, predicted=predicted) == one  # type: ignore[arg-type]  # as above
