"""A log is split as RecTools splits it, where no two interactions of a user are at one time."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
import rankscope as rs

from dev.parity.splits import make_log

GOLDEN = Path(__file__).parents[1] / "parity" / "golden" / "splits" / "rectools.json"
CASES = json.loads(GOLDEN.read_text(encoding="utf-8"))["cases"]
KEPT = {
    "filter_cold_users": "new_users",
    "filter_cold_items": "new_items",
    "filter_already_seen": "known_pairs",
}


@pytest.mark.parametrize("case", CASES)
def test_both_sets_have_the_rows_of_rectools(case: str) -> None:
    way, _, off = case.partition(" ")
    name, _, value = way.partition("=")
    log = pd.DataFrame(make_log(), columns=["user_id", "item_id", "date"])
    given = int(value) if name == "last_per_user" else value
    parts = rs.split(log, **{name: given}, keep=KEPT[off] if off else ())
    train, test = CASES[case]
    assert [*parts.train.index] == train
    # RecTools keeps all rows of a pair; rankscope the earliest, as judgments have one.
    earliest = log.loc[test].sort_values("date").drop_duplicates(["user_id", "item_id"])
    assert [*parts.test.index] == sorted(earliest.index)
    assert len(test) > 0
