"""Measures recommendations with RecBole: `… -m dev.parity.peers.recbole.items ANSWERS`."""

from __future__ import annotations

from collections import Counter
from itertools import chain

import numpy as np
import torch
from recbole.evaluator.metrics import AveragePopularity, GiniIndex, ItemCoverage, ShannonEntropy

from dev.parity.items import Case, cutoffs, publish


def ask(case: Case) -> dict[str, dict[str, float] | float]:
    """Return the values of all lists by metric, of the matrix that its collector makes."""
    ids = {item: number for number, item in enumerate(case.items, 1)}  # 0 fills up lists
    matrix = torch.tensor([[ids[item] for item in items] for items in case.recommended.values()])
    had = Counter(ids[item] for item in chain(*case.history.values()))
    known = {"rec.items": matrix, "data.num_items": len(ids) + 1, "data.count_items": had}
    asked = [k for k in cutoffs(case) if k <= matrix.shape[1]]
    found: dict[str, dict[str, float] | float] = {}
    for metric in (ItemCoverage, AveragePopularity, ShannonEntropy, GiniIndex):
        made = metric({"topk": asked, "metric_decimal_place": 15})
        values = made.calculate_metric(known)
        names = {k: f"{metric.__name__.lower()}@{k}" for k in asked}
        found |= {f"{metric.__name__}@{k}": float(np.float64(values[names[k]])) for k in asked}
    return found


if __name__ == "__main__":
    publish("RecBole", "recbole", ask)
