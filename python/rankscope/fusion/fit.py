"""The weights of runs that were fitted to judgments."""

from __future__ import annotations

from rankscope.measures import parse
from rankscope.measures.direction import find_gain
from rankscope.output.printed import Printed
from rankscope.output.table import Table, name_rows
from rankscope.output.text import format_value, show
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ROUNDING = 1e-12
"""A difference this small, relative to the value, is due to rounding."""


@record(frozen=True, slots=True, kw_only=True)
class FusionFit(Printed):
    """The weights of runs with which their fusion has the best value of a measure.

    Args:
        method: The method of fusion.
        measure: The measure.
        weights: The weight of each run.
        value: The mean of the measure with these weights, on the queries of the fit.
        cross_validated: The mean with weights that were fitted without the query: what to expect on
            other queries. `None` with a single query.
        folds: The number of parts into which cross-validation splits the queries.
        best_run: The run that has the best mean alone.
        best_run_value: Its mean.
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
        combsum, 11 combinations of weights tried
        AP: 0.8333 on the queries of the fit; best single run 0.5833 (words)
        note: a fit on one query can't be cross-validated
    """

    method: str
    measure: str
    weights: Mapping[str, float]
    value: float
    cross_validated: float | None
    folds: int
    best_run: str
    best_run_value: float
    tried: Table

    @property
    def notes(self) -> tuple[str, ...]:
        """What speaks against using the weights."""
        if self.cross_validated is None:
            return ("a fit on one query can't be cross-validated",)
        gain = find_gain(self.cross_validated - self.best_run_value, parse(self.measure).better)
        if gain > ROUNDING * abs(self.best_run_value):
            return ()
        return (f"cross-validated, the fused run isn't better than {show(self.best_run)} alone",)

    def to_dict(self) -> dict[str, object]:
        """Return the result as dicts and lists."""
        return {
            "method": self.method,
            "measure": self.measure,
            "weights": dict(self.weights),
            "value": self.value,
            "cross_validated": self.cross_validated,
            "folds": self.folds,
            "best_run": self.best_run,
            "best_run_value": self.best_run_value,
            "notes": [*self.notes],
            "tried": name_rows(self.tried),
        }

    def describe(self) -> str:
        """Return the values in one line."""
        parts = [f"{self.measure}: {format_value(self.value)} on the queries of the fit"]
        if self.cross_validated is not None:
            value = format_value(self.cross_validated)
            parts.append(f"{value} cross-validated in {self.folds} folds")
        best = format_value(self.best_run_value)
        return "; ".join([*parts, f"best single run {best} ({show(self.best_run)})"])

    def _parts(self) -> Sequence[str | Table]:
        table = Table({"run": [*self.weights], "weight": [*self.weights.values()]})
        tried = f"{self.method}, {len(self.tried):,} combinations of weights tried"
        return [table, tried, self.describe(), *(f"note: {note}" for note in self.notes)]

    __repr__ = Printed.__str__
