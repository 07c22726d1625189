"""What one library says about the differences of runs, and the values that it is given."""

from __future__ import annotations

import json
import sys
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

FOLDER = Path(__file__).resolve().parents[2] / "tests" / "parity" / "golden" / "compared"
SCALE = 1_000_000
"""The values have at most six decimal places, so that they are whole numbers of millionths.

No test depends on the scale of values. A grade can then be a value: that of the only document that
a run retrieves for a query.
"""

Qrels: TypeAlias = dict[str, dict[str, int]]
Lists: TypeAlias = dict[str, dict[str, float]]
Answers: TypeAlias = dict[str, dict[str, float]]
"""By test, then by pair of runs, the p-value."""


def read() -> dict[str, dict[str, list[float]]]:
    """Read the values: by case, then by run, those of the queries."""
    written = json.loads((FOLDER / "values.json").read_text(encoding="utf-8"))
    return {name: case["values"] for name, case in written.items()}


def make_lists(values: dict[str, list[float]]) -> tuple[Qrels, dict[str, Lists]]:
    """Make judgments, and runs whose first documents have the values as grades, in millionths.

    Args:
        values: By run, the values of the queries.
    """
    qrels: Qrels = {}
    runs: dict[str, Lists] = {}
    for run, row in values.items():
        for number, value in enumerate(row):
            qrels.setdefault(f"q{number}", {})[run] = round(value * SCALE)
            runs.setdefault(run, {})[f"q{number}"] = {run: 1.0}
    return qrels, runs


def publish(library: str, way: str, ask: Callable[[Qrels, dict[str, Lists]], Answers]) -> None:
    """Ask a library about all cases, and write what it says to the file that the caller names.

    Args:
        library: Its name in the package registry.
        way: How it is asked, in the words of its interface.
        ask: The p-values of the library, given judgments and runs.
    """
    cases = {name: ask(*make_lists(values)) for name, values in read().items()}
    found = {"library": library, "version": version(library), "way": way, "cases": cases}
    Path(sys.argv[1]).write_text(json.dumps(found, allow_nan=False), encoding="utf-8")


def write(peer: str, found: dict[str, object]) -> Path:
    """Write a golden file, and return its path.

    Args:
        peer: The name of the peer.
        found: What it says, with the day.
    """
    path = FOLDER / f"{peer}.json"
    path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return path
