"""Writes tables to files."""

from __future__ import annotations

import json

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
