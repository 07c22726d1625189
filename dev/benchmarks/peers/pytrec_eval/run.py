"""Evaluate with pytrec_eval: `… -m dev.benchmarks.peers.pytrec_eval.run KIND QRELS RUN`."""

from __future__ import annotations

import sys
from pathlib import Path

import pytrec_eval

from dev.benchmarks.dicts import read_dicts
from dev.benchmarks.stopwatch import Stopwatch

ASKED = {"ndcg_cut.10", "map", "recip_rank"}
ANSWERED = {"nDCG@10": "ndcg_cut_10", "AP": "map", "RR": "recip_rank"}


def main(kind: str, qrels_path: str, run_path: str) -> None:
    """Evaluate once, and print seconds and means.

    Args:
        kind: `files` to read the paths, `all` to compute all measures of them, or a form of dicts
            to hold beforehand.
        qrels_path: A qrels file.
        run_path: A run file.
    """
    if kind in {"files", "all"}:
        watch = Stopwatch()
        with Path(qrels_path).open() as file:
            qrels = pytrec_eval.parse_qrel(file)
        with Path(run_path).open() as file:
            run = pytrec_eval.parse_run(file)
        watch.lap("load")
    else:
        qrels, run = read_dicts(kind, qrels_path, run_path)
        watch = Stopwatch()
    asked = pytrec_eval.supported_measures if kind == "all" else ASKED
    values = pytrec_eval.RelevanceEvaluator(qrels, asked).evaluate(run)
    aggregated = {
        key: pytrec_eval.compute_aggregated_measure(key, [value[key] for value in values.values()])
        for key in next(iter(values.values()))
    }
    means = {name: float(aggregated[key]) for name, key in ANSWERED.items()}
    watch.lap("evaluate")
    watch.report(means)


if __name__ == "__main__":
    main(*sys.argv[1:])
