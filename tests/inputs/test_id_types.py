"""Dates, times, UUIDs, decimals and bytes are IDs, the same text from every kind of input."""

from __future__ import annotations

import datetime as dt
import decimal
import uuid
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import rankscope as rs
from hypothesis import given
from hypothesis import strategies as st

from tests.generated import examples
from tests.refusals import refused

if TYPE_CHECKING:
    from pathlib import Path

BERLIN = dt.timezone(dt.timedelta(hours=1))
TEXTS: dict[str, dict[object, str]] = {
    "dates": {dt.date(2026, 1, 2): "2026-01-02", dt.date(999, 12, 31): "0999-12-31"},
    "times": {
        dt.datetime(2026, 1, 2, 3, 4, 5): "2026-01-02T03:04:05",  # noqa: DTZ001 - without a zone
        dt.datetime(2026, 1, 2, 3, 4, 0): "2026-01-02T03:04:00",  # noqa: DTZ001 - as above
        dt.datetime(2026, 1, 2, 3, 4, 5, 60_000): "2026-01-02T03:04:05.06",  # noqa: DTZ001 - as above
    },
    "times with a zone": {
        dt.datetime(2026, 1, 2, 3, 4, 5, tzinfo=dt.UTC): "2026-01-02T03:04:05Z",
        dt.datetime(2026, 1, 2, 0, 4, 5, 1, tzinfo=BERLIN): "2026-01-01T23:04:05.000001Z",
    },
    "UUIDs": {
        uuid.UUID(int=1): "00000000-0000-0000-0000-000000000001",
        uuid.UUID(int=2**127): "80000000-0000-0000-0000-000000000000",
    },
    "decimals": {
        decimal.Decimal("1.50"): "1.5",
        decimal.Decimal("2.00"): "2",
        decimal.Decimal(100): "100",
        decimal.Decimal("-0.25"): "-0.25",
        decimal.Decimal("0.00"): "0",
    },
    "bytes": {b"d1": "d1", "é".encode(): "é"},
    "integers of NumPy": {np.int64(-1): "-1", np.int64(2**63 - 1): "9223372036854775807"},
}


def list_texts(column: Any) -> list[str]:  # noqa: ANN401 - of any library
    """Return the texts of the queries of a table."""
    rows = range(len(column))
    table = {"query_id": column, "relevance": [1 for _ in rows], "score": [1.0 for _ in rows]}
    return list(rs.Rankings.from_table(table).query_texts)


def spell(value: object) -> str:
    """Return the text of a query of a dictionary."""
    [text] = rs.Rankings.from_run({value: ["d"]}, {value: ["d"]}).query_texts  # type: ignore[dict-item]
    return text


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_a_time_has_one_text_in_every_unit(unit: str) -> None:
    texts = ["2026-01-02T03:04:00", "2026-01-02T03:04:10"]
    values = np.array(texts, f"datetime64[{unit}]")
    for column in (values, pd.Series(values), pa.array(values), list(values)):
        assert list_texts(column) == texts
    zoned = pa.array(values).cast(pa.timestamp(unit, "Europe/Berlin"))
    assert list_texts(zoned) == [f"{text}Z" for text in texts]
    assert list_texts(np.array(["2026-01-02"], "datetime64[D]")) == ["2026-01-02"]


def test_nanoseconds_are_kept() -> None:
    moment = pd.Timestamp("2026-01-02T03:04:05.123456789")
    for column in (pd.Series([moment]), [moment], pa.array([moment.value], pa.timestamp("ns"))):
        assert list_texts(column) == ["2026-01-02T03:04:05.123456789"]


BILLION = 10**9


@given(
    st.decimals(-BILLION, BILLION, places=4),
    st.datetimes(dt.datetime(1000, 1, 1), dt.datetime(9999, 1, 1)),  # noqa: DTZ001 - without a zone
)
@examples(50)
def test_values_have_the_same_text_alone_and_in_a_column(
    number: decimal.Decimal, time: dt.datetime
) -> None:
    zoned = time.replace(tzinfo=dt.UTC)
    assert decimal.Decimal(spell(number)) == number
    for value, kind in (
        (number, pa.decimal128(20, 4)),
        (time, pa.timestamp("us")),
        (zoned, pa.timestamp("us", "UTC")),
    ):
        assert list_texts(pa.array([value], kind)) == [spell(value)]


