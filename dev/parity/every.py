"""What one library says of measures that no convention has: user models and diversity."""

from __future__ import annotations

import json
import sys
from importlib.metadata import version
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

FOLDER = Path(__file__).resolve().parents[2] / "tests" / "parity" / "golden" / "every"

Row: TypeAlias = tuple[str, str, str, int]
"""Query, subtopic, document and grade."""
Qrels: TypeAlias = dict[str, dict[str, int]]
Lists: TypeAlias = dict[str, dict[str, float]]
Values: TypeAlias = dict[str, float] | str
"""By query, or the name of an error."""


def generate() -> dict[str, tuple[list[Row], Lists]]:
    """Make judgments by subtopic, and a run for each."""
    return {
        "shallow": _make(1, queries=12, documents=30, depth=10),
        "deep": _make(2, queries=4, documents=400, depth=300),
        "tied": _make(3, queries=12, documents=30, depth=20, digits=0),
        "binary": _make(4, queries=8, documents=40, depth=25, highest=1),
    }


def _make(
    seed: int,
    *,
    queries: int,
    documents: int,
    depth: int,
    digits: int = 9,
    highest: int = 3,
) -> tuple[list[Row], Lists]:
    random = Random(seed)
    rows: list[Row] = []
    run: Lists = {}
    for number in range(queries):
        query = f"q{number}"
        names = [f"d{code}" for code in random.sample(range(1000), documents)]
        for document in random.sample(names, documents // 2):
            subtopics = random.sample(["1", "2", "3", "10", "11"], random.randint(1, 3))
            rows += [(query, topic, document, random.randint(0, highest)) for topic in subtopics]
        retrieved = random.sample(names, depth)
        run[query] = {name: round(random.uniform(1, 9), digits) for name in retrieved}
    return rows, run


def highest_grades(rows: list[Row]) -> Qrels:
    """Return the highest grade of each document."""
    qrels: Qrels = {}
    for query, _, document, grade in rows:
        grades = qrels.setdefault(query, {})
        grades[document] = max(grade, grades.get(document, grade))
    return qrels


def publish(
    library: str, names: list[str], ask: Callable[[str, list[Row], Lists], dict[str, float]]
) -> None:
    """Ask a library about all cases, and write what it says to the file that the caller names.

    Args:
        library: Its name in the package registry.
        names: The measures.
        ask: The values of queries that the library has for a measure.
    """
    cases: dict[str, dict[str, Values]] = {}
    for case, (rows, run) in generate().items():
        cases[case] = {}
        for name in names:
            try:
                cases[case][name] = ask(name, rows, run)
            except Exception as error:  # noqa: BLE001 - whatever it raises is what it says
                cases[case][name] = type(error).__name__
    found = {"library": library, "version": version(library), "cases": cases}
    Path(sys.argv[1]).write_text(json.dumps(found), encoding="utf-8")


def write(peer: str, found: dict[str, object]) -> Path:
    """Write the golden file of a peer."""
    FOLDER.mkdir(exist_ok=True)
    path = FOLDER / f"{peer}.json"
    path.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    return path
