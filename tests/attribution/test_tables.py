"""A table with labels in place of grades is the table with the grades of these labels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import rankscope as rs
from rankscope import Rankings
from rankscope.errors import RankscopeError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

LOG: dict[str, list[object]] = {
    "qid": ["x", "x", "x", "y", "y"],
    "rank": [1, 2, 3, 1, 2],
    "events": [["view"], ["click", "buy"], None, ["click", "click"], []],
    "guess": ["click", "buy", "click", "click", None],
    "text": ["view", "click|buy", None, "click|click", ""],
    "last": ["view", "buy", None, "click", ""],
}
POSITIVE = {"click": 1, "buy": 5}
NAN = float("nan")


@pytest.mark.parametrize("make", [dict, pd.DataFrame, pl.DataFrame, pl.LazyFrame, pa.table])
@pytest.mark.parametrize(
    ("settings", "grades"),
    [
        ({"labels": "events"}, [0, 6, 0, 2, 0]),
        ({"labels": "events", "combine": "max"}, [0, 5, 0, 1, 0]),
        ({"labels": "events", "repeats": "once"}, [0, 6, 0, 1, 0]),
        ({"labels": "events", "predicted": "guess"}, [0, 5, 0, 2, 0]),
        ({"labels": "events", "unlabelled": None}, [0, 6, NAN, 2, NAN]),
        ({"labels": "text", "separator": "|"}, [0, 6, 0, 2, 0]),
        ({"labels": "last"}, [0, 5, 0, 1, 0]),
    ],
)
def test_labels_become_the_grades_of_the_rows(
    make: Callable[[dict[str, list[object]]], object],
    settings: dict[str, object],
    grades: list[float],
) -> None:
    rankings = Rankings.from_table(make(LOG), positive=POSITIVE, **settings)
    assert rankings.relevance.tolist() == pytest.approx(grades, nan_ok=True)
    table = {"qid": LOG["qid"], "rank": LOG["rank"], "relevance": grades}
    assert dict(rankings.evaluate("nDCG")) == dict(Rankings.from_table(table).evaluate("nDCG"))


def test_a_column_that_is_named_comes_before_one_with_a_usual_name() -> None:
    table = LOG | {"relevance": [9, 9, 9, 9, 9]}
    rankings = Rankings.from_table(table, labels="events", positive="click")
    assert rankings.relevance.tolist() == [0, 1, 0, 2, 0]


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({"labels": "events"}, "bad_positive"),
        ({"labels": "events", "positive": []}, "bad_positive"),
        ({"labels": "events", "positive": "click", "combine": "mean"}, "bad_policy"),
        ({"labels": "events", "positive": "click", "relevance": "rank"}, "bad_parameter"),
        ({"positive": "click"}, "bad_parameter"),
        ({"predicted": "guess"}, "bad_parameter"),
        ({"combine": "max"}, "bad_parameter"),
        ({"labels": "evnts", "positive": "click"}, "columns"),
        ({"labels": "events", "positive": "click", "predicted": "gess"}, "columns"),
        ({"labels": "rank", "positive": "click"}, "label_type"),
        ({"labels": "events", "positive": "click", "unknown": "error"}, "unknown_label"),
    ],
)
def test_labels_that_cannot_be_read_are_refused(settings: dict[str, object], code: str) -> None:
    with pytest.raises(RankscopeError) as refused:
        Rankings.from_table(LOG, **settings)  # type: ignore[arg-type]  # that is the test
    assert refused.value.code == code
    assert refused.value.hint


def test_a_slip_of_the_pen_is_no_setting_of_labels() -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'scroe'"):
        Rankings.from_table(LOG, scroe="rank")  # type: ignore[call-arg]  # that is the test


def test_columns_of_labels_have_a_label_a_row() -> None:
    short = LOG | {"events": [["click"]]}
    with pytest.raises(RankscopeError) as refused:
        Rankings.from_table(short, labels="events", positive="click")
    assert refused.value.code == "length_mismatch"


def test_positive_classes_are_asked_for_by_name() -> None:
    with pytest.raises(UsageError, match="found None"):
        rs.attribute(["click"], positive=None)  # type: ignore[arg-type]  # that is the test
