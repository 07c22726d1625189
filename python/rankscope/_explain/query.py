"""Kernels called for one query: values at cutoffs, gains, and weights of ranks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, chain, groupby

import numpy as np

from rankscope._core import Plan, Rankings
from rankscope._evaluate.settings import Request
from rankscope._explain.explanation import Document
from rankscope._settings import Policy, Ties
from rankscope.measures import Measure
from rankscope.measures.table import measure as measure_named


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedQuery:
    """One query in rank order, with its judgments.

    Args:
        query_id: The query, or `None`.
        docs: The ids of the retrieved documents, in rank order, or `None`.
        grades: Their grades, NaN if they are unjudged.
        scores: Their scores; equal ones are tied if `ties` is `"average"`.
        ties: What decided between equal scores.
        judged: The grades of all judged documents, retrieved or not.
        judged_docs: The ids of those, or `None`.
        sees_all: Whether the judged documents include those that were not retrieved.
        is_missing: Whether the query is not in the run.
    """

    query_id: str | None
    docs: Sequence[str] | None
    grades: Sequence[float]
    scores: Sequence[float]
    ties: Ties
    judged: Sequence[float]
    judged_docs: Sequence[str] | None
    sees_all: bool
    is_missing: bool = False

    def document(self, row: int, gain: float = 0.0, rank: int | None = None) -> Document:
        """Return the document of a row, whose rank can differ."""
        doc_id = None if self.docs is None else self.docs[row]
        return Document(doc_id, self.grades[row], gain, rank or row + 1)


class Kernels:
    """One query in the core, in its own order or in others.

    If the policy leaves values out or refuses them, they are NaN here.
    """

    def __init__(self, query: RankedQuery, measure: Measure, policy: Policy) -> None:
        if measure.judged_only:  # which is to remove the others
            policy = replace(policy, unjudged="remove")
        if measure.k is None:  # a whole list lacks nothing
            policy = replace(policy, missing_gain=None)
        self.query = query
        self.measure = measure
        self.policy = policy
        self._policy = replace(policy, empty="nan", missing="zero", aggregate="mean")
        # Whatever else decided between equal scores has put the rows in order.
        self._ties = "average" if query.ties == "average" else "input"
        self._own = self._rank(query.grades, query.scores, self._ties)

    def values(self, measures: Sequence[Measure]) -> list[float]:
        """Evaluate measures, NaN where one is undefined."""
        return self._evaluate(self._own, measures, self._ties)

    def value_of_order(
        self, measure: Measure, grades: Sequence[float], policy: Policy | None = None
    ) -> float:
        """Evaluate a measure of the same documents in another order, without ties."""
        ranked = self._rank(grades, range(0, -len(grades), -1), "input")
        return self._evaluate(ranked, [measure], "input", policy)[0]

    def sum_of_order(self, measure: Measure, grades: Sequence[float]) -> float:
        """Evaluate a sum over documents in an order, without removals or padding."""
        unjudged = "nonrelevant" if self._policy.unjudged == "remove" else self._policy.unjudged
        policy = replace(self._policy, unjudged=unjudged, missing_gain=None)
        return self.value_of_order(measure, grades, policy)

    def value_of_grades(self, measure: Measure, grades: Sequence[float]) -> float:
        """Evaluate a measure with other grades at the ranks."""
        ranked = self._rank(grades, self.query.scores, self._ties)
        return self._evaluate(ranked, [measure], self._ties)[0]

    def gains(self, measure: Measure, grades: Sequence[float]) -> list[float]:
        """Return the gains of grades. NaN is unjudged."""
        return self._plan(self._own, [measure], self._ties).gains(0, list(grades)) or []

    def discounted(
        self, measure: Measure, gains: Sequence[float], ranks: Sequence[int]
    ) -> list[float]:
        """Return the discounted gains at ranks."""
        plan = self._plan(self._own, [measure], self._ties)
        return plan.discounted(0, list(gains), list(ranks)) or []

    def mean_gains(self, cumulated: Measure, ties: Sequence[Sequence[float]]) -> list[float]:
        """Return the mean gain of each tie, which is the expected gain at each of its ranks."""
        if not ties:
            return []
        offsets = np.array([0, *accumulate(map(len, ties))], dtype=np.int64)
        grades = np.array([*chain.from_iterable(ties)], dtype=np.float64)
        ranked = Rankings.from_groups(offsets, grades, np.zeros_like(grades), None, "average", 1)
        plan = self._plan(ranked, [cumulated], "average")
        return [*memoryview(ranked.evaluate(plan, 1).values(0)).cast("d")]

    def _rank(self, grades: Sequence[float], scores: Sequence[float], ties: str) -> Rankings:
        judged = np.array(self.query.judged, dtype=np.float64)
        return Rankings.from_groups(
            np.array([0, len(grades)], dtype=np.int64),
            np.array(grades, dtype=np.float64),
            np.array(scores, dtype=np.float64),
            (np.array([0, len(judged)], dtype=np.int64), judged),
            ties,
            1,
        )

    def _plan(
        self, ranked: Rankings, measures: Sequence[Measure], ties: str, policy: Policy | None = None
    ) -> Plan:
        policy, grades = policy or self._policy, ranked.grades()
        return Request(measures=list(measures), policy=policy, grades=grades).plan(ties)

    def _evaluate(
        self, ranked: Rankings, measures: Sequence[Measure], ties: str, policy: Policy | None = None
    ) -> list[float]:
        values = ranked.evaluate(self._plan(ranked, measures, ties, policy), 1)
        return [memoryview(values.values(at)).cast("d")[0] for at in range(len(measures))]


def sibling(name: str, measure: Measure) -> Measure:
    """Return a related measure with the same settings."""
    plain, settings = measure_named(name), measure.parameters
    values = (settings.get(key, value) for key, value in plain.parameters.items())
    return Measure(plain.row, tuple(values))


@dataclass(frozen=True, slots=True)
class RankedDocuments:
    """The documents of a list that have ranks, in rank order.

    Args:
        rows: The row of the query at each rank.
        docs: The id of each document, or `None`.
        grades: The grade at each rank, NaN if it is unjudged.
        gains: The gain of each document.
        rank_gains: The gain at each rank: the mean of its tie.
        ties: The first and the last rank of each tie, by each of its ranks.
        removed: The rows that have no rank.
    """

    rows: list[int]
    docs: list[str | None]
    grades: list[float]
    gains: list[float]
    rank_gains: list[float]
    ties: dict[int, tuple[int, int]]
    removed: list[int]

    def __len__(self) -> int:
        return len(self.rows)

    def average(self, weights: Sequence[float]) -> list[float]:
        """Return the weight of each document, averaged over the ranks of its tie."""
        averaged = [*weights]
        for first, last in set(self.ties.values()):
            size = last - first + 1
            averaged[first - 1 : last] = [sum(weights[first - 1 : last]) / size] * size
        return averaged


def count(
    kernels: Kernels,
    weigh: Callable[[list[float]], list[float]],
    average: Callable[[list[list[float]]], list[float]],
) -> RankedDocuments:
    """Return which documents have ranks, and the gain at each rank.

    `weigh` returns the gains of grades, and `average` the mean gain of the grades of each tie.
    """
    query = kernels.query
    is_kept = [kernels.policy.unjudged != "remove" or grade >= 0 for grade in query.grades]
    rows = [row for row, kept in enumerate(is_kept) if kept]
    grades = [query.grades[row] for row in rows]
    gains = weigh(grades)
    spans = []
    if query.ties == "average":
        for _, tied in groupby(range(1, len(rows) + 1), lambda rank: query.scores[rows[rank - 1]]):
            first, *others = tied
            spans += [(first, others[-1])] if others else []
    rank_gains = [*gains]
    ties: dict[int, tuple[int, int]] = {}
    means = average([grades[first - 1 : last] for first, last in spans])
    for (first, last), mean in zip(spans, means, strict=True):
        rank_gains[first - 1 : last] = [mean] * (last - first + 1)
        ties |= dict.fromkeys(range(first, last + 1), (first, last))
    docs = [None if query.docs is None else query.docs[row] for row in rows]
    removed = [row for row, kept in enumerate(is_kept) if not kept]
    return RankedDocuments(rows, docs, grades, gains, rank_gains, ties, removed)


def count_gains(kernels: Kernels, cumulated: Measure) -> RankedDocuments:
    """Return which documents have ranks, and the gain at each rank, by a measure such as CG."""
    return count(
        kernels,
        lambda grades: kernels.gains(cumulated, grades),
        lambda ties: kernels.mean_gains(cumulated @ 1, ties),
    )
