"""Ask RecTools to split a log: `… -m dev.parity.peers.rectools.splits ANSWERS`."""

from __future__ import annotations

import json
import sys
from importlib.metadata import version
from pathlib import Path

import pandas as pd
from rectools import Columns
from rectools.dataset import Interactions
from rectools.model_selection import LastNSplitter, TimeRangeSplitter

from dev.parity.splits import make_log

FILTERS = ("filter_cold_users", "filter_cold_items", "filter_already_seen")


def main() -> None:
    """Write the rows of both sets, by how they were split and which filters were off."""
    frame = pd.DataFrame(make_log(), columns=[Columns.User, Columns.Item, Columns.Datetime])
    frame[Columns.Weight] = 1
    for column in Columns.UserItem:
        frame[column] = frame[column].str[1:].astype(int)
    frame[Columns.Datetime] = pd.to_datetime(frame[Columns.Datetime])
    log = Interactions(frame)
    cases = {}
    for name, make, size in (
        ("last=7d", TimeRangeSplitter, "7D"),
        ("last=15d", TimeRangeSplitter, "15D"),
        ("last_per_user=1", LastNSplitter, 1),
        ("last_per_user=2", LastNSplitter, 2),
    ):
        for off in (None, *FILTERS):
            kept = {} if off is None else {off: False}
            [(train, test, _)] = make(size, n_splits=1, **kept).split(log)
            cases[f"{name} {off or ''}".strip()] = [
                sorted(map(int, each)) for each in (train, test)
            ]
    found = {"library": "RecTools", "version": version("RecTools"), "cases": cases}
    Path(sys.argv[1]).write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    main()
