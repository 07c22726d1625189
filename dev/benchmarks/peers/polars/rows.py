"""Evaluate rows with Polars: `… -m dev.benchmarks.peers.polars.rows sorted|ranked FILE`."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from dev.benchmarks.stopwatch import Stopwatch

if TYPE_CHECKING:
    from collections.abc import Callable

CUTOFF = 10
DISCOUNTS = pl.lit(pl.Series([1 / math.log2(rank + 1) for rank in range(1, CUTOFF + 1)]))


def sort_lists(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Sort the labels of each query, by score and by themselves, and look at the first ones."""
    label = pl.col("label")
    ranked = label.sort_by("score", descending=True)
    discounts = DISCOUNTS.head(pl.len())
    return rows.group_by("query").agg(
        dcg=ranked.head(CUTOFF).dot(discounts),
        idcg=label.sort(descending=True).head(CUTOFF).dot(discounts),
        first=(ranked > 0).arg_max() + 1,
    )


def rank_rows(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Give every row its rank and its ideal one; group those that count, and the first of each."""
    label, rank, ideal = pl.col("label"), pl.col("rank"), pl.col("ideal")
    ranked = rows.select(
        "query",
        "label",
        rank=pl.col("score").rank("ordinal", descending=True).over("query"),
        ideal=label.rank("ordinal", descending=True).over("query"),
    )

    def add_up(at: pl.Expr) -> pl.Expr:
        return pl.when(at <= CUTOFF).then(label / (at + 1).log(2)).otherwise(0).sum()

    return (
        ranked.filter((label > 0) | (rank == 1))
        .group_by("query")
        .agg(dcg=add_up(rank), idcg=add_up(ideal), first=rank.filter(label > 0).min())
    )


QUERIES = {"sorted": sort_lists, "ranked": rank_rows}
SCANS: dict[str, Callable[[str], pl.LazyFrame]] = {
    ".parquet": pl.scan_parquet,
    ".csv": pl.scan_csv,
    ".jsonl": pl.scan_ndjson,
}


def main(kind: str, path: str) -> None:
    """Evaluate once, and print seconds and means.

    Args:
        kind: `sorted` or `ranked`.
        path: File of the columns, which are in memory beforehand if it holds arrays.
    """
    scan = SCANS.get(Path(path).suffix)
    if scan is not None:
        watch = Stopwatch()
        names = {"query_id": "query", "score": "score", "relevance": "label"}
        rows = scan(path).select(*names).rename(names)
    else:
        with np.load(path) as arrays:
            rows = pl.LazyFrame({name: arrays[name] for name in ("query", "score", "label")})
        watch = Stopwatch()
    values = QUERIES[kind](rows)
    is_defined = pl.col("idcg") > 0
    quotients = {"nDCG@10": pl.col("dcg") / pl.col("idcg"), "RR": 1 / pl.col("first")}
    means = values.select(
        pl.when(is_defined).then(quotient).otherwise(0).mean().alias(name)
        for name, quotient in quotients.items()
    )
    report = means.collect(engine="streaming").row(0, named=True)
    watch.lap("evaluate")
    watch.report(report)


if __name__ == "__main__":
    main(*sys.argv[1:])
