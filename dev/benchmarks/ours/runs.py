"""Evaluate with rankscope: `python -m dev.benchmarks.ours.runs KIND QRELS RUN`."""

from __future__ import annotations

import sys

import rankscope as rs
from rankscope import AP, RR, nDCG

from dev.benchmarks.stopwatch import Stopwatch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.typing import InputLike

MEASURES = {"nDCG@10": nDCG @ 10, "AP": AP, "RR": RR}


def main(kind: str, qrels_path: str, run_path: str) -> None:
    """Evaluate once, and print seconds and means.

    Args:
        kind: `files` to read the paths, or a form of dicts to hold beforehand.
        qrels_path: A qrels file.
        run_path: A run file.
    """
    if kind == "files":
        time_evaluation(qrels_path, run_path)
    else:
        from dev.benchmarks.dicts import read_dicts

        time_evaluation(*read_dicts(kind, qrels_path, run_path))


def time_evaluation(qrels: InputLike, run: InputLike) -> None:
    """Evaluate a run, and print the means and how long it took.

    Args:
        qrels: The judgments.
        run: The run.
    """
    watch = Stopwatch()
    evaluation = rs.evaluate(qrels, run, list(MEASURES.values()))
    means = {name: evaluation[measure] for name, measure in MEASURES.items()}
    watch.lap("evaluate")
    watch.report(means)


if __name__ == "__main__":
    main(*sys.argv[1:])
