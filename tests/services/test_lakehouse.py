"""Of tables that lakehouse libraries wrote, the current rows are read, and no file alone."""

from __future__ import annotations

import deltalake
import pyarrow as pa
import pytest
import rankscope as rs
from pyiceberg.catalog.sql import SqlCatalog

from tests.refusals import refuses

SCHEMA = ("query_id", "doc_id", "relevance", "score")
ROWS = [("q1", "d1", 1, 2.0), ("q1", "d2", 0, 1.0), ("q2", "d3", 0, 1.0)]
LOG = pa.table(dict(zip(SCHEMA, map(list, zip(*ROWS, strict=True)), strict=True)))
CURRENT = {"q1": {"RR": 1.0}}


def check(folder, name, *tables):
    """Compare every way to the current rows, and refuse those that would read deleted ones."""
    for given in (folder, str(folder), f"{folder}/", f"file://{folder}", *tables):
        assert rs.Rankings.from_table(given).evaluate("RR").to_dict() == CURRENT
        assert rs.evaluate(given, given, "RR").to_dict() == CURRENT
        assert rs.Rankings.from_run(given, given).evaluate("RR").to_dict() == CURRENT
    inside = next(path for path in folder.rglob("*.parquet") if not path.name.startswith("."))
    for path in (inside, inside.parent / "*.parquet"):
        with refuses(
            rs.errors.FormatError, "lakehouse_table", match=f"a table of {name}"
        ) as caught:
            rs.Rankings.from_table(str(path))
        assert str(folder) in caught.value.hint


@pytest.mark.parametrize("partitions", [None, ["query_id"]])
def test_rows_that_delta_lake_deleted_do_not_count(partitions, tmp_path):
    folder = tmp_path / "log"
    deltalake.write_deltalake(str(folder), LOG, partition_by=partitions)
    table = deltalake.DeltaTable(str(folder))
    table.delete("query_id = 'q2'")
    check(folder, "Delta Lake", table, table.to_pyarrow_table(), table.to_pyarrow_dataset())
    first = deltalake.DeltaTable(str(folder), version=0)
    assert len(rs.Rankings.from_table(first).query_ids) == 2


def test_rows_that_iceberg_deleted_do_not_count(tmp_path):
    catalog = SqlCatalog("here", uri="sqlite:///:memory:", warehouse=f"file://{tmp_path}")
    catalog.create_namespace("log")
    table = catalog.create_table("log.shown", LOG.schema)
    table.append(LOG)
    table.delete("query_id = 'q2'")
    (folder,) = {path.parent.parent for path in tmp_path.rglob("*.metadata.json")}
    check(folder, "Apache Iceberg", table, table.scan().to_arrow(), table.metadata_location)
    with refuses(rs.errors.FormatError, "lakehouse_table", match="a table of Apache Iceberg"):
        rs.Rankings.from_table(folder / "data")


def test_lists_and_attributes_of_a_delta_table_are_read(tmp_path):
    lists = pa.table(
        {
            "query_id": ["q1", "q2"],
            "country": ["de", "fr"],
            "items": [[{"doc_id": "d2"}, {"doc_id": "d1"}], [{"doc_id": "d3"}]],
        }
    )
    deltalake.write_deltalake(str(tmp_path / "shown"), lists)
    qrels = {"q1": {"d1": 1}, "q2": {"d3": 1}}
    assert rs.evaluate(qrels, tmp_path / "shown", "RR").to_dict() == {
        "q1": {"RR": 0.5},
        "q2": {"RR": 1.0},
    }
    log = LOG.append_column("year", pa.array([2026, 2026, 2025]))
    deltalake.write_deltalake(str(tmp_path / "log"), log, partition_by=["year"])
    rankings = rs.Rankings.from_table(tmp_path / "log", attributes=["year"])
    slices = rankings.evaluate("RR", by="year").slices
    assert slices is not None
    assert {key: row["RR"] for key, row in slices.to_dict().items()} == {"2025": 0.0, "2026": 1.0}


def test_a_table_that_cannot_be_read_is_an_error_of_files(tmp_path):
    deltalake.write_deltalake(str(tmp_path / "log"), LOG)
    for path in (tmp_path / "log").glob("*.parquet"):
        path.unlink()
    with refuses(rs.FileError, "lake_read"):
        rs.Rankings.from_table(tmp_path / "log")
