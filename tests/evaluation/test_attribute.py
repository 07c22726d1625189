"""Labels become the grades that their positive classes are worth, whatever holds them."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import rankscope as rs
from hypothesis import given
from hypothesis import strategies as st
from rankscope import Rankings
from rankscope.errors import InputError, UsageError

from tests.refusals import refused, refuses

LISTS = [["click", "buy"], [], None, ["view"], ["click", None, ""], ["buy", "buy"], ["é"]]
GRADES_OF_LISTS = [1 + 5, 0, 0, 0, 1, 5 + 5, 7]
SINGLES = ["click", None, "view", "", "buy", "é"]
GRADES_OF_SINGLES = [1, 0, 0, 0, 5, 7]
POSITIVE = {"click": 1, "buy": 5, "é": 7}
NAN = float("nan")
NO_LABELS = [None, None]

TEXT_LISTS = pa.list_(pa.string())
FORMS_OF_LISTS = {
    "lists": lambda: LISTS,
    "tuples and sets": lambda: [
        ("click", "buy"), (), None, {"view"}, {"click"}, ("buy", "buy"), frozenset({"é"})
    ],
    "NumPy objects": lambda: pd.Series(LISTS).to_numpy(),
    "pandas, lists": lambda: pd.Series(LISTS, index=[3, 3, 2, 1, 0, 9, 8]),
    "pandas, arrays": lambda: pa.array(LISTS, type=TEXT_LISTS).to_pandas(),
    "pandas, NaN": lambda: pd.Series(LISTS).where(pd.Series(LISTS).notna(), np.nan),
    "pandas, NA": lambda: pd.Series([pd.NA if row is None else row for row in LISTS]),
    "pandas, Arrow": lambda: pd.Series(LISTS, dtype=pd.ArrowDtype(TEXT_LISTS)),
    "Polars": lambda: pl.Series(LISTS),
    "Polars, chunks": lambda: pl.concat(
        [pl.Series(LISTS[:3]), pl.Series(LISTS[3:])], rechunk=False
    ),
    "Polars, categories": lambda: pl.Series(LISTS, dtype=pl.List(pl.Categorical)),
    "Arrow": lambda: pa.array(LISTS),
    "Arrow, large": lambda: pa.array(LISTS, type=pa.large_list(pa.large_string())),
    "Arrow, views": lambda: pa.array(LISTS, type=pa.list_(pa.string_view())),
    "Arrow, dictionary": lambda: pa.array(
        LISTS, type=pa.list_(pa.dictionary(pa.int8(), pa.string()))
    ),
    "Arrow, one length": lambda: pa.array(
        [None if row is None else [*row, *[None] * 3][:3] for row in LISTS],
        type=pa.list_(pa.string(), 3),
    ),
    "Arrow, sliced": lambda: pa.array([["buy"], *LISTS, ["buy"]]).slice(1, len(LISTS)),
    "Arrow, chunks": lambda: pa.chunked_array([LISTS[:2], LISTS[2:]], type=TEXT_LISTS),
}  # fmt: skip
FORMS_OF_SINGLES = {
    "NumPy objects": lambda: np.array(SINGLES, dtype=object),
    "pandas": lambda: pd.Series(SINGLES),
    "pandas, objects": lambda: pd.Series(SINGLES, dtype=object),
    "pandas, categories": lambda: pd.Series(SINGLES, dtype="category"),
    "pandas, Arrow": lambda: pd.Series(SINGLES, dtype=pd.ArrowDtype(pa.string())),
    "Polars": lambda: pl.Series(SINGLES),
    "Polars, categories": lambda: pl.Series(SINGLES, dtype=pl.Categorical),
    "Arrow": lambda: pa.array(SINGLES),
    "Arrow, views": lambda: pa.array(SINGLES, type=pa.string_view()),
    "Arrow, dictionary": lambda: pa.array(SINGLES).dictionary_encode(),
    "Arrow, dictionaries": lambda: pa.chunked_array(
        [pa.array(part).dictionary_encode() for part in (SINGLES[:4], SINGLES[4:])]
    ),
}
FORMS_WITHOUT_LABELS = {
    "lists": lambda: [[], []],
    "lists of nothing": lambda: [[None], [None]],
    "NumPy NaN": lambda: np.full(2, np.nan),
    "pandas": lambda: pd.Series(NO_LABELS),
    "pandas NaN": lambda: pd.Series([np.nan, np.nan]),
    "Polars": lambda: pl.Series(NO_LABELS),
    "Polars, lists": lambda: pl.Series([[], []], dtype=pl.List(pl.String)),
    "Arrow": lambda: pa.nulls(2),
    "Arrow, lists": lambda: pa.array([[], None], type=pa.list_(pa.null())),
}


@pytest.mark.parametrize("form", FORMS_OF_LISTS)
def test_every_form_of_lists_has_the_same_grades(form):
    found = rs.attribute(FORMS_OF_LISTS[form](), positive=POSITIVE)
    assert np.asarray(found).tolist() == GRADES_OF_LISTS


@pytest.mark.parametrize("form", FORMS_OF_SINGLES)
def test_every_form_of_single_labels_has_the_same_grades(form):
    column = FORMS_OF_SINGLES[form]()
    found = rs.attribute(column, positive=POSITIVE)
    assert np.asarray(found).tolist() == GRADES_OF_SINGLES
    # Each label predicts itself.
    again = rs.attribute(column, positive=POSITIVE, predicted=column)
    assert np.asarray(again).tolist() == GRADES_OF_SINGLES


@pytest.mark.parametrize("form", FORMS_WITHOUT_LABELS)
@pytest.mark.parametrize("combine", ["sum", "max"])
def test_a_column_without_any_label_is_read(form, combine):
    column = FORMS_WITHOUT_LABELS[form]()
    found = rs.attribute(column, positive="click", unlabelled=3, combine=combine)
    assert np.asarray(found).tolist() == [3, 3]


@pytest.mark.parametrize(
    "column",
    [np.array([], dtype=object), pl.Series([], dtype=pl.String), pa.chunked_array([], pa.string())],
)
def test_a_column_without_rows_has_no_grades(column):
    assert np.asarray(rs.attribute(column, positive="click")).shape == (0,)


LOG = [["click"], ["click", "favorite", "buy"], ["view"], [], None, ["click", "click"]]


def grades(labels, **settings):
    found = rs.attribute(labels, **settings)
    assert isinstance(found, np.ndarray)
    assert found.dtype == np.float64
    return found.tolist()


def test_the_labels_of_one_document_have_a_grade():
    grade = rs.attribute(["click", "favorite", "buy"], positive="click")
    assert (grade, type(grade)) == (1, float)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"positive": "click"}, [1, 1, 0, 0, 0, 2]),
        ({"positive": ["click", "buy"]}, [1, 1 + 0 + 1, 0, 0, 0, 2]),
        ({"positive": {"click", "buy"}}, [1, 1 + 0 + 1, 0, 0, 0, 2]),
        ({"positive": np.array(["click", "buy"])}, [1, 1 + 0 + 1, 0, 0, 0, 2]),
        ({"positive": {"click": -1, "buy": -5}, "combine": "max"}, [-1, 0, 0, 0, 0, -1]),
        ({"positive": "click", "unlabelled": 0.5}, [1, 1, 0, 0.5, 0.5, 2]),
        ({"positive": "absent"}, [0, 0, 0, 0, 0, 0]),
    ],
)
def test_each_setting_is_its_sum(settings, expected):
    assert grades(LOG, **settings) == expected


@pytest.mark.parametrize("unlabelled", [None, NAN])
def test_documents_without_labels_can_be_unjudged(unlabelled):
    found = grades(LOG, positive="click", unlabelled=unlabelled)
    assert [math.isnan(grade) for grade in found] == [False, False, False, True, True, False]
    one = rs.attribute([], positive="click", unlabelled=unlabelled)
    assert math.isnan(float(one))


def test_a_prediction_counts_where_prediction_label_and_positive_class_match():
    labels = ["click", "favorite", "buy"]
    for predicted, grade in (("buy", 1), ("favorite", 0), ("view", 0)):
        assert rs.attribute(labels, positive=["click", "buy"], predicted=predicted) == grade
    predicted = ["click", "click", "view", "click", "buy", None]
    assert grades(LOG, positive={"click": 1, "buy": 5}, predicted=predicted) == [1, 1, 0, 0, 0, 0]
    # A document that has labels is labelled, whatever is predicted for it.
    found = grades(LOG, positive="click", predicted=["buy"] * 6, unlabelled=9)
    assert found == [0, 0, 0, 9, 9, 0]


def test_the_order_of_labels_changes_no_bit_of_a_grade():
    weights = {"a": 0.1, "b": 0.2, "c": 0.3}
    orders = [list(order) for order in itertools.permutations(weights)]
    assert set(grades(orders, positive=weights)) == {0.1 + 0.2 + 0.3}
    assert (0.3 + 0.2) + 0.1 != 0.1 + 0.2 + 0.3
    assert rs.attribute(set(weights), positive=weights) == 0.1 + 0.2 + 0.3


@pytest.mark.parametrize("make", [pd.Series, pl.Series, pa.array, list])
def test_text_is_split_only_where_a_separator_is_given(make):
    log = make(["click|buy", "click", "", None, " buy | click "])
    assert grades(log, positive=POSITIVE, separator="|") == [6, 1, 0, 0, 6]
    assert rs.attribute("click|buy", positive=POSITIVE, separator="|") == 6
    others = {**POSITIVE, "click|buy": 0}
    assert grades(pl.Series(["click|buy", "click"]), positive=others) == [0, 1]


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
def test_every_grade_is_its_definition(log, weights, combine, repeats, predicted):
    def grade(labels):
        counted = set(labels) if repeats == "once" else labels
        worth = [weights.get(label, 0) if predicted in {None, label} else 0 for label in counted]
        return {"sum": sum, "max": max}[combine](worth)

    expected = [grade(labels) if labels else -99 for labels in log]
    guess = None if predicted is None else [predicted] * len(log)
    settings = {"positive": weights, "combine": combine, "repeats": repeats, "unlabelled": -99}
    assert grades(log, **settings, predicted=guess) == expected
    for labels, one in zip(log, expected, strict=True):
        assert rs.attribute(labels or [], **settings, predicted=predicted) == one


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
def test_a_bad_positive_class_is_refused(positive):
    with refuses(UsageError, "bad_positive", match="positive must be") as refused:
        rs.attribute(["click"], positive=positive)
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
def test_a_bad_setting_is_refused(settings, code):
    refused(lambda: rs.attribute([["click"]], positive="click", **settings), code)


@pytest.mark.parametrize(
    ("labels", "code"),
    [
        ("click", "label_type"),
        (b"click", "label_type"),
        (None, "label_type"),
        (5, "label_type"),
        ({"click": 3}, "label_type"),
        ([1, 0], "label_type"),
        (["click", None], "label_type"),
        ([None, None], "label_type"),
        ([["click"], "buy"], "label_type"),
        ([["click"], [1]], "label_type"),
        ([["click"], [["buy"]]], "label_type"),
        ([["click"], [b"buy"]], "label_type"),
        ([["click"], True], "label_type"),
        (np.array([1, 0]), "label_type"),
        (np.array(1), "array_shape"),
        (np.array("click"), "array_shape"),
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
def test_what_are_no_labels_is_refused(labels, code):
    refused(lambda: rs.attribute(labels, positive="click"), code)


def test_the_row_of_a_mistake_is_named():
    with pytest.raises(InputError) as refused:
        rs.attribute([["click"], [], [7]], positive="click")
    assert (refused.value.file, refused.value.line) == ("labels", 3)


def test_unknown_labels_are_refused_where_that_is_asked_for():
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
        ("click", "label_type"),
        (["click", ["click", "buy"]], "label_type"),
        (["click", 1], "label_type"),
    ],
)
def test_predictions_that_do_not_fit_are_refused(predicted, code):
    error = refused(
        lambda: rs.attribute([["click"], []], positive="click", predicted=predicted), code
    )
    assert error.file == "predicted"


@pytest.mark.parametrize("column", [pl.Series([["click"]]), [["click|buy"]], {"click|buy"}])
def test_a_separator_splits_text_only(column):
    with pytest.raises(InputError) as refused:
        rs.attribute(column, positive="click", separator="|")
    assert refused.value.code in {"label_type", "input_type"}


TABLE = {
    "qid": ["x", "x", "x", "y", "y"],
    "rank": [1, 2, 3, 1, 2],
    "events": [["view"], ["click", "buy"], None, ["click", "click"], []],
    "guess": ["click", "buy", "click", "click", None],
    "text": ["view", "click|buy", None, "click|click", ""],
    "last": ["view", "buy", None, "click", ""],
}


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
def test_labels_become_the_grades_of_the_rows(settings, grades):
    for make in (dict, pd.DataFrame, pl.DataFrame, pl.LazyFrame, pa.table):
        rankings = Rankings.from_table(make(TABLE), positive=POSITIVE, **settings)
        assert rankings.relevance.tolist() == pytest.approx(grades, nan_ok=True)
    table = {"qid": TABLE["qid"], "rank": TABLE["rank"], "relevance": grades}
    assert dict(rankings.evaluate("nDCG")) == dict(Rankings.from_table(table).evaluate("nDCG"))


def test_a_column_that_is_named_comes_before_one_with_a_usual_name():
    table = TABLE | {"relevance": [9, 9, 9, 9, 9]}
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
def test_labels_that_cannot_be_read_are_refused(settings, code):
    refused(lambda: Rankings.from_table(TABLE, **settings), code)


def test_columns_of_labels_have_a_label_a_row():
    short = TABLE | {"events": [["click"]]}
    refused(
        lambda: Rankings.from_table(short, labels="events", positive="click"), "length_mismatch"
    )
