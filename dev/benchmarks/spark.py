"""Measure Spark: ours, MLlib's and the local engine on one Parquet file.

`python -m dev.benchmarks.spark [ROWS …]` runs each in turn and prints a table, in the environment
of `make test-integrations`. MLlib is `pyspark.ml.evaluation.RankingEvaluator`, which needs lists:
the grouping and sorting of rows are counted, as they are for us.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import rankscope as rs
import rankscope.spark as rss
from pyspark.ml.evaluation import RankingEvaluator
from pyspark.sql import SparkSession
from pyspark.sql import functions as sql

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankscope.spark.frames import Frame

DOCS = 100
SIZES = (1_000_000, 10_000_000)
MEASURE = "nDCG@10"
RUNS = 3
TICKS = os.sysconf("SC_CLK_TCK")


def main() -> int:
    """Run the benchmark.

    Returns:
        Exit status: 0 where all means agree, 1 where one does not.
    """
    sizes = [int(size) for size in sys.argv[1:]] or list(SIZES)
    spark = start()
    print("rows        contender       wall s    CPU s   wall / local")
    with tempfile.TemporaryDirectory() as folder:
        for number, size in enumerate(sizes):
            path = Path(folder) / f"{size}.parquet"
            write_table(path, size)
            frame = spark.read.parquet(str(path))
            contenders: dict[str, Callable[[], float]] = {
                "local": partial(evaluate_file, path),
                "rankscope.spark": partial(evaluate, frame),
                "MLlib": partial(evaluate_mllib, frame),
            }
            if number == 0:  # Java compiles what runs often
                for run in contenders.values():
                    run()
            if not compare(size, contenders):
                return 1
            path.unlink()
    spark.stop()
    return 0


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


def write_table(path: Path, rows: int) -> None:
    """Write rankings of 100 documents, query by query, with integer ids, which MLlib needs."""
    generator = np.random.default_rng(0)
    at_once = 1_000_000
    schema = pa.schema(
        [
            ("query_id", pa.int64()),
            ("doc_id", pa.int64()),
            ("score", pa.float64()),
            ("relevance", pa.int32()),
        ]
    )
    with pq.ParquetWriter(path, schema) as file:
        for start in range(0, rows, at_once):
            count = min(at_once, rows - start)
            places = np.arange(start, start + count)
            columns = [
                places // DOCS,
                places % DOCS * 7919 + generator.integers(0, 7919, count),
                generator.permutation(count) / count,
                (generator.random(count) < 0.1).astype(np.int32),
            ]
            file.write_table(pa.table(columns, schema=schema))


def compare(size: int, contenders: dict[str, Callable[[], float]]) -> bool:
    """Run each contender several times, print the fastest run, and check that all means agree."""
    means, base = {}, 0.0
    for name, run in contenders.items():
        fastest = (float("inf"), 0.0)
        for _ in range(RUNS):
            wall, used = time.perf_counter(), count_cpu()
            means[name] = run()
            fastest = min(fastest, (time.perf_counter() - wall, count_cpu() - used))
        base = base or fastest[0]
        print(f"{size:<11} {name:15} {fastest[0]:6.2f} {fastest[1]:8.2f} {fastest[0] / base:14.2f}")
    first = means["local"]
    # MLlib adds in another order.
    agree = means["rankscope.spark"] == first and abs(means["MLlib"] - first) < 1e-9
    if not agree:
        print(f"the means differ: {means}", file=sys.stderr)
    return agree


def evaluate_file(path: Path) -> float:
    """Evaluate the file without Spark."""
    return rs.evaluate_table(path, MEASURE)[MEASURE]


def evaluate(frame: Frame) -> float:
    """Evaluate by Spark and rankscope."""
    with rss.evaluate_table(frame, MEASURE) as found:
        return found[MEASURE]


def evaluate_mllib(frame: Frame) -> float:
    """Group and sort the rows, and evaluate the lists by MLlib."""
    doc = sql.col("doc_id").cast("double")
    ranked = sql.sort_array(sql.collect_list(sql.struct(-sql.col("score"), doc.alias("doc"))))
    relevant = sql.collect_list(sql.when(sql.col("relevance") > 0, doc))
    lists = frame.groupBy("query_id").agg(ranked.alias("ranked"), relevant.alias("label"))
    evaluator = RankingEvaluator(metricName="ndcgAtK", k=10)
    return float(
        evaluator.evaluate(lists.select(sql.col("ranked.doc").alias("prediction"), "label"))
    )


def count_cpu() -> float:
    """Return the seconds of processor time of this process and all that it started."""
    stats = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            text = path.read_text(encoding="utf-8")
        except OSError:  # it has ended
            continue
        fields = text.rpartition(")")[2].split()
        stats[int(path.parent.name)] = (int(fields[1]), sum(map(int, fields[11:15])))
    total, todo = 0, [os.getpid()]
    while todo:
        process = todo.pop()
        total += stats.get(process, (0, 0))[1]
        todo += [child for child, (parent, _) in stats.items() if parent == process]
    return total / TICKS


if __name__ == "__main__":
    sys.exit(main())
