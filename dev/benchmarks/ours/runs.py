"""Evaluate with rankscope: `python -m dev.benchmarks.ours.runs KIND QRELS RUN`."""

from __future__ import annotations

import sys

import rankscope as rs
from rankscope import AP, RR, nDCG

from dev.benchmarks.stopwatch import Stopwatch

MEASURES = {"nDCG@10": nDCG @ 10, "AP": AP, "RR": RR}


def main(kind: str, qrels_path: str, run_path: str) -> None:
    """Evaluate once, and print seconds and means.

    Args:
        kind: `files` to read the paths, or a form of dicts to hold beforehand.
        qrels_path: A qrels file.
        run_path: A run file.
    """
    if kind == "files":
        watch = Stopwatch()
        evaluation = rs.evaluate(qrels_path, run_path, list(MEASURES.values()))
    else:
        from dev.benchmarks.dicts import read_dicts  # noqa: PLC0415 - files need no NumPy

        qrels, run = read_dicts(kind, qrels_path, run_path)
        watch = Stopwatch()
        evaluation = rs.evaluate(qrels, run, list(MEASURES.values()))
    means = {name: evaluation[measure] for name, measure in MEASURES.items()}
    watch.lap("evaluate")
    watch.report(means)


if __name__ == "__main__":
    main(*sys.argv[1:])
