"""Grades and scores of `decimal.Decimal` have one verdict, in whatever they come."""

from __future__ import annotations

import decimal
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import rankscope as rs
from hypothesis import example, given
from hypothesis import strategies as st
from rankscope.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

RUN = {"q": {"a": 2.0, "b": 1.0}}


REST = {"query_id": ["q", "q"], "doc_id": ["a", "b"], "score": [2.0, 1.0]}


def read_dict(number: Any) -> float:  # noqa: ANN401 - of any kind
    return rs.evaluate({"q": {"a": number, "b": 1}}, RUN, "DCG")["DCG"]


def read_list(number: Any) -> float:  # noqa: ANN401 - as above
    return float(rs.dcg([number, 1]))


def read_frame(number: object) -> float:
    return of_table(pd.DataFrame({"relevance": [number, Decimal(1)]} | REST))


def of_table(table: object) -> float:
    return rs.Rankings.from_table(table).evaluate("DCG")["DCG"]


WAYS: tuple[Callable[[Any], float], ...] = (
    read_dict,
    read_list,
    read_frame,
    lambda number: rs.evaluate([("q", "a", number), ("q", "b", 1)], RUN, "DCG")["DCG"],
    lambda number: of_table({"relevance": [number, 1]} | REST),
    lambda number: float(rs.dcg([[number, 1]])[0]),
    lambda number: float(rs.dcg(np.array([number, 1], dtype=object))),
)


def verdict(read: Callable[[object], float], number: object) -> float | str:
    """The value, or the code of the error."""
    try:
        return read(number)
    except InputError as error:
        return error.code


FINITE = st.decimals(allow_nan=False, allow_infinity=False)


@given(FINITE)
@example(Decimal("0.1"))
@example(Decimal("0.30000000000000004"))
@example(Decimal("0.12345678901234567890"))
@example(Decimal(2**53 + 1))
@example(Decimal(2**70))
@example(Decimal("0.1"))
@example(Decimal("-0"))
@example(Decimal("1E+400"))
@example(Decimal("1E-400"))
@example(Decimal("1E+999999"))
@example(Decimal("9" * 10_000))
def test_a_decimal_is_read_as_its_text_or_refused_everywhere(number: Decimal) -> None:
    found = {verdict(read, number) for read in WAYS}
    double = float(number)
    if double in {float("inf"), float("-inf")}:
        assert found == {"rel_out_of_range"}
    elif number in (double, Decimal(repr(double))):
        plain = verdict(read_dict, double)
        assert found == {plain}
        text = verdict(lambda _: read_text(number), number)
        assert text in {plain, "rel_not_number"}  # a file takes no 10,000 digits
    else:
        assert found == {"inexact_number"}


def read_text(number: Decimal) -> float:
    """Evaluate judgments that are text."""
    qrels = f"q 0 a {number:f}\nq 0 b 1\n".encode() if abs(number) < 10**20 else b"q 0 a x\n"
    return rs.evaluate(qrels, RUN, "DCG")["DCG"]


@given(st.lists(FINITE, min_size=1, max_size=20).filter(lambda some: len(set(some)) == len(some)))
def test_scores_of_decimals_rank_as_their_doubles(scores: list[Decimal]) -> None:
    names = [f"d{at}" for at in range(len(scores))]
    decimals = dict(zip(names, scores, strict=True))
    qrels = {"q": {name: at % 3 for at, name in enumerate(names)}}
    doubles = {name: float(score) for name, score in decimals.items()}

    def evaluate(run: dict[str, Decimal] | dict[str, float]) -> float:
        return rs.evaluate(qrels, {"q": run}, "nDCG")["nDCG"]  # type: ignore[dict-item]

    found = verdict(lambda _: evaluate(decimals), None)
    assert found in {verdict(lambda _: evaluate(doubles), None), "inexact_number"}


@pytest.mark.parametrize("number", [Decimal("NaN"), Decimal("sNaN"), Decimal("-NaN123")])
def test_a_decimal_that_is_no_number_is_an_unjudged_grade_where_nan_is(number: Decimal) -> None:
    for read in WAYS:
        if read is not read_frame:
            assert verdict(read, number) == verdict(read, float("nan"))


@pytest.mark.parametrize("number", ["0.5", "0.1", "123.456", str(2**60)])
def test_columns_of_decimals_have_the_same_verdict(number: str) -> None:
    wide = pa.decimal128(38, 6)
    expected = verdict(read_dict, Decimal(number))
    columns = {
        "arrow": pa.array([Decimal(number), Decimal(1)], wide),
        "polars": pl.Series([Decimal(number), Decimal(1)], dtype=pl.Decimal(38, 6)),
    }
    for column in columns.values():
        assert verdict(lambda given: of_table({"relevance": given} | REST), column) == expected


def test_the_context_of_the_caller_changes_nothing() -> None:
    """A user may have asked `decimal` for little precision, and to raise whatever it rounds."""
    with decimal.localcontext() as context:
        context.prec = 2
        for signal in context.traps:
            context.traps[signal] = True
        assert verdict(read_dict, Decimal("0.1")) == verdict(read_dict, 0.1)
        assert verdict(read_list, Decimal("0.12345678901234567890")) == "inexact_number"
        assert verdict(read_list, Decimal("sNaN")) == verdict(read_list, float("nan"))


class Own(Decimal):
    """A decimal of another class."""


def test_decimals_of_another_class_are_decimals() -> None:
    for read in WAYS:
        assert verdict(read, Own("0.25")) == verdict(read, 0.25)
