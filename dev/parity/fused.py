"""The runs that fusions of one library are compared on, and what it says."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import TypeAlias

FOLDER = Path(__file__).resolve().parents[2] / "tests" / "parity" / "golden" / "fused"
QUERIES, CANDIDATES, LENGTH = 5, 20, 12

Lists: TypeAlias = dict[str, dict[str, float]]


def make_runs() -> dict[str, Lists]:
    """Make three runs of the same queries, whose scores differ within a query."""
    generator = random.Random(20)
    runs: dict[str, Lists] = {}
    for run in ("one", "two", "three"):
        lists: Lists = runs.setdefault(run, {})
        for query in range(QUERIES):
            docs = generator.sample(range(CANDIDATES), LENGTH - query)
            scores = sorted(generator.sample(range(1, 1000), len(docs)), reverse=True)
            lists[f"q{query}"] = {
                f"d{doc}": score / 64 for doc, score in zip(docs, scores, strict=True)
            }
    return runs


def write(peer: str, found: dict[str, object]) -> Path:
    """Write a golden file, and return its path.

    Args:
        peer: The name of the peer.
        found: What it says, with the day.
    """
    FOLDER.mkdir(exist_ok=True)
    path = FOLDER / f"{peer}.json"
    path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return path
