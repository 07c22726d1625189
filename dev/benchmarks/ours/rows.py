"""Evaluate unsorted rows with rankscope: `python -m dev.benchmarks.ours.rows ARRAYS`."""

from __future__ import annotations

import sys

import numpy as np
import pyarrow as pa
from rankscope import RR, Rankings, nDCG

from dev.benchmarks.stopwatch import Stopwatch

MEASURES = {"nDCG@10": nDCG @ 10, "RR": RR}


def main(path: str) -> None:
    """Evaluate once, and print seconds and means.

    Args:
        path: File of the columns.
    """
    with np.load(path) as arrays:
        rows = pa.table({name: arrays[name] for name in ("query", "score", "label")})
    watch = Stopwatch()
    evaluation = Rankings.from_table(rows).evaluate(list(MEASURES.values()))
    means = {name: evaluation[measure] for name, measure in MEASURES.items()}
    watch.lap("evaluate")
    watch.report(means)


if __name__ == "__main__":
    main(*sys.argv[1:])
