"""Tables in every form: in memory, and in files."""

from __future__ import annotations

import json
from dataclasses import make_dataclass

import duckdb
import narwhals
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
from pyarrow import feather


def write_table(columns, path):
    """Write a table in the format that the name says, a few rows in each row group or batch."""
    table = pa.table(columns)
    if path.suffix == ".parquet":
        pq.write_table(table, path, row_group_size=19)
    elif path.suffix == ".arrow":
        feather.write_feather(table, path, compression="uncompressed", chunksize=19)
    elif path.suffix == ".jsonl":
        path.write_text("".join(f"{json.dumps(row)}\n" for row in table.to_pylist()))
    else:
        options = pacsv.WriteOptions(delimiter="\t" if path.suffix == ".tsv" else ",")
        pacsv.write_csv(table, path, options)
    return path


FILES = ("csv", "tsv", "jsonl", "parquet", "arrow")
WITHIN = {
    "mapping": dict,
    "records": lambda columns: pa.table(columns).to_pylist(),
    "objects": lambda columns: [
        *map(make_dataclass("Row", columns), *pa.table(columns).to_pydict().values())
    ],
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "lazy frame": pl.LazyFrame,
    "table": pa.table,
    "reader": lambda columns: pa.table(columns).to_reader(),
    "duckdb": lambda columns: duckdb.connect().from_arrow(pa.table(columns)),
    "narwhals": lambda columns: narwhals.from_native(pl.DataFrame(columns)),
}
ENTRANCES = (*WITHIN, *FILES)


def enter(form, columns, folder):
    """Return columns in a form, which for one of files is a path."""
    return WITHIN[form](columns) if form in WITHIN else write_table(columns, folder / f"t.{form}")
