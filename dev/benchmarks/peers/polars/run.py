"""Evaluate with a Polars query: `… -m dev.benchmarks.peers.polars.run ranked|counted QRELS RUN`."""

from __future__ import annotations

import sys
from pathlib import Path

import polars as pl

from dev.benchmarks.stopwatch import Stopwatch

CUTOFF = 10


def scan(path: str, columns: list[str]) -> pl.LazyFrame:
    """Open a file whose fields are separated by one tab or one blank each.

    Args:
        path: A qrels or run file.
        columns: Names of its columns.

    Returns:
        All columns as text.
    """
    with Path(path).open() as file:
        separator = "\t" if "\t" in file.readline() else " "
    return pl.scan_csv(
        path,
        separator=separator,
        has_header=False,
        quote_char=None,
        schema=dict.fromkeys(columns, pl.String),
    )


def rank_all(run: pl.LazyFrame, relevant: pl.LazyFrame) -> pl.LazyFrame:
    """Rank every list by score, then keep the relevant documents; ties fall as they come."""
    ranked = run.with_columns(rank=pl.col("score").rank("ordinal", descending=True).over("query"))
    return ranked.join(relevant, on=["query", "document"])


def count_better(run: pl.LazyFrame, relevant: pl.LazyFrame) -> pl.LazyFrame:
    """Count the documents not below each relevant one; ties by document id, descending."""
    found = run.join(relevant, on=["query", "document"])
    higher = pl.col("score") > pl.col("score_found")
    level = pl.col("score") == pl.col("score_found")
    not_below = higher | (level & (pl.col("document") >= pl.col("document_found")))
    return (
        run.join(found, on="query", suffix="_found")
        .filter(not_below)
        .group_by("query", document="document_found")
        .agg(grade=pl.col("grade").first(), rank=pl.len())
    )


RANKINGS = {"ranked": rank_all, "counted": count_better}


def evaluate(qrels: pl.LazyFrame, found: pl.LazyFrame) -> pl.LazyFrame:
    """Average over the judged queries.

    Args:
        qrels: Columns `query`, `document`, `grade`.
        found: Retrieved relevant documents, with `rank`.

    Returns:
        One row of three means.
    """
    relevant_count = (pl.col("grade") > 0).sum()
    ideal = pl.col("grade").sort(descending=True).head(CUTOFF)
    judged = qrels.group_by("query").agg(
        relevant=relevant_count, idcg=(ideal / (pl.int_range(2, ideal.len() + 2)).log(2)).sum()
    )
    rank = pl.col("rank").sort()
    gain = pl.when(pl.col("rank") <= CUTOFF).then(pl.col("grade")).otherwise(0)
    retrieved = found.group_by("query").agg(
        dcg=(gain / (pl.col("rank") + 1).log(2)).sum(),
        precisions=(pl.int_range(1, pl.len() + 1) / rank).sum(),
        first=rank.first(),
    )
    values = judged.join(retrieved, on="query", how="left")
    quotients = {
        "nDCG@10": pl.col("dcg") / pl.col("idcg"),
        "AP": pl.col("precisions") / pl.col("relevant"),
        "RR": 1 / pl.col("first"),
    }
    return values.select(
        pl.when(pl.col("relevant") > 0).then(quotient).fill_null(0).mean().alias(name)
        for name, quotient in quotients.items()
    )


def main(ranking: str, qrels_path: str, run_path: str) -> None:
    """Evaluate once, and print seconds and means.

    Args:
        ranking: `ranked` or `counted`.
        qrels_path: A qrels file.
        run_path: A run file.
    """
    watch = Stopwatch()
    qrels = scan(qrels_path, ["query", "iteration", "document", "grade"]).select(
        "query", "document", pl.col("grade").cast(pl.Int32)
    )
    run = scan(run_path, ["query", "q0", "document", "rank", "score", "tag"]).select(
        "query", "document", pl.col("score").cast(pl.Float64)
    )
    found = RANKINGS[ranking](run, qrels.filter(pl.col("grade") > 0))
    means = evaluate(qrels, found).collect(engine="streaming").row(0, named=True)
    watch.lap("evaluate")
    watch.report(means)


if __name__ == "__main__":
    main(*sys.argv[1:])
