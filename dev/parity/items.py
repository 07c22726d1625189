"""The recommendations that another library measures: novelty, diversity, coverage and AUC."""

from __future__ import annotations

import json
import sys
from importlib.metadata import version
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

FOLDER = Path(__file__).resolve().parents[2] / "tests" / "parity" / "golden" / "items"

Lists: TypeAlias = dict[str, list[str]]
Values: TypeAlias = dict[str, float] | float


class Case(NamedTuple):
    """Recommendations for each user, with the history of the users and the vectors of the items."""

    recommended: Lists
    relevant: Lists
    history: Lists
    items: dict[str, list[int]]

    def pairs(self, lists: Lists) -> list[tuple[str, str]]:
        """Return users and items as rows."""
        return [(user, item) for user, items in lists.items() for item in items]


def generate() -> dict[str, Case]:
    """Make recommendations, what users chose later, their history, and vectors of all items.

    In `cold`, there are items without a history; in `repeated`, users had items several times; in
    `popular`, somebody had every item. All lists are of the same users.
    """
    return {
        "usual": _make(1, users=40, items=60, depth=10),
        "short": _make(2, users=12, items=30, depth=4),
        "cold": _make(3, users=20, items=50, depth=8, known=20),
        "repeated": _make(4, users=20, items=40, depth=10, repeats=True),
        "popular": _make(5, users=60, items=30, depth=10, all_had=True),
    }


def cutoffs(case: Case) -> tuple[int, ...]:
    """Return the cutoffs to ask for: those that a list of a matrix can have, and one beyond."""
    depth = max(map(len, case.recommended.values()))
    return (1, 3, depth, 2 * depth)


def _make(
    seed: int,
    *,
    users: int,
    items: int,
    depth: int,
    known: int | None = None,
    repeats: bool = False,
    all_had: bool = False,
) -> Case:
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
        had += [names[number % items]] * all_had
        made.history[user] = had if repeats else list(dict.fromkeys(had))
    return made


def publish(library: str, package: str, ask: Callable[[Case], dict[str, Values]]) -> None:
    """Write the values of a library for all cases to the file that the caller names.

    Args:
        library: Its name.
        package: That of its distribution.
        ask: Returns the values of a case, by `METRIC@CUTOFF`: of each user, or of all lists.
    """
    answers = {name: ask(case) for name, case in generate().items()}
    found = {"library": library, "version": version(package), "cases": answers}
    Path(sys.argv[1]).write_text(json.dumps(found), encoding="utf-8")


def write(peer: str, found: dict[str, object]) -> Path:
    """Write the golden file of a peer."""
    FOLDER.mkdir(exist_ok=True)
    path = FOLDER / f"{peer}.json"
    path.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    return path
