"""What cannot be labels or positive classes is refused, by a typed error with its code."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import rankscope as rs
from rankscope.errors import InputError, UsageError


@pytest.mark.parametrize(
    "positive",
    [
        "",
        [],
        {},
        [""],
        [1],
        [["click"]],
        5,
        None,
        {"click": float("nan")},
        {"click": float("inf")},
        {"click": "1"},
        {"click": True},
        {1: 1},
    ],
)
def test_a_bad_positive_class_is_refused(positive: object) -> None:
    with pytest.raises(UsageError, match="positive must be") as refused:
        rs.attribute(["click"], positive=positive)  # type: ignore[arg-type]  # that is the test
    assert refused.value.code == "bad_positive"
    assert refused.value.hint


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({"combine": "mean"}, "bad_policy"),
        ({"repeats": "twice"}, "bad_policy"),
        ({"unknown": "ignore"}, "bad_policy"),
        ({"unlabelled": float("inf")}, "bad_parameter"),
        ({"unlabelled": "none"}, "bad_parameter"),
        ({"unlabelled": True}, "bad_parameter"),
        ({"separator": ""}, "bad_parameter"),
        ({"separator": 3}, "bad_parameter"),
    ],
)
def test_a_bad_setting_is_refused(settings: dict[str, object], code: str) -> None:
    with pytest.raises(UsageError) as refused:
        rs.attribute([["click"]], positive="click", **settings)  # type: ignore[arg-type]  # likewise
    assert refused.value.code == code


@pytest.mark.parametrize(
    ("labels", "code"),
    [
        ("click", "input_type"),
        (b"click", "input_type"),
        (None, "input_type"),
        (5, "input_type"),
        ({"click": 3}, "input_type"),
        ([1, 0], "label_type"),
        (["click", None], "label_type"),
        ([None, None], "label_type"),
        ([["click"], "buy"], "label_type"),
        ([["click"], [1]], "label_type"),
        ([["click"], [["buy"]]], "label_type"),
        ([["click"], [b"buy"]], "label_type"),
        ([["click"], True], "label_type"),
        (np.array([1, 0]), "label_type"),
        (np.array(1), "label_type"),
        (np.array("click"), "label_type"),
        (np.array([b"click"]), "label_type"),
        (pd.Series([True, False]), "label_type"),
        (pd.Series([3, 4], dtype="category"), "label_type"),
        (pl.Series([1, 2]), "label_type"),
        (pl.Series([[1], [2]]), "label_type"),
        (pl.Series([[["click"]]]), "label_type"),
        (pa.array([{"click": 1}]), "label_type"),
        (pl.DataFrame({"labels": ["click"]}), "label_type"),
    ],
)
def test_what_are_no_labels_is_refused(labels: object, code: str) -> None:
    with pytest.raises(InputError) as refused:
        rs.attribute(labels, positive="click")
    assert refused.value.code == code
    assert refused.value.hint


def test_the_row_of_a_mistake_is_named() -> None:
    with pytest.raises(InputError) as refused:
        rs.attribute([["click"], [], [7]], positive="click")
    assert (refused.value.file, refused.value.line) == ("labels", 3)


def test_unknown_labels_are_refused_where_that_is_asked_for() -> None:
    log = [["click"], [], ["click", "clik"]]
    with pytest.raises(InputError, match="'clik'") as refused:
        rs.attribute(log, positive={"click": 1, "view": 0}, unknown="error")
    assert (refused.value.code, refused.value.line) == ("unknown_label", 3)
    known = rs.attribute(log[:2], positive={"click": 1, "view": 0}, unknown="error")
    assert np.asarray(known).tolist() == [1, 0]


@pytest.mark.parametrize(
    ("predicted", "code"),
    [
        (["click"], "length_mismatch"),
        ("click", "input_type"),
        (["click", ["click", "buy"]], "label_type"),
        (["click", 1], "label_type"),
    ],
)
def test_predictions_that_do_not_fit_are_refused(predicted: object, code: str) -> None:
    with pytest.raises(InputError) as refused:
        rs.attribute([["click"], []], positive="click", predicted=predicted)
    assert refused.value.code == code
    assert refused.value.file == "predicted"


@pytest.mark.parametrize("column", [pl.Series([["click"]]), [["click|buy"]], {"click|buy"}])
def test_a_separator_splits_text_only(column: object) -> None:
    with pytest.raises(InputError) as refused:
        rs.attribute(column, positive="click", separator="|")
    assert refused.value.code in {"label_type", "input_type"}
