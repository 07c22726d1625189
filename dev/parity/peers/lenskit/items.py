"""Measures recommendations with LensKit: `… -m dev.parity.peers.lenskit.items ANSWERS`."""

from __future__ import annotations

from lenskit.data import ItemList, ItemListCollection
from lenskit.metrics import RunAnalysis
from lenskit.metrics.ranking import ListGini

from dev.parity.items import Case, cutoffs, publish


def ask(case: Case) -> dict[str, dict[str, float] | float]:
    """Return the value of all lists."""
    lists, tests = ItemListCollection(["user_id"]), ItemListCollection(["user_id"])
    for user, items in case.recommended.items():
        lists.add(ItemList(item_ids=items, ordered=True), user_id=user)
        tests.add(ItemList(item_ids=case.relevant[user]), user_id=user)
    found: dict[str, dict[str, float] | float] = {}
    for k in cutoffs(case):
        run = RunAnalysis(ListGini(k, items=len(case.items)))
        found[f"ListGini@{k}"] = float(run.measure(lists, tests).global_metrics().iloc[0])
    return found


if __name__ == "__main__":
    publish("LensKit", "lenskit", ask)
