"""Kernels called for one query: values at cutoffs, gains, and weights of ranks."""

from __future__ import annotations

from array import array
from itertools import accumulate, chain

from rankscope._core import Plan, Rankings
from rankscope._evaluate.settings import Request, Settings
from rankscope.measures import Measure
from rankscope.measures.table import measure as measure_named
from rankscope.records import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from rankscope.derivation.derive.query import RankedQuery
    from rankscope.settings.policy import Policy


class Kernels:
    """One query in the core, in its own order or in others.

    Args:
        query: The query.
        policy: The policy; where it leaves values out or refuses them, they are NaN here.
    """

    def __init__(self, query: RankedQuery, policy: Policy) -> None:
        self.query = query
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
        scores = [-float(rank) for rank in range(len(grades))]
        ranked = self._rank(grades, scores, "input")
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
        offsets = [0, *accumulate(map(len, ties))]
        grades = [*chain.from_iterable(ties)]
        ranked = Rankings.from_groups(
            _integers(offsets), _doubles(grades), _doubles([0.0] * len(grades)), None, "average", 1
        )
        plan = self._plan(ranked, [cumulated], "average")
        return [*memoryview(ranked.evaluate(plan, 1).values(0)).cast("d")]

    def _rank(self, grades: Sequence[float], scores: Sequence[float], ties: str) -> Rankings:
        judged = self.query.judged
        return Rankings.from_groups(
            _integers([0, len(grades)]),
            _doubles(grades),
            _doubles(scores),
            (_integers([0, len(judged)]), _doubles(judged)),
            ties,
            1,
        )

    def _plan(
        self,
        ranked: Rankings,
        measures: Sequence[Measure],
        ties: str,
        policy: Policy | None = None,
    ) -> Plan:
        request = Request(
            measures=list(measures), policy=policy or self._policy, grades=ranked.grades()
        )
        return request.plan(ties)

    def _evaluate(
        self,
        ranked: Rankings,
        measures: Sequence[Measure],
        ties: str,
        policy: Policy | None = None,
    ) -> list[float]:
        answer = ranked.evaluate(self._plan(ranked, measures, ties, policy), 1)
        return [memoryview(answer.values(index)).cast("d")[0] for index in range(len(measures))]


# The core reads any buffer; arrays of the standard library save loading NumPy for a few numbers.


def _integers(values: Sequence[int]) -> NDArray[np.int64]:
    return array("q", values)  # type: ignore[return-value]  # a buffer of integers


def _doubles(values: Sequence[float]) -> NDArray[np.float64]:
    # An array without a number may lie where no number could.
    return memoryview(array("d", [*values, 0.0]))[:-1]  # type: ignore[return-value]  # of doubles


@record(frozen=True, slots=True)
class Family:
    """A measure of cumulated gain, and the related measures with the same settings.

    Args:
        own: The measure.
        cg: CG.
        dcg: DCG.
        idcg: IDCG.
        ndcg: nDCG.
    """

    own: Measure
    cg: Measure
    dcg: Measure
    idcg: Measure
    ndcg: Measure

    @classmethod
    def of(cls, measure: Measure) -> Family:
        """Return the family of a measure."""
        names = ("CG", "DCG", "IDCG", "nDCG")
        return cls(measure, *(sibling(name, measure) for name in names))


def sibling(name: str, measure: Measure) -> Measure:
    """Return a related measure with the same settings."""
    plain = measure_named(name)
    settings = measure.parameters
    return Measure(
        plain.row, tuple(settings.get(key, value) for key, value in plain.parameters.items())
    )


MOST_RANKS = 10_000


def weigh_ranks(measure: Measure, ranks: int) -> tuple[float, ...]:
    """Return the weights of the first ranks: what a gain of 1 adds at each."""
    plan = Settings(measures=measure @ ranks).request(grades=[0.0, 1.0]).plan("input")
    # Of DCG there always are some.
    return tuple(plan.discounted(0, [1.0] * ranks, [*range(1, ranks + 1)]) or ())
