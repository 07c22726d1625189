"""Evaluate frames with rankscope: `python -m dev.benchmarks.ours.frames KIND QRELS RUN`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pyarrow as pa
from pyarrow import csv

from dev.benchmarks.ours.runs import time_evaluation

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

SHUFFLE_SEED = 7
IDS = ("query_id", "doc_id")


def read(path: str, columns: list[str], value: str) -> pa.Table:
    """Read a qrels or run file.

    Args:
        path: The file.
        columns: The names of its columns.
        value: The column that isn't an id.

    Returns:
        The two ids as text, and the value.
    """
    with Path(path).open() as file:
        separator = "\t" if "\t" in file.readline() else " "
    return csv.read_csv(
        path,
        csv.ReadOptions(column_names=columns),
        csv.ParseOptions(delimiter=separator, quote_char=False),
        csv.ConvertOptions(
            include_columns=[*IDS, value], column_types=dict.fromkeys(IDS, pa.string())
        ),
    )


def shuffle(table: pa.Table) -> pa.Table:
    """Return the rows in a random order."""
    order = np.random.default_rng(SHUFFLE_SEED).permutation(len(table))
    return table.take(order).combine_chunks()


def number(table: pa.Table) -> pa.Table:
    """Return a table with integers for ids."""
    ids = [(name, table.column(name).cast(pa.int64())) for name in IDS]
    return pa.table({**dict(ids), table.column_names[-1]: table.columns[-1]})


def hold_objects(table: pa.Table) -> pd.DataFrame:
    """Return a frame of pandas whose ids are Python's texts."""
    frame: pd.DataFrame = table.to_pandas()
    return frame.astype(dict.fromkeys(IDS, object))


KINDS: dict[str, Callable[[pa.Table], Any]] = {
    "arrow": lambda table: table,
    "polars": pl.from_arrow,
    "pandas": hold_objects,
    "shuffled": shuffle,
    "integers": number,
}


def main(kind: str, qrels_path: str, run_path: str) -> None:
    """Evaluate once, and print seconds and means.

    Args:
        kind: One of `KINDS`.
        qrels_path: A qrels file.
        run_path: A run file.
    """
    make = KINDS[kind]
    qrels = make(read(qrels_path, ["query_id", "iteration", "doc_id", "relevance"], "relevance"))
    run = make(read(run_path, ["query_id", "q0", "doc_id", "rank", "score", "tag"], "score"))
    time_evaluation(qrels, run)


if __name__ == "__main__":
    main(*sys.argv[1:])
