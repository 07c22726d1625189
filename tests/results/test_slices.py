"""Slices have one column for each attribute, with the type that it has in the input."""

from __future__ import annotations

import datetime as dt
import json
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import rankscope as rs
from rankscope.cli import main
from rankscope.errors import UsageError

DAY = dt.date(2026, 11, 20)
TIME = dt.datetime(2026, 11, 20, 8, 30, tzinfo=dt.UTC)


def make_log(attribute: list[object], name: str = "attribute") -> pl.DataFrame:
    """Three queries of two documents, with an attribute of each query."""
    return pl.DataFrame(
        {
            "query_id": [1, 1, 2, 2, 3, 3],
            "relevance": [1, 0, 0, 1, 0, 1],
            "score": [2.0, 1.0, 2.0, 1.0, 1.0, 2.0],
            name: [value for value in attribute for _ in range(2)],
        }
    )


@pytest.mark.parametrize(
    "values",
    [
        [1, 1, 2],
        [True, True, False],
        [0.5, 0.5, 2.0],
        ["de", "de", "true"],
        [DAY, DAY, dt.date(2027, 1, 1)],
        [TIME, TIME, TIME + dt.timedelta(microseconds=1)],
        [5, 5, None],
        [True, True, None],
        ["de", "de", None],
        [DAY, DAY, None],
    ],
)
def test_values_come_back_with_their_types(values: list[object]) -> None:
    log = make_log(values)
    slices = rs.evaluate(log, ["P@1"], by="attribute").slices
    assert slices is not None
    assert slices.column("attribute") == (values[0], values[2])
    assert slices.column("P@1") == (0.5, 1.0)
    assert slices.to_polars().schema["attribute"] == log.schema["attribute"] or values[0] is TIME
    if values[2] is None:
        assert "<missing>" in str(slices)


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int32", "bool"])
def test_pandas_keeps_the_width_of_integers(dtype: str) -> None:
    log = make_log([1, 1, 0]).to_pandas().astype({"attribute": dtype})
    slices = rs.evaluate(log, ["P@1"], by="attribute").slices
    assert slices is not None
    assert slices.to_pandas()["attribute"].dtype == dtype
    assert log.merge(slices.to_pandas(), on="attribute")["P@1"].tolist() == [0.5] * 4 + [1.0] * 2


def test_several_attributes_have_a_column_each() -> None:
    log = make_log(["us", "us", "us"], "country").with_columns(
        device=pl.Series(["web", "web", "tv"]).gather([0, 0, 1, 1, 2, 2]), year=pl.lit(2026)
    )
    slices = rs.evaluate(log, ["P@1"], by=["country", "device", "year"]).slices
    assert slices is not None
    assert slices.attributes == ("country", "device", "year")
    assert slices.rows() == [("us", "web", 2026, 2, 0.5, 2), ("us", "tv", 2026, 1, 1.0, 1)]
    assert slices.labels == ("us, web, 2026", "us, tv, 2026")
    assert [*slices.to_dict()] == [("us", "web", "2026"), ("us", "tv", "2026")]
    losses = rs.Rankings.from_table(log, attributes=["country", "device"]).losses(
        "nDCG@2", by=["country", "device"]
    )
    assert losses.slices is not None
    assert losses.slices.names[:4] == ("country", "device", "queries", "value")


def test_values_with_commas_are_not_confused() -> None:
    log = make_log(["a, b", "a", "a"], "one").with_columns(
        two=pl.Series(["c", "c", "b, c", "b, c", "b, c", "b, c"])
    )
    rankings = rs.Rankings.from_table(log, attributes=["one", "two"])
    slices = rankings.evaluate(["P@1"], by=["one", "two"]).slices
    assert slices is not None
    assert slices.rows() == [("a", "b, c", 2, 0.5, 2), ("a, b", "c", 1, 1.0, 1)]
    compared = rs.compare(
        log.with_columns(other=pl.Series([1.0, 2.0] * 3)),
        ["P@1"],
        scores=["score", "other"],
        by=["one", "two"],
    )
    assert len({each.slice for each in compared.comparisons} - {None}) == 2


def test_an_attribute_cannot_have_the_name_of_another_column() -> None:
    for name in ("queries", "P@1"):
        with pytest.raises(UsageError, match="name of its own"):
            rs.evaluate(make_log([1, 1, 2], name), ["P@1"], by=name)


def test_the_command_line_prints_a_column_for_each_attribute(
    tmp_path: object, capsys: pytest.CaptureFixture[str]
) -> None:
    path = f"{tmp_path}/log.csv"
    make_log(["us", "us", "de"], "country").with_columns(device=pl.lit("tv")).write_csv(path)
    common = ["eval", path, "-m", "P@1", "--by", "country", "--by", "device"]
    assert main(common) == 0
    assert capsys.readouterr().out.splitlines() == [
        "measure\tcountry\tdevice\tvalue\tqueries",
        "P@1\tus\ttv\t0.5000\t2",
        "P@1\tde\ttv\t1.0000\t1",
        "P@1\tall\tall\t0.6667\t3",
    ]
    assert main([*common, "--csv"]) == 0
    assert capsys.readouterr().out.splitlines()[0] == "country,device,queries,P@1,P@1 n"
    assert main([*common, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["slices"]
    assert found[1] == {"country": "de", "device": "tv", "queries": 1, "P@1": 1.0, "P@1 n": 1}


def test_slices_of_a_result_that_was_pickled_have_their_types() -> None:
    rankings = rs.Rankings.from_table(make_log([DAY, DAY, None]), attributes=["attribute"])
    again = pickle.loads(pickle.dumps(rankings))  # noqa: S301 - dumped here
    slices = again.evaluate("P@1", by="attribute").slices
    assert slices.column("attribute") == (DAY, None)


def test_a_frame_of_numpy_values_is_as_a_frame_of_python_values() -> None:
    log = make_log([1, 1, 2]).to_pandas()
    log["attribute"] = np.array(["2026-11-20", "2026-11-20", "2027-01-01"], dtype="M8[ns]")[
        [0, 0, 1, 1, 2, 2]
    ]
    slices = rs.evaluate(log, ["P@1"], by="attribute").slices
    assert slices is not None
    assert slices.column("attribute")[0] == pd.Timestamp("2026-11-20").to_pydatetime()
