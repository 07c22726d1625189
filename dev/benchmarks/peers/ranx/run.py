"""Evaluate with ranx: `… -m dev.benchmarks.peers.ranx.run QRELS RUN`."""

from __future__ import annotations

import sys

import ranx

from dev.benchmarks.stopwatch import Stopwatch

NAMES = {"nDCG@10": "ndcg@10", "AP": "map", "RR": "mrr"}


def main(qrels_path: str, run_path: str) -> None:
    """Evaluate once, and print seconds and means.

    Args:
        qrels_path: A qrels file.
        run_path: A run file.
    """
    watch = Stopwatch()
    qrels = ranx.Qrels.from_file(qrels_path, kind="trec")
    run = ranx.Run.from_file(run_path, kind="trec")
    watch.lap("load")
    means = ranx.evaluate(qrels, run, list(NAMES.values()))
    watch.lap("evaluate")
    watch.report({measure: float(means[name]) for measure, name in NAMES.items()})


if __name__ == "__main__":
    main(*sys.argv[1:])
