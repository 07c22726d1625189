"""The log of interactions that a library splits, and which rows it takes for which set."""

from __future__ import annotations

import json
import random
from datetime import date, timedelta
from pathlib import Path
from typing import TypeAlias

FOLDER = Path(__file__).resolve().parents[2] / "tests" / "parity" / "golden" / "splits"
USERS, ITEMS, DAYS = 12, 15, 40

Log: TypeAlias = list[tuple[str, str, str]]
"""Users, items and dates. A user has at most one interaction a day, so that the last is known."""


def make_log() -> Log:
    """Make a log in which some users, items and pairs are new at the end, and some aren't."""
    generator = random.Random(5)
    rows: Log = []
    for user in range(USERS):
        days = generator.sample(range(DAYS), generator.choice((1, 2, 8, 14)))
        for day in days:
            # Few of the items are there from the beginning.
            item = min(generator.randrange(ITEMS), 4 + day // 4)
            when = date(2026, 10, 1) + timedelta(days=day)
            rows.append((f"u{user}", f"i{item}", when.isoformat()))
    generator.shuffle(rows)
    return rows


def write(peer: str, found: dict[str, object]) -> Path:
    """Write a golden file, and return its path."""
    FOLDER.mkdir(exist_ok=True)
    path = FOLDER / f"{peer}.json"
    path.write_text(json.dumps(found) + "\n", encoding="utf-8")
    return path
