"""The recommendations that another library measures: novelty, diversity, coverage and AUC."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import NamedTuple, TypeAlias

FOLDER = Path(__file__).resolve().parents[2] / "tests" / "parity" / "golden" / "items"

Lists: TypeAlias = dict[str, list[str]]


class Case(NamedTuple):
    """Recommendations for each user, with the history of the users and the vectors of the items."""

    recommended: Lists
    relevant: Lists
    history: Lists
    items: dict[str, list[int]]


def generate() -> dict[str, Case]:
    """Make recommendations, what users chose later, their history, and vectors of all items.

    In `cold`, there are items without a history. All lists are of the same users.
    """
    return {
        "usual": _make(1, users=40, items=60, depth=10),
        "short": _make(2, users=12, items=30, depth=4),
        "cold": _make(3, users=20, items=50, depth=8, known=20),
    }


def _make(seed: int, *, users: int, items: int, depth: int, known: int | None = None) -> Case:
    random = Random(seed)
    names = [f"i{number}" for number in range(items)]
    heard = names[:known]
    weights = [1 / (place + 1) for place in range(len(heard))]
    made = Case({}, {}, {}, {name: [random.randint(0, 1) for _ in range(6)] for name in names})
    for number in range(users):
        user = f"u{number}"
        made.recommended[user] = random.sample(names, depth)
        made.relevant[user] = random.sample(names, random.randint(1, 9))
        had = random.choices(heard, weights, k=random.randint(1, 12))
        made.history[user] = list(dict.fromkeys(had))
    return made


def write(peer: str, found: dict[str, object]) -> Path:
    """Write the golden file of a peer."""
    FOLDER.mkdir(exist_ok=True)
    path = FOLDER / f"{peer}.json"
    path.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    return path
