"""Ask LensKit: `… -m dev.parity.peers.lenskit.measure ANSWERS`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from lenskit.data import ItemList, ItemListCollection
from lenskit.metrics import DCG, NDCG, Hit, Precision, Recall, RecipRank, RunAnalysis

from dev.parity.answers import Answers, at, publish

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lenskit.metrics import ListMetric

    from dev.parity.answers import Found
    from dev.parity.cases import Case

CUTOFFS = (None, 1, 3, 5, 10)
OTHERS = {"RR": RecipRank, "P": Precision, "R": Recall}


def measure(cases: list[Case]) -> Iterable[Answers]:
    """Ask for nDCG in its two forms, and for the measures that have one form."""
    for convention, gain in (("lenskit", None), ("lenskit_rating", "rating")):
        answers = Answers(
            "lenskit",
            convention,
            f"RunAnalysis(NDCG(k, gain={gain!r})), "
            + ("the documents with a grade above 0" if gain is None else "every judged document")
            + " as test items",
            mean_over="run",
            notes=[
                "Its AP, which divides by no more than the length of the list, is none of ours."
            ],
        )
        metrics: dict[str, ListMetric] = {
            at(name, k): make(k, gain=gain)
            for name, make in (("nDCG", NDCG), ("DCG", DCG))
            for k in CUTOFFS
        }
        if gain is None:
            metrics |= {at(name, k): make(k) for name, make in OTHERS.items() for k in CUTOFFS}
            metrics |= {f"Success@{k}": Hit(k) for k in CUTOFFS if k is not None}
        for case in cases:
            lists = runs(case), tests(case, gain)
            for name, metric in metrics.items():
                answers.ask_at_once(case, [name], partial(evaluate, name, metric, *lists))
        yield answers


def runs(case: Case) -> ItemListCollection:
    """The ranked documents of each user."""
    lists = ItemListCollection(["user_id"])
    for query in case.run:
        lists.add(ItemList(item_ids=case.ranked(query), ordered=True), user_id=query)
    return lists


def tests(case: Case, gain: str | None) -> ItemListCollection:
    """The test items of each user: what is relevant, or what is rated."""
    lists = ItemListCollection(["user_id"])
    for query, grades in case.qrels.items():
        chosen = case.relevant(query) if gain is None else list(grades)
        ratings = [float(grades[document]) for document in chosen]
        lists.add(ItemList(item_ids=chosen, rating=ratings), user_id=query)
    return lists


def evaluate(
    name: str, metric: ListMetric, lists: ItemListCollection, tests: ItemListCollection
) -> Found:
    """Evaluate one metric: its mean, and its values by user, both with values imputed."""
    analysis = RunAnalysis()
    analysis.add_metric(metric, label=name)
    results = analysis.measure(lists, tests)
    values = results.list_metrics()[name]
    return {name: (float(results.list_summary()["mean"][name]), dict(values.items()))}


if __name__ == "__main__":
    publish(measure)
