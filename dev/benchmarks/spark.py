"""Measure Spark: ours, MLlib's and the local engine on the same Parquet files, in one session.

`python -m dev.benchmarks.spark --layout together --rows 20000000` runs the contenders in turn and
prints medians, in the environment of `make test-integrations`. `--pairs` evaluates judgments and a
run, `--huge` a table with one query of 5 million rows, and `--windows` computes the windows of a
log of so many rankings. MLlib needs lists: grouping and sorting rows are counted, as they are for
us. It is there in its usual form, which sorts whole lists, and in the fastest one known, which
only keeps the 10 best documents of a query.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import sys
import time
from datetime import UTC
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rankscope as rs
import rankscope.spark as rss
from pyspark.ml.evaluation import RankingEvaluator
from pyspark.mllib.evaluation import RankingMetrics
from pyspark.sql import SparkSession
from pyspark.sql import functions as sql
from rankscope.monitor import Configuration, define

from dev.benchmarks.process_tree import count_cpu, watch_memory
from dev.benchmarks.spark_log import write_log
from dev.benchmarks.spark_tables import HUGE, LAYOUTS, write_huge, write_tables

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rankscope.spark.files import Frame

MEASURE = "nDCG@10"
ATTRIBUTES = ("country", "device")
RANKINGS_OF_HOUR = 42_000
"""As many as in a log of a million rankings a day."""
SLOW = "RankingMetrics"
"""The interface that takes an RDD of Python, which is measured once."""


def main() -> int:
    """Run the benchmark.

    Returns:
        Exit status: 0 where all means agree, 1 where one does not.
    """
    asked = read_arguments()
    folders = {rows: _write(asked, rows) for rows in asked.rows}
    if asked.write_only:
        return 0
    spark = start()
    print(
        "rows        layout     contender          wall s   first    CPU s  wall / local  "
        "MB worker  MB all",
        flush=True,
    )
    for rows, folder in folders.items():
        contenders = LISTS[asked.kind](spark, folder)
        if asked.only:
            contenders = {name: contenders[name] for name in asked.only.split(",")}
        found = compare(contenders, asked.runs, warm=asked.warm)
        base = found.get("local", {"wall": math.nan})["wall"]
        for name, held in found.items():
            print(
                f"{rows:<11} {asked.layout:10} {name:16} {held['wall']:8.2f} {held['first']:7.2f} "
                f"{held['cpu']:8.2f} {held['wall'] / base:13.2f} "
                f"{held['worker'] / 1e6:10.0f} {held['total'] / 1e6:7.0f}",
                flush=True,
            )
        if asked.record is not None:
            with asked.record.open("a", encoding="utf-8") as file:
                line = {"rows": rows, "layout": asked.layout, "files": asked.files}
                line |= {"kind": asked.kind, "runs": asked.runs, "medians": found}
                file.write(json.dumps(line) + "\n")
        means = {name: held["mean"] for name, held in found.items()}
        # MLlib adds in another order.
        ours = {means[name] for name in means if name in {"local", "rankscope.spark"}}
        last = next(iter(means.values()))
        if len(ours) > 1 or any(abs(mean - last) > 1e-9 for mean in means.values()):
            print(f"the means differ: {means}", file=sys.stderr)
            return 1
    spark.stop()
    return 0


def _write(asked: argparse.Namespace, rows: int) -> Path:
    """Write what is evaluated unless it exists, and return its folder."""
    folder: Path = asked.folder / f"{asked.layout}-{rows}"
    if asked.kind == "windows":
        folder = asked.folder / f"log-{rows}"
        if not folder.exists():
            write_log(folder, rows, max(1, rows // RANKINGS_OF_HOUR))
    elif asked.kind == "huge":
        folder = asked.folder / f"huge-{asked.layout}-{rows}"
        write_huge(folder, rows, asked.layout)
    else:
        write_tables(folder, rows, asked.layout, asked.files)
    return folder


def read_arguments() -> argparse.Namespace:
    """Return the arguments of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m dev.benchmarks.spark")
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000, 10_000_000])
    parser.add_argument("--layout", choices=LAYOUTS, default=LAYOUTS[0])
    parser.add_argument("--files", type=int, default=1, help="number of files (default: 1)")
    kinds = parser.add_mutually_exclusive_group()
    for kind, text in (
        ("pairs", "judgments and a run, not one table"),
        ("huge", f"{HUGE} rows more, which are one query"),
        ("windows", "windows of a log with so many rankings"),
    ):
        kinds.add_argument(f"--{kind}", dest="kind", action="store_const", const=kind, help=text)
    parser.set_defaults(kind="table")
    parser.add_argument("--warm", type=int, default=2, help="runs that don't count (default: 2)")
    parser.add_argument("--runs", type=int, default=3, help="counted runs (default: 3)")
    parser.add_argument("--only", help="contenders, with commas between them (default: all)")
    parser.add_argument("--folder", type=Path, default=Path("/tmp/rankscope-spark"))  # noqa: S108
    parser.add_argument("--record", type=Path, help="a file to which medians are added as JSON")
    parser.add_argument("--write-only", action="store_true", help="only write the files")
    return parser.parse_args()


