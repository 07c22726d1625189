"""Tables that a library yields batch by batch give what they give in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import duckdb
import narwhals
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
import rankscope as rs

from tests.files.limited import describe
from tests.refusals import refused

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ROWS = 12_000
MEASURES = ["nDCG@10", "AP"]


def make_table(*, grouped: bool) -> pa.Table:
    """Return 600 queries with 20 documents, 4 MB in memory."""
    rng = np.random.default_rng(2)
    rows = np.arange(ROWS) if grouped else rng.permutation(ROWS)
    return pa.table(
        {
            "query_id": rows // 20,
            "doc_id": pa.array([f"d{row}" for row in rows]),
            "relevance": rows * 7 % 4,
            "score": rows * 37 % 101 / 8,
            "country": pa.array(np.array(["de", "fr"])[rows // 20 % 2]),
            "unneeded": pa.array([{"a": 1}] * ROWS),
        }
    )


def of_dataset(table: pa.Table, folder: Path) -> object:
    pq.write_table(table, folder / "table.parquet")
    return ds.dataset(folder / "table.parquet")


MAKE: dict[str, Callable[[pa.Table, Path], object]] = {
    "duckdb": lambda table, _: duckdb.from_arrow(table),
    "polars": lambda table, _: pl.from_arrow(table).lazy(),  # type: ignore[union-attr]
    "narwhals": lambda table, _: narwhals.from_native(pl.from_arrow(table)).lazy(),  # type: ignore[type-var]
    "reader": lambda table, _: table.to_reader(max_chunksize=1000),
    "dataset": of_dataset,
}


@pytest.mark.parametrize("memory", ["1MiB", "1GiB", None])
@pytest.mark.parametrize("grouped", [True, False], ids=["grouped", "scattered"])
@pytest.mark.parametrize("library", MAKE)
def test_tables_and_runs_are_evaluated_as_in_memory(
    library: str, memory: str | None, tmp_path: Path, *, grouped: bool
) -> None:
    table = make_table(grouped=grouped)
    expected = describe(rs.evaluate(table, MEASURES, by="country"))
    given = MAKE[library](table, tmp_path)
    assert describe(rs.evaluate(given, MEASURES, by="country", memory=memory)) == expected
    qrels, run = rs.read_qrels(table), table.drop(["relevance"])
    expected = describe(rs.evaluate(qrels, run, MEASURES))
    given = MAKE[library](run, tmp_path)
    assert describe(rs.evaluate(qrels, given, MEASURES, memory=memory)) == expected  # type: ignore[call-overload]


@pytest.mark.parametrize("library", MAKE)
def test_a_wrong_row_is_named(library: str, tmp_path: Path) -> None:
    table = make_table(grouped=True)
    scores = table.column("score").to_pylist()
    scores[10_007] = None
    table = table.set_column(3, "score", pa.array(scores))
    with pytest.raises(rs.errors.FormatError) as caught:
        rs.evaluate(MAKE[library](table, tmp_path), "RR")
    assert caught.value.line == 10_008


def test_what_a_library_can_not_compute_is_an_error() -> None:
    late = duckdb.sql(
        "select range // 5 as query_id, range as doc_id, 1 as relevance, "
        "case when range = 300000 then error('no such thing') else range end as score "
        "from range(400000)"
    )
    caught = refused(lambda: rs.evaluate(late, "RR"), "input_type")
    assert "no such thing" in str(caught)


def test_lists_are_rankings_here_too() -> None:
    lists: dict[str, Any] = {"query_id": ["a", "b"], "doc_id": [["x", "y"], ["z"]]}
    lists["relevance"] = [[0, 1], [1]]
    frame = pl.LazyFrame(lists)
    assert rs.evaluate(frame, "RR").per_query("RR").tolist() == [0.5, 1.0]
