"""The data of a scatter plot of the values of two runs, query by query."""

from __future__ import annotations

from math import fsum, isclose, isfinite, isnan

from rankscope.errors import MeasureError, UsageError
from rankscope.measures.direction import SIGNS
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankscope.evaluation.evaluation import Evaluation
    from rankscope.measures import Measure
    from rankscope.measures.direction import Direction

CLOSE = 1e-9
"""Values that differ by at most this, absolutely or relatively, are equal except for rounding."""


@record(frozen=True, slots=True)
class QueryScatter:
    """The values of two runs for the queries for which both have one.

    Args:
        measure: The measure.
        baseline: The name of the baseline.
        run: The name of the run.
        query_ids: The queries.
        baseline_values: The value of the baseline for each query.
        run_values: The value of the run for each query.
        low: The lowest value that the measure can have, or that a query has if there is no bound.
        high: The highest.
        direction: Which values are better.
    """

    measure: str
    baseline: str
    run: str
    query_ids: tuple[str, ...]
    baseline_values: tuple[float, ...]
    run_values: tuple[float, ...]
    low: float
    high: float
    direction: Direction = "higher"

    @classmethod
    def of(
        cls, evaluations: Mapping[str, Evaluation], measure: Measure | str | None = None
    ) -> QueryScatter:
        """Return the data from the results of two runs.

        Args:
            evaluations: The result of `evaluate` for two runs, the baseline first.
            measure: The measure (default: the first of the first result).

        Raises:
            UsageError: There aren't two results, or they are for different queries.
            MeasureError: A result doesn't have the measure.

        Examples:
            >>> import rankscope as rs
            >>> qrels = {"q1": {"a": 1}, "q2": {"a": 1}}
            >>> old = rs.evaluate(qrels, {"q1": {"a": 2.0}, "q2": {"x": 2.0, "a": 1.0}}, "RR")
            >>> new = rs.evaluate(qrels, {"q1": {"a": 2.0}, "q2": {"a": 2.0}}, "RR")
            >>> found = QueryScatter.of({"old": old, "new": new})
            >>> found.baseline_values, found.run_values, found.signs
            ((1.0, 0.5), (1.0, 1.0), (0, 1))
        """
        if len(evaluations) != 2:
            raise UsageError(
                f"expected the results of two runs, found {len(evaluations)}",
                hint="write {'old': old_result, 'new': new_result}, the baseline first",
                code="bad_parameter",
            )
        (one, baseline), (other, run) = evaluations.items()
        if baseline.query_texts != run.query_texts:
            raise UsageError(
                f"{one} and {other} were evaluated on different queries",
                hint="evaluate both with the same judgments",
                code="not_alike",
            )
        asked = baseline.measures[0].name if measure is None else str(measure)
        found = {each.name: each for each in baseline.measures}.get(asked)
        if found is None or asked not in run:
            raise MeasureError(
                f"not both results have the measure {asked}",
                hint=f"choose one of: {', '.join(baseline)}",
                code="not_evaluated",
            )
        rows = [
            row
            for row in zip(
                baseline.query_texts,
                baseline.per_query_list(found),
                run.per_query_list(found),
                strict=True,
            )
            if not isnan(row[1] + row[2])
        ]
        low, high = found.row.value_range
        values = [value for _, *pair in rows for value in pair]
        return cls(
            asked,
            one,
            other,
            tuple(query for query, _, _ in rows),
            tuple(value for _, value, _ in rows),
            tuple(value for _, _, value in rows),
            low if isfinite(low) else min(values, default=0.0),
            high if isfinite(high) else max(values, default=1.0),
            found.better,
        )

    @property
    def signs(self) -> tuple[int, ...]:
        """For each query, 1 if the run is better, -1 if the baseline is, and 0 if they tie.

        If neither higher nor lower values are better, the higher one counts as better.
        """
        sign = SIGNS[self.direction] or 1
        return tuple(
            0
            if isclose(ours, theirs, rel_tol=CLOSE, abs_tol=CLOSE)
            else sign * (1 if ours > theirs else -1)
            for theirs, ours in zip(self.baseline_values, self.run_values, strict=True)
        )

    @property
    def means(self) -> tuple[float, float]:
        """The mean of the baseline and that of the run; 0 without queries."""
        count = max(len(self.query_ids), 1)
        return fsum(self.baseline_values) / count, fsum(self.run_values) / count
