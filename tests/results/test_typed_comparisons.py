"""Comparisons, differences and agreements keep the names and types of the caller's columns."""

from __future__ import annotations

import datetime as dt
import pickle
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import polars as pl
import pytest
import rankscope as rs
from rankscope.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

DAY = dt.date(2026, 11, 20)
LOG = pl.DataFrame(
    {
        "search_group_id": [query for query in range(8) for _ in range(2)],
        "item_id": [1, 2] * 8,
        "gains": [1, 0] * 8,
        "old": [1.0, 2.0] * 8,
        "new": [2.0, 1.0] * 8,
        "country": ["de, at"] * 8 + ["de"] * 8,
        "year": [2025] * 8 + [2026] * 8,
        "is_new": [True] * 8 + [None] * 8,
        "day": [DAY] * 16,
    }
)
BY = ["country", "year", "is_new", "day"]
SLICES = [(None, None, None, None), ("de", 2026, None, DAY), ("de, at", 2025, True, DAY)]


def check_slices(found: rs.Comparison) -> None:
    frame = found.to_polars()
    assert frame.columns[4:9] == ["slice", *BY]
    assert sorted(frame.select(BY).rows(), key=str) == sorted(SLICES, key=str)
    assert frame.schema["year"] == pl.Int64
    assert frame.schema["is_new"] == pl.Boolean
    assert frame.schema["day"] == pl.Date
    assert frame.filter(pl.col("slice").is_null())["n"].to_list() == [8]
    assert found.find("P@1", "new", slice='"de, at", 2025, true, 2026-11-20').n == 4


def test_a_comparison_has_a_typed_column_for_each_attribute(tmp_path: Path) -> None:
    path = tmp_path / "log.parquet"
    LOG.write_parquet(path)
    for given in (LOG, path):
        found = rs.compare(given, "P@1", scores=["old", "new"], by=BY)
        check_slices(found)
        check_slices(pickle.loads(pickle.dumps(found)))  # noqa: S301 - dumped here


def test_attributes_of_a_table_of_their_own_keep_their_types() -> None:
    qrels = LOG.select("search_group_id", "item_id", "gains")
    runs = {
        name: LOG.select("search_group_id", "item_id", pl.col(name).alias("score"))
        for name in ("old", "new")
    }
    attributes = LOG.select("search_group_id", *BY)
    check_slices(rs.compare(qrels, runs, "P@1", attributes=attributes, by=BY))


def test_values_from_elsewhere_keep_the_types_of_their_attributes() -> None:
    values = LOG.unique("search_group_id", maintain_order=True).select(
        "search_group_id", *BY, pl.lit(0.5).alias("old"), pl.lit(0.75).alias("new")
    )
    found = rs.compare(values, "P@1", values=["old", "new"], by=BY)
    check_slices(found)


def test_a_mapping_of_slices_has_the_column_of_slices_alone() -> None:
    values = {"old": {"a": 0.1, "b": 0.2}, "new": {"a": 0.2, "b": 0.3}}
    found = rs.compare(values, "AP", values=True, by={"a": "x", "b": "y"}).to_pandas()
    assert found["slice"].tolist()[1:] == ["x", "y"]
    assert [*found].count("slice") == 1


def test_an_attribute_with_the_name_of_another_column_is_an_error() -> None:
    log = LOG.rename({"country": "level"})
    found = rs.compare(log, "P@1", scores=["old", "new"], by="level")
    with pytest.raises(UsageError, match="'level' twice"):
        found.to_pandas()


def test_a_difference_has_the_names_of_the_runs_and_of_the_ids() -> None:
    log = LOG.with_columns(pl.col("search_group_id").cast(pl.Int16))
    qrels = log.select("search_group_id", "item_id", "gains")
    old, new = (log.select("search_group_id", "item_id", score=name) for name in ("old", "new"))
    found = rs.diff(qrels, old, new, "P@1", names=("bm25", "dense"))
    frame = found.to_polars()
    assert frame.columns[:4] == ["search_group_id", "bm25", "dense", "difference"]
    assert log.join(frame, on="search_group_id")["dense"].to_list() == [1.0] * 16
    assert found.queries.column("bm25") == (0.0,) * 8
    assert (found.wins, found.ties, found.losses) == (8, 0, 0)
    assert found.to_dict()["losses"] == 0
    assert found.to_dict()["queries"][0] == {  # type: ignore[index]  # a list
        "query_id": 0,
        "a": 0.0,
        "b": 1.0,
        "difference": 1.0,
    }
    moves = found.explain(3).table.to_polars()
    assert sorted(moves["item_id"].to_list()) == [1, 2]


@pytest.mark.parametrize("names", [("one", "one"), ("difference", "b"), ("a", "query_id")])
def test_runs_with_the_names_of_other_columns_are_an_error(names: tuple[str, str]) -> None:
    with pytest.raises(UsageError, match="names of their own"):
        rs.diff({"q": {"a": 1}}, {"q": {"a": 1.0}}, {"q": {"a": 2.0}}, "RR", names=names)


def test_names_of_runs_are_printed_without_control_characters() -> None:
    qrels, old, new = {"q": {"a": 1}}, {"q": {"b": 2.0, "a": 1.0}}, {"q": {"a": 2.0}}
    printed = str(rs.diff(qrels, old, new, "RR", names=("old\x1b[31m", "new")))
    assert "\x1b" not in printed


@pytest.mark.parametrize("form", ["polars", "pandas", "parquet", "dict", "rankings"])
def test_agreements_give_ids_back(tmp_path: Path, form: str) -> None:
    run = LOG.select(pl.col("search_group_id").cast(pl.Int32), "item_id", score="old")
    run.write_parquet(tmp_path / "run.parquet")
    given = {
        "polars": run,
        "pandas": run.to_pandas(),
        "parquet": tmp_path / "run.parquet",
        "dict": {query: {1: 1.0, 2: 2.0} for query in range(8)},
        "rankings": rs.Rankings.from_table(run.with_columns(gains=pl.lit(1))),
    }[form]
    frame = rs.agreement(given, given, ["tau"]).to_pandas()
    name = "query_id" if form == "dict" else "search_group_id"
    assert frame[name].tolist() == [*range(8)]
    assert frame[name].dtype == (np.int64 if form == "dict" else np.int32)
    merged = pd.DataFrame({name: [3]}).merge(frame, on=name)
    assert merged["tau"].tolist() == [1.0]
