"""Writes the tables of the benchmark of Spark: rankings of 100 documents, as Parquet files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

DOCS = 100
AT_ONCE = 1_000_000
HUGE = 5_000_000
"""How many rows the one large query has."""
LAYOUTS = ("together", "scattered")
SCHEMA = pa.schema(
    [
        ("query_id", pa.int64()),  # integers, which MLlib needs
        ("doc_id", pa.int64()),
        ("score", pa.float64()),
        ("relevance", pa.int32()),
    ]
)


def write_tables(folder: Path, rows: int, layout: str, files: int) -> None:
    """Write a table, and the same as judgments of relevant documents and a run, unless they exist.

    Args:
        folder: Where the folders `table`, `qrels` and `run` are written.
        rows: The number of rows.
        layout: `together`: query by query; or `scattered`: in random order.
        files: The number of files of each.
    """
    if (folder / "run").exists():
        return
    names = {
        "table": SCHEMA.names,
        "qrels": ["query_id", "doc_id", "relevance"],
        "run": ["query_id", "doc_id", "score"],
    }
    for name in names:
        (folder / name).mkdir(parents=True)
    order = np.arange(rows) if layout == "together" else np.random.default_rng(0).permutation(rows)
    for number in range(files):
        places = order[rows * number // files : rows * (number + 1) // files]
        writers = {
            name: pq.ParquetWriter(
                folder / name / f"{number:04}.parquet",
                pa.schema([SCHEMA.field(column) for column in columns]),
            )
            for name, columns in names.items()
        }
        for start in range(0, len(places), AT_ONCE):
            table = _make_rows(places[start : start + AT_ONCE])
            for name, columns in names.items():
                part = table.filter(pa.array(table["relevance"].to_numpy() > 0))
                writers[name].write_table((part if name == "qrels" else table).select(columns))
        for writer in writers.values():
            writer.close()


def write_huge(folder: Path, rows: int, layout: str) -> None:
    """Write a table of which one query has 5 million rows, unless it exists.

    Args:
        folder: Where the folder `table` is written.
        rows: The number of rows of the other queries.
        layout: As in `write_tables`; the large query is in the middle.
    """
    if (folder / "table").exists():
        return
    (folder / "table").mkdir(parents=True)
    count = rows + HUGE
    order = np.arange(count)
    if layout != "together":
        order = np.random.default_rng(0).permutation(count)
    begin = rows // DOCS // 2 * DOCS
    with pq.ParquetWriter(folder / "table" / "0000.parquet", SCHEMA) as writer:
        for start in range(0, count, AT_ONCE):
            places = order[start : start + AT_ONCE]
            table = _make_rows(places)
            queries = np.where(
                places < begin,
                places // DOCS,
                np.where(places < begin + HUGE, -1, (places - HUGE) // DOCS),
            )
            # Each document of the large query has an id of its own.
            table = table.set_column(0, SCHEMA.field(0), pa.array(queries))
            writer.write_table(table.set_column(1, SCHEMA.field(1), pa.array(places)))


def _make_rows(places: NDArray[np.int64]) -> pa.Table:
    """Return the rows of some places, each of which depends on its place alone; no two tie."""
    mixed = places.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    columns = [
        places // DOCS,
        places % DOCS * 7919 + places % 7919,
        (mixed >> np.uint64(11)).astype(np.float64) / 2.0**53,
        (mixed * np.uint64(0xBF58476D1CE4E5B9) >> np.uint64(40)) % np.uint64(10) == 0,
    ]
    columns[3] = columns[3].astype(np.int32)
    return pa.table(columns, schema=SCHEMA)
