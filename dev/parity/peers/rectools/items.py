"""Measures recommendations with RecTools: `… -m dev.parity.peers.rectools.items ANSWERS`."""

from __future__ import annotations

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

from dev.parity.items import Case, cutoffs, publish


def ask(case: Case) -> dict[str, dict[str, float] | float]:
    """Return the values of users by metric, and of all lists where there is only one."""
    reco = frame(case, case.recommended)
    reco[Columns.Rank] = reco.groupby(Columns.User).cumcount() + 1
    chosen, before = frame(case, case.relevant), frame(case, case.history)
    catalogue = list(case.items)
    features = pd.DataFrame.from_dict(case.items, orient="index")
    distance = PairwiseHammingDistanceCalculator(features)
    found: dict[str, dict[str, float] | float] = {}
    for k in cutoffs(case):
        of_users = {
            "MeanInvUserFreq": MeanInvUserFreq(k).calc_per_user(reco, before),
            "AvgRecPopularity": AvgRecPopularity(k).calc_per_user(reco, before),
            "AvgRecPopularity(normalize=True)": AvgRecPopularity(k, normalize=True).calc_per_user(
                reco, before
            ),
            "IntraListDiversity": IntraListDiversity(k, distance_calculator=distance).calc_per_user(
                reco
            ),
            "Serendipity": Serendipity(k).calc_per_user(reco, chosen, before, catalogue),
            "PartialAUC": PartialAUC(k).calc_per_user(reco, chosen),
            "PAP": PAP(k).calc_per_user(reco, chosen),
        }
        found |= {
            f"{name}@{k}": values.astype(float).to_dict() for name, values in of_users.items()
        }
        shared = CatalogCoverage(k, normalize=True).calc(reco, catalogue)
        found[f"CatalogCoverage(normalize=True)@{k}"] = shared
        found[f"CatalogCoverage@{k}"] = CatalogCoverage(k).calc(reco, catalogue)
    return found


def frame(case: Case, lists: dict[str, list[str]]) -> pd.DataFrame:
    """Return users and items as a table."""
    return pd.DataFrame(case.pairs(lists), columns=Columns.UserItem)


if __name__ == "__main__":
    publish("RecTools", "RecTools", ask)