@pytest.mark.parametrize("kind", [kind for kind in TEXTS if kind != "integers of NumPy"])
def test_every_kind_of_input_joins_with_its_text(kind: str, tmp_path: Path) -> None:
    ids = list(TEXTS[kind])
    first, last = ids[0], ids[-1]
    rows = [(first, last, 1.0), (first, "x" if kind == "bytes" else first, 2.0)]
    if kind == "bytes":
        rows[1] = (first, b"x", 2.0)
    columns = {
        name: [row[at] for row in rows] for at, name in enumerate(("query_id", "doc_id", "score"))
    }
    pq.write_table(pa.table(columns), tmp_path / "run.parquet")
    runs: list[object] = [
        {first: {doc: score for _, doc, score in rows}},
        {first: [doc for _, doc, _ in reversed(rows)]},
        {first: [(doc, score) for _, doc, score in rows]},
        rows,
        iter(rows),
        columns,
        pd.DataFrame(columns),
        pl.DataFrame(columns),
        pa.table(columns),
        [dict(zip(columns, row, strict=True)) for row in rows],
        str(tmp_path / "run.parquet"),
    ]
    text = {str(TEXTS[kind][first]): {TEXTS[kind][last]: 1}}
    for run in runs:
        assert rs.evaluate(text, run, "RR")["RR"] == 0.5  # type: ignore[call-overload]
    by_type = {first: {last: 1}}
    shown = {str(TEXTS[kind][first]): ["other", TEXTS[kind][last]]}
    for judged in (by_type, {first: {last}}, [(first, last, 1)]):
        assert rs.evaluate(judged, shown, "RR")["RR"] == 0.5  # type: ignore[call-overload]


@pytest.mark.parametrize("value", [1.0, True, dt.time(1), None, [], decimal.Decimal("NaN"), pd.NaT])
def test_other_values_are_no_ids(value: object) -> None:
    for call in (
        lambda: rs.evaluate({"q": {"d": 1}}, [("q", value, 1.0)], "RR"),
        lambda: rs.evaluate(
            {"q": {"d": 1}}, {"query_id": ["q"], "doc_id": [value], "score": [1]}, "RR"
        ),
    ):
        with pytest.raises(rs.InputError):
            call()


def test_missing_times_are_refused_with_their_row(tmp_path: Path) -> None:
    table = pa.table({"query_id": pa.array([0, None], pa.timestamp("us")), "relevance": [1, 0]})
    pq.write_table(table.append_column("score", [[1, 0]]), tmp_path / "table.parquet")
    assert refused(lambda: rs.evaluate(tmp_path / "table.parquet", "AP"), "missing_id").line == 2
    for column in (
        pd.Series(pd.to_datetime(["2026-01-01", None])),
        pa.array([dt.date(2026, 1, 1), None]),
        [dt.date(2026, 1, 1), None],
    ):
        error = refused(lambda column=column: list_texts(column), "missing_id")  # type: ignore[misc]
        assert error.line == 2


def test_a_missing_time_in_a_file_is_no_id(tmp_path: Path) -> None:
    times = pa.array([dt.datetime(2026, 1, 1), None])  # noqa: DTZ001 - a column may have no zone
    table = pa.table({"query_id": times, "relevance": [1, 0], "score": [1.0, 2.0]})
    pq.write_table(table, path := tmp_path / "rows.parquet")
    assert refused(lambda: rs.evaluate(path, "RR"), "missing_id").line == 2


def test_ids_that_become_one_text_are_refused() -> None:
    judged, shown = {"q": {"a": 1}}, {"q": {b"a": 1.0, "a": 2.0}}
    refused(lambda: rs.evaluate(judged, shown, "RR"), "duplicate_doc")
    refused(lambda: rs.evaluate({"q": {b"a": 1, "a": 2}}, judged, "RR"), "duplicate_conflict")
    refused(lambda: rs.evaluate({b"q": {"a": 1}, "q": {"a": 1}}, judged, "RR"), "duplicate_query")
    refused(lambda: rs.evaluate({b"\xff": {"a": 1}}, {"q": ["a"]}, "RR"), "encoding")
    huge = decimal.Decimal("1E+5000")
    refused(lambda: rs.evaluate({huge: {"a": 1}}, {"q": ["a"]}, "RR"), "id_length")


def test_integers_and_their_text_are_one_id() -> None:
    for one in (1, "1", np.int64(1), decimal.Decimal(1), decimal.Decimal("1.0")):
        for other in (1, "1", np.uint8(1), decimal.Decimal("1.00")):
            assert rs.evaluate({one: {other: 1}}, {other: {one: 1.0}}, "RR")["RR"] == 1.0  # type: ignore[dict-item]
