"""Evaluate with ir_measures: `… -m dev.benchmarks.peers.ir_measures.run QRELS RUN`."""

from __future__ import annotations

import sys

import ir_measures
from ir_measures import AP, RR, nDCG

from dev.benchmarks.stopwatch import Stopwatch


def main(qrels_path: str, run_path: str) -> None:
    """Evaluate once, and print seconds and means.

    Args:
        qrels_path: A qrels file.
        run_path: A run file.
    """
    watch = Stopwatch()
    # Both readers are lazy: the files are read while they are evaluated.
    means = ir_measures.calc_aggregate(
        [nDCG @ 10, AP, RR],
        ir_measures.read_trec_qrels(qrels_path),  # type: ignore[no-untyped-call] # it has no annotations
        ir_measures.read_trec_run(run_path),  # type: ignore[no-untyped-call] # likewise
    )
    watch.lap("evaluate")
    watch.report({str(measure): float(mean) for measure, mean in means.items()})


if __name__ == "__main__":
    main(*sys.argv[1:])
