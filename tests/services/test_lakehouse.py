"""Tables that lakehouse libraries wrote are refused as folders, and read through the libraries."""

from __future__ import annotations

from typing import TYPE_CHECKING

import deltalake
import pyarrow as pa
import rankscope as rs
from pyiceberg.catalog.sql import SqlCatalog

from tests.refusals import refuses

if TYPE_CHECKING:
    from pathlib import Path

SCHEMA = ("query_id", "doc_id", "relevance", "score")
ROWS = [("q1", "d1", 1, 2.0), ("q1", "d2", 0, 1.0), ("q2", "d3", 0, 1.0)]
LOG = pa.table(dict(zip(SCHEMA, map(list, zip(*ROWS, strict=True)), strict=True)))
CURRENT = {"q1": {"RR": 1.0}}


def refuse(folder: Path, name: str) -> None:
    for duplicates in ("error", "first"):
        with refuses(rs.FormatError, "lakehouse_table", match=f"a table of {name}"):
            rs.evaluate(str(folder), "RR", duplicates=duplicates)


def test_rows_that_delta_lake_deleted_do_not_count(tmp_path: Path) -> None:
    deltalake.write_deltalake(str(tmp_path / "log"), LOG)
    table = deltalake.DeltaTable(str(tmp_path / "log"))
    table.delete("query_id = 'q2'")
    refuse(tmp_path / "log", "Delta Lake")
    for current in (table.to_pyarrow_table(), table.to_pyarrow_dataset()):
        assert rs.evaluate(current, "RR").to_dict() == CURRENT


def test_rows_that_iceberg_deleted_do_not_count(tmp_path: Path) -> None:
    catalog = SqlCatalog("here", uri="sqlite:///:memory:", warehouse=f"file://{tmp_path}")
    catalog.create_namespace("log")
    table = catalog.create_table("log.shown", LOG.schema)
    table.append(LOG)
    table.delete("query_id = 'q2'")
    (folder,) = {path.parent.parent for path in tmp_path.rglob("*.metadata.json")}
    refuse(folder, "Apache Iceberg")
    refuse(folder / "data", "Apache Iceberg")
    assert rs.evaluate(table.scan().to_arrow(), "RR").to_dict() == CURRENT
