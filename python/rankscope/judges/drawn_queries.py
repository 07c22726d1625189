"""Queries that were drawn for people to judge."""

from __future__ import annotations

from rankscope.output.exports import Tabular
from rankscope.output.printed import Printed
from rankscope.output.table import Table
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankscope.measures import Measure
    from rankscope.output.exports import ColumnValues
    from rankscope.settings.policy import Policy


@record(frozen=True, slots=True, kw_only=True)
class DrawnQueries(Printed, Tabular):
    """Queries drawn at random for people to judge; as a table, one row per query.

    Args:
        measure: The measure by whose values of the model they are spread.
        queries: The queries, in the order of their ids as text.
        by_model: The value of each by the model: the run's, or its difference from the baseline's.
        probability: The probability with which each query that counts was drawn.
        changed: The number of queries that count: those in which run and baseline differ.
        total: The number of all queries, which the model judged.
        policy: The policy.
    """

    measure: Measure
    queries: tuple[str, ...]
    by_model: tuple[float, ...]
    probability: float
    changed: int
    total: int
    policy: Policy

    @property
    def probabilities(self) -> dict[str, float]:
        """The probability of each drawn query, which `evaluate_with_model_judge` takes."""
        return dict.fromkeys(self.queries, self.probability)

    def to_dict(self) -> dict[str, object]:
        """Return the result as dicts and lists."""
        return {
            "measure": self.measure.name,
            "queries": dict(zip(self.queries, self.by_model, strict=True)),
            "probability": self.probability,
            "changed": self.changed,
            "total": self.total,
            "policy": self.policy.to_dict(),
        }

    def _tabulate(self) -> Mapping[str, ColumnValues]:
        return {
            "query_id": self.queries,
            "by_model": self.by_model,
            "probability": [self.probability] * len(self.queries),
        }

    def _parts(self) -> list[str | Table]:
        count = len(self.queries)
        among = f"the {self.changed} of {self.total} in which the runs differ"
        return [
            f"{count} queries drawn for people from "
            + (among if self.changed < self.total else f"all {self.total}"),
            "",
            Table(
                {"query": list(self.queries), f"{self.measure} by the model": list(self.by_model)}
            ),
            "",
            f"probability of each: {self.probability:.4g}",
            f"policy: {self.policy}",
        ]

    __repr__ = Printed.__str__
