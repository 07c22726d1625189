"""Ask ranx to fuse runs: `… -m dev.parity.peers.ranx.fused ANSWERS`."""

from __future__ import annotations

import json
import sys
from importlib.metadata import version
from pathlib import Path

import ranx

from dev.parity.fused import Lists, make_runs

SCORES = ("sum", "mnz", "anz", "med", "max", "min")
SCALES = ("min-max", "max", "sum", "zmuv", "rank", "borda")
RANKS: dict[str, dict[str, object]] = {
    "rrf": {"k": 60},
    "isr": {},
    "log_isr": {},
    "logn_isr": {"sigma": 0.01},
    "rbc": {"phi": 0.8},
    "bordafuse": {},
    "w_bordafuse": {"weights": [0.5, 0.3, 0.2]},
    "wsum": {"weights": [0.5, 0.3, 0.2]},
    "wmnz": {"weights": [0.5, 0.3, 0.2]},
}


def ask(method: str, scale: str | None, params: dict[str, object] | None = None) -> Lists:
    """Ask for the fused scores."""
    runs = [ranx.Run(lists, name=name) for name, lists in make_runs().items()]
    fused = ranx.fuse(runs, norm=scale, method=method, params=params)
    return {
        query: {doc: float(score) for doc, score in sorted(docs.items())}
        for query, docs in fused.to_dict().items()
    }


def main() -> None:
    """Write all answers to the file that the caller names."""
    cases = {f"{method} {scale}": ask(method, scale) for method in SCORES for scale in SCALES}
    for method, params in RANKS.items():
        # The weights of a sum are those of scaled scores; ranks are what they are.
        scale = "min-max" if method in {"wsum", "wmnz"} else None
        cases[f"{method} {scale or 'none'}"] = ask(method, scale, params)
    found = {"library": "ranx", "version": version("ranx"), "way": "fuse(…)", "cases": cases}
    Path(sys.argv[1]).write_text(json.dumps(found, allow_nan=False), encoding="utf-8")


if __name__ == "__main__":
    main()
