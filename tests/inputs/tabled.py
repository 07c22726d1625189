"""The rows of an entry as tables: in files, and of the libraries."""

from __future__ import annotations

import csv
import io
import json

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import rankscope as rs

NAMES = {"qrels": ("query_id", "doc_id", "relevance"), "run": ("query_id", "doc_id", "score")}


def columns_of(rows, role):
    return {name: [row[at] for row in rows] for at, name in enumerate(NAMES[role])}


def _write_delimited(columns, form):
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter={"csv": ",", "tsv": "\t"}[form], lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return rs.File(text.getvalue().encode(), form)


def _write_json(columns):
    rows = (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))
    return rs.File("".join(f"{json.dumps(row)}\n" for row in rows).encode(), "jsonl")


def parquet_of(table, **settings):
    buffer = io.BytesIO()
    pq.write_table(table, buffer, **settings)
    return buffer.getvalue()


def _write_arrow(columns):
    table = _typed(columns)
    text = io.BytesIO()
    with pa.ipc.new_stream(text, table.schema) as stream:
        stream.write_table(table)
    return rs.File(text.getvalue(), "arrow")


def _typed(columns):
    """Integers beside decimals are decimals, as in all that has types."""
    *ids, numbers = columns.values()
    if any(isinstance(number, float) for number in numbers):
        numbers = [float(number) if isinstance(number, int) else number for number in numbers]
    return pa.table(dict(zip(columns, [*ids, numbers], strict=True)))


WRITERS = {
    "CSV": lambda columns: _write_delimited(columns, "csv"),
    "TSV": lambda columns: _write_delimited(columns, "tsv"),
    "JSON lines": _write_json,
    "Parquet": lambda columns: rs.File(parquet_of(_typed(columns)), "parquet"),
    "Arrow stream": _write_arrow,
    "Arrow": _typed,
    "pandas": lambda columns: _typed(columns).to_pandas(),
    "polars": lambda columns: pl.from_arrow(_typed(columns)),
}


def tabled(rows, role, way):
    """Return rows as a table; none where the way has no such values."""
    if not rows:
        return None
    try:
        return WRITERS[way](columns_of(rows, role))
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError, UnicodeEncodeError, ValueError):
        return None
