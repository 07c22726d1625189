"""All values in one frame, wide or long, for pandas, Polars and Arrow."""

from __future__ import annotations

import math

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import rankscope as rs
from rankscope.errors import UsageError

LOG = pd.DataFrame(
    {
        "qid": [5, 5, 3, 3],
        "relevance": [1, 0, 0, 1],
        "score": [2.0, 1.0, 2.0, 1.0],
        "country": ["de", "de", None, None],
        "year": [2025, 2025, 2026, 2026],
    }
)
QRELS = {"q1": {"a": 1}, "q2": {"b": 1}}
RUNS = {"old": {"q1": {"x": 2.0, "a": 1.0}, "q2": {"b": 1.0}}, "new": {"q1": {"a": 1.0}}}


def evaluate() -> rs.Evaluation:
    return rs.evaluate(LOG, ["P@1", "RR"], by=["country", "year"])


def test_a_wide_frame_has_a_row_for_each_query() -> None:
    frame = evaluate().to_pandas(names="plain")
    assert [*frame] == ["qid", "country", "year", "p_at_1", "rr"]
    assert frame["qid"].tolist() == [5, 3]
    assert frame["country"].isna().tolist() == [False, True]
    assert frame["year"].dtype == "int64"
    assert frame["rr"].tolist() == [1.0, 0.5]


def test_a_long_frame_has_a_row_for_each_query_and_measure() -> None:
    frame = evaluate().to_polars(shape="long")
    assert frame.rows() == [
        (5, "de", 2025, "P@1", 1.0),
        (3, None, 2026, "P@1", 0.0),
        (5, "de", 2025, "RR", 1.0),
        (3, None, 2026, "RR", 0.5),
    ]
    assert frame.columns == ["qid", "country", "year", "measure", "value"]
    assert frame.schema["qid"] == pl.Int64
    by_measure = frame.pivot("measure", index="qid", values="value")  # noqa: PD010 - of Polars
    assert by_measure.rows() == [(5, 1.0, 1.0), (3, 0.0, 0.5)]


def test_arrow_has_the_same_frames() -> None:
    for shape in ("wide", "long"):
        found = evaluate().to_arrow(shape=shape)
        assert isinstance(found, pa.Table)
        assert found.to_pylist() == evaluate().to_polars(shape=shape).to_dicts()


def test_queries_that_are_left_out_have_no_number() -> None:
    left_out = rs.evaluate(QRELS, RUNS["new"], "RR", policy="missing=skip")
    values = left_out.to_pandas(shape="long")["value"].tolist()
    assert values[0] == 1.0
    assert math.isnan(values[1])


def test_several_runs_are_in_one_frame() -> None:
    found = rs.evaluate(QRELS, RUNS, ["P@1", "RR"])
    assert found.to_polars().rows() == [("old", 0.5, 0.75), ("new", 0.5, 0.5)]
    assert found.to_polars(names="plain").columns == ["run", "p_at_1", "rr"]
    wide = found.to_polars(shape="wide")
    assert wide.columns == ["run", "query_id", "P@1", "RR"]
    assert wide.rows()[:2] == [("old", "q1", 0.0, 0.5), ("old", "q2", 1.0, 1.0)]
    long = found.to_pandas(shape="long", names="plain")
    assert [*long] == ["run", "query_id", "measure", "value"]
    assert len(long) == 2 * 2 * 2
    means = long.groupby(["run", "measure"])["value"].mean()
    assert means["old", "rr"] == found["old"]["RR"]
    assert [*rs.evaluate(QRELS, RUNS, "RR", interval=0.9).to_pandas(names="plain")] == [
        "run",
        "rr",
        "rr_lower",
        "rr_upper",
    ]


def test_frames_with_two_columns_of_one_name_are_refused() -> None:
    log = LOG.rename(columns={"year": "value"})
    found = rs.evaluate(log, ["RR"], by="value")
    assert "value" in found.to_pandas()
    with pytest.raises(UsageError, match="'value' twice"):
        found.to_pandas(shape="long")
    with pytest.raises(UsageError, match="expected shape to be"):
        found.to_pandas(shape="tall")  # type: ignore[arg-type]  # refused
