"""Runs each way into the package with more and more memory left, and prints how each run ended.

The process loads everything and runs each way once. Then it forks a child for each limit.
"""

from __future__ import annotations

import gzip
import json
import os
import random
import resource
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import rankscope as rs
from pyarrow import csv

if TYPE_CHECKING:
    from collections.abc import Callable

QUERIES, DOCS = 500, 120

MEASURES = ["nDCG@10", "AP", "RR", "P@5", "ERR@10", "infAP"]


def list_ways(folder: Path) -> dict[str, Callable[[], object]]:
    """Make the input, and what is done with it by name."""
    qrels = {f"q{q}": {f"doc-{q}-{d}": d % 4 for d in range(0, DOCS, 2)} for q in range(QUERIES)}
    run = {f"q{q}": {f"doc-{q}-{d + 3}": 1 - d / 1000 for d in range(DOCS)} for q in range(QUERIES)}
    judged = [(query, doc, grade) for query, docs in qrels.items() for doc, grade in docs.items()]
    retrieved = [(query, doc, score) for query, docs in run.items() for doc, score in docs.items()]
    lines = [f"{query} Q0 {doc} 1 {score} tag\n" for query, doc, score in retrieved]
    (folder / "qrels.txt").write_text("".join(f"{q} 0 {d} {grade}\n" for q, d, grade in judged))
    (folder / "run.txt").write_text("".join(lines))
    (folder / "run.txt.gz").write_bytes(gzip.compress("".join(lines).encode(), 1))
    random.Random(1).shuffle(lines)
    (folder / "shuffled.txt").write_text("".join(lines))
    queries, docs, scores = zip(*retrieved, strict=True)
    table = pa.table(
        {
            "query": queries,
            "doc": docs,
            "score": scores,
            "relevance": [float(row % 4) for row in range(len(scores))],
        }
    )
    pq.write_table(table, folder / "table.parquet")
    csv.write_csv(table, folder / "table.csv")
    numbers = np.random.default_rng(0)
    grades, matrix = numbers.integers(0, 4, 60_000), numbers.random((400, 300))
    gains = numbers.integers(0, 4, (400, 300)).astype(np.float64)
    rankings = rs.Rankings.from_run(qrels, run)
    backwards = {query: dict(reversed(docs.items())) for query, docs in run.items()}
    names = [str(folder / name) for name in ("qrels.txt", "run.txt", "run.txt.gz", "shuffled.txt")]
    return {
        "files": lambda: rs.evaluate(names[0], names[1], MEASURES),
        "packed": lambda: rs.evaluate(names[0], names[2], MEASURES),
        "shuffled": lambda: rs.evaluate(names[0], names[3], MEASURES),
        "dicts": lambda: rs.evaluate(qrels, run, MEASURES),
        "rows": lambda: rs.evaluate(judged, retrieved, MEASURES),
        "table": lambda: rs.evaluate(table, ["nDCG@10", "AP"], policy="ties=doc_id"),
        "Parquet": lambda: rs.evaluate(str(folder / "table.parquet"), "nDCG@10"),
        "CSV": lambda: rs.evaluate(str(folder / "table.csv"), "nDCG@10"),
        "arrays": lambda: rs.ndcg_score(gains, matrix),
        "every cutoff": lambda: rs.ndcg(grades, k="all").sum(),
        "interval": lambda: rs.evaluate(qrels, run, "AP", interval=0.95),
        "losses": lambda: rankings.losses("nDCG@10"),
        "difference": lambda: rs.diff(qrels, run, backwards, "nDCG@10"),
        "explanation": lambda: str(rankings.explain("q3", "nDCG@10")),
    }


def limit(most: int) -> None:
    """Limit the address space of this process."""
    resource.setrlimit(resource.RLIMIT_AS, (most, resource.RLIM_INFINITY))


def leave_only(more: int) -> list[bytearray]:
    """Leave so many bytes to this process, by filling what it holds without using it."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    held = pages * resource.getpagesize()
    limit(held)
    ballast: list[bytearray] = []
    for size in (1 << 20, 1 << 16, 1 << 12):
        with suppress(MemoryError):
            while True:
                ballast.append(bytearray(size))
    limit(held + more)
    return ballast


def try_with(way: Callable[[], object], more: int, expected: str) -> str:
    """Do something in a child with so many bytes more, and say how it ended."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        ballast = leave_only(more)
        try:
            value = str(way())
            outcome = "same" if value == expected else "another value"
        except MemoryError:
            outcome = "memory"
        except BaseException as error:  # noqa: BLE001 - it is named
            outcome = f"{type(error).__name__}: {error}"[:500]
        limit(resource.RLIM_INFINITY)
        del ballast
        os.write(writer, outcome.encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as answer:
        outcome = answer.read()
    _, status = os.waitpid(child, 0)
    return outcome if status == 0 else f"status {status}"


def main() -> None:
    """Print, for each way and limit, how it ended: FOLDER STEP, the step between powers of two."""
    ways = list_ways(Path(sys.argv[1]))
    # How many bytes a child may have more than its parent.
    limits = [0, *(2**power for power in range(16, 29, int(sys.argv[2])))]
    for name, way in ways.items():
        expected = str(way())
        outcomes = [try_with(way, more, expected) for more in limits]
        sys.stdout.write(json.dumps([name, outcomes]) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