def start() -> SparkSession:
    """Return a session on two cores."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    return (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.memory", "6g")
        .config("spark.log.level", "ERROR")
        .getOrCreate()
    )


def compare(
    contenders: Mapping[str, Callable[[], float]], runs: int, *, warm: int
) -> dict[str, dict[str, Any]]:
    """Run contenders in turn, and return the medians of their seconds, and their means.

    Java compiles what runs often, so the first runs of each are left out (`warm`).
    """
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in contenders}
    first: dict[str, float] = {}
    means: dict[str, float] = {}
    memory: dict[str, tuple[int, int]] = {}
    for number in range(runs + warm):
        for name, run in contenders.items():
            if name == SLOW and number > 0:
                continue
            wall, used = time.perf_counter(), count_cpu()
            with watch_memory() as seen:
                means[name] = run()
            taken = (time.perf_counter() - wall, count_cpu() - used)
            first.setdefault(name, taken[0])
            before = memory.get(name, (0, 0))
            memory[name] = (max(before[0], seen.worker), max(before[1], seen.total))
            if number >= warm or name == SLOW:
                found[name].append(taken)
    return {
        name: {
            "wall": statistics.median(wall for wall, _ in held),
            "cpu": statistics.median(cpu for _, cpu in held),
            "first": first[name],
            "worker": memory[name][0],
            "total": memory[name][1],
            "mean": means[name],
        }
        for name, held in found.items()
    }


def list_tables(spark: SparkSession, folder: Path) -> dict[str, Callable[[], float]]:
    """Return the contenders that evaluate a table."""
    path = folder / "table"
    frame = spark.read.parquet(str(path))
    return {
        "local": lambda: rs.evaluate(path, MEASURE)[MEASURE],
        "rankscope.spark": partial(_read, lambda: rss.evaluate(frame, MEASURE)),
        "MLlib": lambda: _evaluate(list_documents(frame, sort_documents())),
        "MLlib (10 best)": lambda: _evaluate(list_documents(frame, keep_best())),
        SLOW: lambda: RankingMetrics(list_documents(frame, keep_best()).rdd.map(tuple)).ndcgAt(10),
    }


def list_pairs(spark: SparkSession, folder: Path) -> dict[str, Callable[[], float]]:
    """Return the contenders that evaluate judgments and a run."""
    qrels = spark.read.parquet(str(folder / "qrels"))
    run = spark.read.parquet(str(folder / "run"))
    judged, ranked = (next((folder / name).glob("*.parquet")) for name in ("qrels", "run"))

    def join(best: Any) -> Frame:  # noqa: ANN401 - a column of Spark
        lists = run.groupBy("query_id").agg(best.alias("prediction"))
        labels = qrels.groupBy("query_id").agg(sql.collect_list(as_double()).alias("label"))
        return lists.join(labels, "query_id").select("prediction", "label")

    return {
        "local": lambda: rs.evaluate(judged, ranked, MEASURE)[MEASURE],
        "rankscope.spark": partial(_read, lambda: rss.evaluate(qrels, run, MEASURE)),
        "MLlib": lambda: _evaluate(join(sort_documents())),
        "MLlib (10 best)": lambda: _evaluate(join(keep_best())),
    }


def list_windows(spark: SparkSession, folder: Path) -> dict[str, Callable[[], float]]:
    """Return what computes the windows of a log."""
    shown, told = (
        spark.read.parquet(str(folder / name)).drop("date", "hour")
        for name in ("impressions", "clicks")
    )
    attributes = sql.create_map(
        *(each for name in ATTRIBUTES for each in (sql.lit(name), sql.col(name)))
    )
    rankings = shown.select(
        "ranking_id",
        "time",
        "query_key",
        "version",
        sql.col("doc_ids").alias("doc_id"),
        attributes.alias("attributes"),
    )
    labels = told.select("ranking_id", "time", "doc_id", sql.array("label").alias("labels"))
    configuration = Configuration(
        definition=define(measures=["nDCG@1", "nDCG@5", "nDCG@10"], positive="click", window="24h"),
        attributes=ATTRIBUTES,
        baseline=None,
    )
    end = shown.agg(sql.max("time")).collect()[0][0].astimezone(UTC)

    def run() -> float:
        found = rss.windows(rankings, labels, configuration, now=end)
        return float(sum(found.rankings.values()))

    return {"rankscope.spark": run}


LISTS = {
    "table": list_tables,
    "huge": list_tables,
    "pairs": list_pairs,
    "windows": list_windows,
}


def as_double() -> Any:  # noqa: ANN401 - a column of Spark
    """Return documents as MLlib takes them."""
    return sql.col("doc_id").cast("double")


def sort_documents() -> Any:  # noqa: ANN401 - as above
    """Collect the documents of a query, and sort them."""
    pair = sql.struct(-sql.col("score"), as_double().alias("doc"))
    return sql.slice(sql.sort_array(sql.collect_list(pair)), 1, 10)["doc"]


def keep_best() -> Any:  # noqa: ANN401 - as above
    """Keep the 10 best documents of a query."""
    return sql.expr("max_by(CAST(doc_id AS double), score, 10)")


def list_documents(frame: Frame, ranked: Any) -> Frame:  # noqa: ANN401 - as above
    """Return the ranked and the relevant documents of each query."""
    relevant = sql.collect_list(sql.when(sql.col("relevance") > 0, as_double()))
    lists = frame.groupBy("query_id").agg(ranked.alias("prediction"), relevant.alias("label"))
    # Queries without relevant documents are 0 for both.
    return lists.select("prediction", "label")


def _evaluate(lists: Frame) -> float:
    return float(RankingEvaluator(metricName="ndcgAtK", k=10).evaluate(lists))


def _read(evaluate: Callable[[], rss.SparkEvaluation]) -> float:
    with evaluate() as found:
        return found[MEASURE]


if __name__ == "__main__":
    sys.exit(main())
