"""The weights of runs that were fitted to judgments."""

from __future__ import annotations

from rankscope.records import record
from rankscope.results.printed import Printed
from rankscope.results.table import Table
from rankscope.results.text import format_value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@record(frozen=True, slots=True, kw_only=True)
class FusionFit(Printed):
    """The weights of runs with which their fusion has the best value of a measure.

    Args:
        method: The method of fusion.
        measure: The measure.
        weights: The weight of each run.
        value: The mean of the measure with these weights, on the queries of the fit.
        tried: A table of all weights that were tried, with the mean of each.

    Examples:
        >>> import rankscope as rs
        >>> qrels = {"q1": {"d2": 1, "d3": 1}}
        >>> words = {"q1": {"d1": 3.0, "d2": 2.9, "d3": 1.0}}
        >>> vectors = {"q1": {"d3": 0.9, "d1": 0.2}}
        >>> rs.fit_fusion(qrels, {"words": words, "vectors": vectors}, "AP")
        run      weight
        words    0.5000
        vectors  0.5000
        AP is 0.8333 with combsum, 11 combinations of weights tried
    """

    method: str
    measure: str
    weights: Mapping[str, float]
    value: float
    tried: Table

    def _parts(self) -> Sequence[str | Table]:
        table = Table({"run": [*self.weights], "weight": [*self.weights.values()]})
        tried = f"{len(self.tried):,} combinations of weights tried"
        value = f"{self.measure} is {format_value(self.value)} with {self.method}"
        return [table, f"{value}, {tried}"]

    __repr__ = Printed.__str__
