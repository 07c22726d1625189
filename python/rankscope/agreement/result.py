"""How far two runs, or two orders of systems, agree."""

from __future__ import annotations

from rankscope.errors import UsageError
from rankscope.output.exports import Tabular
from rankscope.output.printed import Printed
from rankscope.output.table import Table
from rankscope.output.text import format_value, show
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from rankscope.output.exports import ColumnValues


@record(frozen=True, slots=True, kw_only=True)
class RunAgreement(Printed, Tabular):
    """How far two runs agree, on average and per query.

    Args:
        names: The names of the two runs.
        means: By measure, the mean over the queries for which it is defined; NaN if there is none.
        defined: By measure, the number of these queries.
        queries: The number of queries with documents in both runs. Only these are compared.
        only_a: The number of queries with documents in the first run alone.
        only_b: The number of queries with documents in the second run alone.
        same_documents: The number of queries with the same documents in both runs.
        p: The persistence of rank-biased overlap.
        ties: What a tie means: `a`, `b` or `w`.
        table: A table with one row per query: `query_id`, `common` (the number of documents in both
            lists), and the measures. NaN means undefined.

    Examples:
        >>> import rankscope as rs
        >>> one = {"q1": {"a": 3.0, "b": 2.0, "c": 1.0}, "q2": {"x": 1.0}}
        >>> other = {"q1": {"b": 3.0, "a": 2.0, "c": 1.0}, "q3": {"x": 1.0}}
        >>> found = rs.agreement(one, other, ["RBO", "tau", "overlap@1"])
        >>> round(found["RBO"], 4), round(found["tau"], 4), found["overlap@1"]
        (0.9, 0.3333, 0.0)
        >>> found.queries, found.only_a, found.only_b
        (1, 1, 1)
    """

    names: tuple[str, str]
    means: Mapping[str, float]
    defined: Mapping[str, int]
    queries: int
    only_a: int
    only_b: int
    same_documents: int
    p: float
    ties: str
    table: Table

    def per_query(self, measure: str) -> NDArray[np.float64]:
        """Return the value of each query in both runs, NaN where it is undefined.

        Raises:
            UsageError: The measure was not computed.
        """
        self[measure]
        return self.table.array(measure)

    def to_dict(self) -> dict[str, object]:
        """Return everything as a dict, with the values of each query."""
        return {
            "runs": list(self.names),
            "p": self.p,
            "ties": self.ties,
            "means": dict(self.means),
            "defined": dict(self.defined),
            "queries": self.queries,
            "only_a": self.only_a,
            "only_b": self.only_b,
            "same_documents": self.same_documents,
            "per_query": self.table.to_dict(),
        }

    def _tabulate(self) -> Mapping[str, ColumnValues]:
        return self.table.export()

    def __getitem__(self, measure: str) -> float:
        try:
            return self.means[measure]
        except KeyError:
            raise UsageError(
                f"the measure {measure!r} was not computed",
                hint=f"the measures are {', '.join(self.means)}",
                code="not_evaluated",
            ) from None

    def _parts(self) -> list[str | Table]:
        columns: dict[str, list[str] | list[float] | list[int]] = {
            "measure": [*self.means],
            "agreement": [*self.means.values()],
            "queries": [self.defined[name] for name in self.means],
        }
        settings = f"p={self.p:g}, ties={self.ties}"
        return [
            Table(columns),
            f"{show(self.names[0])} and {show(self.names[1])}, {settings}",
            *self._describe_queries(),
        ]

    __repr__ = Printed.__str__

    def _describe_queries(self) -> list[str]:
        lines = []
        has_tau = any(name.startswith("tau") for name in self.means)
        if has_tau and self.same_documents < self.queries:
            same = f"{self.same_documents} of {self.queries}"
            lines.append(f"queries with the same documents in both runs: {same}")
            lines.append("tau and tau_ap compare the documents that are in both")
        lines += [
            f"queries in {show(name)} only, not compared: {count}"
            for name, count in zip(self.names, (self.only_a, self.only_b), strict=True)
            if count
        ]
        return lines


@record(frozen=True, slots=True, kw_only=True)
class OrderAgreement(Printed):
    """How far two orders of the same systems agree.

    Args:
        systems: The number of systems.
        tau: Kendall's tau.
        tau_ap: The form of tau that gives swaps at the top of the second order more weight.
        rbo: Rank-biased overlap.
        p: The persistence of rank-biased overlap.
        ties: What a tie means: `a`, `b` or `w`.
        swapped: The pairs of systems that the two orders rank differently. The first of a pair is
            better in the first order.
    """

    systems: int
    tau: float
    tau_ap: float
    rbo: float
    p: float
    ties: str
    swapped: tuple[tuple[str, str], ...]

    def _parts(self) -> list[str]:
        lines = [
            f"tau     {format_value(self.tau)}",
            f"tau_ap  {format_value(self.tau_ap)}",
            f"RBO     {format_value(self.rbo)}  (p={self.p:g}, ties={self.ties})",
            f"{len(self.swapped)} of {self.systems * (self.systems - 1) // 2} pairs are swapped",
        ]
        lines += [f"  {show(better)} and {show(worse)}" for better, worse in self.swapped[:10]]
        if len(self.swapped) > 10:
            lines.append(f"  and {len(self.swapped) - 10} more")
        return lines
