"""Measures recommendations with RePlay: `… -m dev.parity.peers.replay.items ANSWERS`."""

from __future__ import annotations

import pandas as pd
from replay.metrics import Coverage, Novelty, PerUser, Surprisal

from dev.parity.items import Case, cutoffs, publish


def ask(case: Case) -> dict[str, dict[str, float] | float]:
    """Return the values of users by metric, and of all lists where there is only one."""
    rows = [
        (user, item, -float(rank))
        for user, items in case.recommended.items()
        for rank, item in enumerate(items)
    ]
    lists = pd.DataFrame(rows, columns=["query_id", "item_id", "rating"])
    before = pd.DataFrame(case.pairs(case.history), columns=["query_id", "item_id"])
    found: dict[str, dict[str, float] | float] = {}
    asked = list(cutoffs(case))
    for metric in (Surprisal, Novelty):
        by_user = metric(asked, mode=PerUser())(lists, before)
        for k in asked:
            name = metric.__name__
            found[f"{name}@{k}"] = {u: float(v) for u, v in by_user[f"{name}-PerUser@{k}"].items()}
    shares = Coverage(asked)(lists, before)
    return found | {f"Coverage@{k}": float(shares[f"Coverage@{k}"]) for k in asked}


if __name__ == "__main__":
    publish("RePlay", "replay-rec", ask)
