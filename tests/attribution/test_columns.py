"""One column of labels gives the same grades, whatever library holds it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import rankscope as rs

if TYPE_CHECKING:
    from collections.abc import Callable

LISTS = [["click", "buy"], [], None, ["view"], ["click", None, ""], ["buy", "buy"], ["é"]]
GRADES_OF_LISTS = [1 + 5, 0, 0, 0, 1, 5 + 5, 7]
SINGLES = ["click", None, "view", "", "buy", "é"]
GRADES_OF_SINGLES = [1, 0, 0, 0, 5, 7]
POSITIVE = {"click": 1, "buy": 5, "é": 7}
NO_LABELS: list[None] = [None, None]

TEXT_LISTS = pa.list_(pa.string())
FORMS_OF_LISTS: dict[str, Callable[[], object]] = {
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
    "Arrow, sliced": lambda: pa.array([["buy"], *LISTS, ["buy"]]).slice(1, len(LISTS)),
    "Arrow, chunks": lambda: pa.chunked_array([LISTS[:2], LISTS[2:]], type=TEXT_LISTS),
}  # fmt: skip
FORMS_OF_SINGLES: dict[str, Callable[[], object]] = {
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
FORMS_WITHOUT_LABELS: dict[str, Callable[[], object]] = {
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
def test_every_form_of_lists_has_the_same_grades(form: str) -> None:
    found = rs.attribute(FORMS_OF_LISTS[form](), positive=POSITIVE)
    assert np.asarray(found).tolist() == GRADES_OF_LISTS


@pytest.mark.parametrize("form", FORMS_OF_SINGLES)
def test_every_form_of_single_labels_has_the_same_grades(form: str) -> None:
    column = FORMS_OF_SINGLES[form]()
    found = rs.attribute(column, positive=POSITIVE)
    assert np.asarray(found).tolist() == GRADES_OF_SINGLES
    # Each label predicts itself.
    again = rs.attribute(column, positive=POSITIVE, predicted=column)
    assert np.asarray(again).tolist() == GRADES_OF_SINGLES


@pytest.mark.parametrize("form", FORMS_WITHOUT_LABELS)
@pytest.mark.parametrize("combine", ["sum", "max"])
def test_a_column_without_any_label_is_read(form: str, combine: str) -> None:
    column = FORMS_WITHOUT_LABELS[form]()
    found = rs.attribute(column, positive="click", unlabelled=3, combine=combine)  # type: ignore[arg-type]  # one of its choices
    assert np.asarray(found).tolist() == [3, 3]


@pytest.mark.parametrize(
    "column",
    [np.array([], dtype=object), pl.Series([], dtype=pl.String), pa.chunked_array([], pa.string())],
)
def test_a_column_without_rows_has_no_grades(column: object) -> None:
    assert np.asarray(rs.attribute(column, positive="click")).shape == (0,)


@pytest.mark.parametrize("make", [pd.Series, pl.Series, pa.array, list])
def test_delimited_text_is_split_in_every_column(
    make: Callable[[list[str | None]], object],
) -> None:
    column = make(["click,buy", None, "", "view, click"])
    found = rs.attribute(column, positive=POSITIVE, separator=",")
    assert np.asarray(found).tolist() == [6, 0, 0, 1]


def test_lists_of_one_length_are_read() -> None:
    pairs = pa.array([["click", "buy"], None, ["view", None]], type=pa.list_(pa.string(), 2))
    assert np.asarray(rs.attribute(pairs, positive=POSITIVE)).tolist() == [6, 0, 0]
