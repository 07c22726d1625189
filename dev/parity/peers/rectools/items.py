"""Measures recommendations with RecTools: `… -m dev.parity.peers.rectools.items ANSWERS`."""

from __future__ import annotations

import json
import sys
from importlib.metadata import version
from pathlib import Path

import pandas as pd
from rectools import Columns
from rectools.metrics import (
    PAP,
    AvgRecPopularity,
    CatalogCoverage,
    IntraListDiversity,
    MeanInvUserFreq,
    PairwiseHammingDistanceCalculator,
    PartialAUC,
    Serendipity,
)

from dev.parity.items import Case, Lists, generate

CUTOFFS = (1, 3, 10)


def main() -> None:
    """Write the values of RecTools for all cases to the file that the caller names."""
    cases = {name: ask(case) for name, case in generate().items()}
    found = {"library": "RecTools", "version": version("RecTools"), "cases": cases}
    Path(sys.argv[1]).write_text(json.dumps(found), encoding="utf-8")


def ask(case: Case) -> dict[str, dict[str, float] | float]:
    """Return the values of users by measure, and of all lists where there is only one."""
    reco = pairs(case.recommended)
    reco[Columns.Rank] = reco.groupby(Columns.User).cumcount() + 1
    chosen, before = pairs(case.relevant), pairs(case.history)
    catalogue = list(case.items)
    features = pd.DataFrame.from_dict(case.items, orient="index")
    distance = PairwiseHammingDistanceCalculator(features)
    found: dict[str, dict[str, float] | float] = {}
    for k in CUTOFFS:
        of_users = {
            f"Novelty@{k}": MeanInvUserFreq(k).calc_per_user(reco, before),
            f"AvgPopularity@{k}": AvgRecPopularity(k).calc_per_user(reco, before),
            f"AvgPopularity(normalize=True)@{k}": AvgRecPopularity(k, normalize=True).calc_per_user(
                reco, before
            ),
            f"ILD(distance='hamming')@{k}": IntraListDiversity(
                k, distance_calculator=distance
            ).calc_per_user(reco),
            f"Serendipity@{k}": Serendipity(k).calc_per_user(reco, chosen, before, catalogue),
            f"AUC@{k}": PartialAUC(k).calc_per_user(reco, chosen),
            f"PAP@{k}": PAP(k).calc_per_user(reco, chosen),
        }
        found |= {name: values.astype(float).to_dict() for name, values in of_users.items()}
        found[f"Coverage@{k}"] = CatalogCoverage(k, normalize=True).calc(reco, catalogue)
        found[f"Coverage(normalize=False)@{k}"] = CatalogCoverage(k).calc(reco, catalogue)
    return found


def pairs(lists: Lists) -> pd.DataFrame:
    """Return users and items as a table."""
    rows = [(user, item) for user, items in lists.items() for item in items]
    return pd.DataFrame(rows, columns=Columns.UserItem)


if __name__ == "__main__":
    main()
