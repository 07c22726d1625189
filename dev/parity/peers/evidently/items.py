"""Measures recommendations with Evidently: `… -m dev.parity.peers.evidently.items ANSWERS`."""

from __future__ import annotations

import warnings

import pandas as pd
from evidently import DataDefinition, Dataset, Recsys, Report
from evidently.metrics import Diversity, Novelty, Personalization, PopularityBiasMetric

from dev.parity.items import Case, cutoffs, publish


def ask(case: Case) -> dict[str, dict[str, float] | float]:
    """Return the values of all users by metric."""
    warnings.simplefilter("ignore")
    features = [f"f{number}" for number in range(len(next(iter(case.items.values()))))]
    rows = [
        (user, item, float(rank), int(item in case.relevant[user]), *case.items[item])
        for user, items in case.recommended.items()
        for rank, item in enumerate(items, 1)
    ]
    lists = pd.DataFrame(rows, columns=["user_id", "item_id", "prediction", "target", *features])
    before = [(*pair, 1, *case.items[pair[1]]) for pair in case.pairs(case.history)]
    train = pd.DataFrame(before, columns=["user_id", "item_id", "target", *features])
    definition = DataDefinition(
        numerical_columns=features, ranking=[Recsys(recommendations_type="rank")]
    )
    data = Dataset.from_pandas(lists, data_definition=definition)
    past = Dataset.from_pandas(train, data_definition=definition)
    found: dict[str, dict[str, float] | float] = {}
    for k in cutoffs(case):
        metrics = {
            "Novelty": Novelty(k=k),
            "Personalization": Personalization(k=k),
            "PopularityBiasMetric": PopularityBiasMetric(k=k),
            "PopularityBiasMetric(metric='coverage')": PopularityBiasMetric(k=k, metric="coverage"),
            "PopularityBiasMetric(metric='gini')": PopularityBiasMetric(k=k, metric="gini"),
            "Diversity": Diversity(k=k, item_features=features),
        }
        for name, metric in metrics.items():
            report = Report([metric])
            run = report.run(data, None, additional_data={"current_train_data": past})
            found[f"{name}@{k}"] = float(run.dict()["metrics"][0]["value"])
    return found


if __name__ == "__main__":
    publish("Evidently", "evidently", ask)
