"""Ask trectools to fuse runs: `… -m dev.parity.peers.trectools.fused ANSWERS`."""

from __future__ import annotations

import json
import sys
from importlib.metadata import version
from pathlib import Path

import pandas as pd
from trectools import TrecRun, fusion

from dev.parity.fused import Lists, make_runs

STRATEGIES = ("sum", "mnz", "anz", "med", "max", "min")
COLUMNS = ("query", "q0", "docid", "rank", "score", "system")


def read(name: str, lists: Lists) -> TrecRun:
    """Read the lists of a run, which are in rank order."""
    rows = [
        (query, "Q0", doc, rank, score, name)
        for query, docs in lists.items()
        for rank, (doc, score) in enumerate(docs.items(), start=1)
    ]
    run = TrecRun(None)
    run.load_run_from_dataframe(pd.DataFrame(rows, columns=list(COLUMNS)))
    return run


def tell(fused: TrecRun) -> Lists:
    """Return the fused scores."""
    lists: Lists = {}
    for query, doc, score in fused.run_data[["query", "docid", "score"]].itertuples(index=False):
        lists.setdefault(str(query), {})[str(doc)] = float(score)
    return {query: dict(sorted(docs.items())) for query, docs in lists.items()}


def main() -> None:
    """Write all answers to the file that the caller names."""
    runs = [read(name, lists) for name, lists in make_runs().items()]
    # It adds up the scores of two runs: of three, one is left out.
    cases = {f"{each} none": tell(fusion.combos(runs[:2], strategy=each)) for each in STRATEGIES}
    cases["reciprocal_rank_fusion none"] = tell(fusion.reciprocal_rank_fusion(runs))
    cases["rank_biased_precision_fusion none"] = tell(fusion.rank_biased_precision_fusion(runs))
    found = {
        "library": "trectools",
        "version": version("trectools"),
        "way": "combos(two runs, strategy); reciprocal_rank_fusion(runs); …",
        "cases": cases,
    }
    Path(sys.argv[1]).write_text(json.dumps(found, allow_nan=False), encoding="utf-8")


if __name__ == "__main__":
    main()
