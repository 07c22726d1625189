"""Means over queries that several judges graded, with intervals that include the judges."""

from __future__ import annotations

from rankscope.evaluation.evaluation import find_mean
from rankscope.output.exports import Tabular
from rankscope.output.printed import Printed
from rankscope.output.table import Table
from rankscope.output.text import format_share, format_value, show
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Literal

    from rankscope.measures import Measure
    from rankscope.output.diagnostics import Diagnostic
    from rankscope.output.exports import ColumnValues
    from rankscope.settings.policy import Policy


@record(frozen=True, slots=True, kw_only=True)
class JudgedMean:
    """The mean of a measure, or a difference of two means, by several judges.

    Args:
        measure: The measure.
        value: The mean over queries, by the combined grades of all judges.
        lower: The lower end of the interval for new queries and as many new judges.
        upper: The upper end of this interval.
        lower_queries: The lower end of the interval for new queries and the same judges.
        upper_queries: The upper end of this interval.
        judge_share: The share of the variance that comes from the choice of judges.
        queries: The number of queries.
    """

    measure: Measure
    value: float
    lower: float
    upper: float
    lower_queries: float
    upper_queries: float
    judge_share: float
    queries: int


FIELDS: tuple[str, ...] = JudgedMean.__match_args__[1:]
"""All but the measure."""


@record(frozen=True, slots=True, kw_only=True)
class JudgedEvaluation(Printed, Tabular):
    """Means with intervals that include the judges; as a table, one row per measure.

    Args:
        means: The mean of each measure.
        judges: The names of the judges.
        how: How grades were combined.
        level: The confidence level of the intervals.
        policy: The policy.
        is_difference: Whether values are differences: those of the run minus those of the baseline.
        alone: The number of documents with one grade. How much judges would disagree on them is
            unknown, so they make the intervals too narrow.
        notes: Notes about the grades.
    """

    means: tuple[JudgedMean, ...]
    judges: tuple[str, ...]
    how: Literal["mean", "median", "majority"]
    level: float
    policy: Policy
    is_difference: bool
    alone: int
    notes: tuple[Diagnostic, ...] = ()

    def __getitem__(self, measure: Measure | str) -> JudgedMean:
        return find_mean(self.means, measure)

    def to_dict(self) -> dict[str, object]:
        """Return the result as dicts and lists."""
        return {
            "measures": {
                mean.measure.name: {name: getattr(mean, name) for name in FIELDS}
                for mean in self.means
            },
            "judges": list(self.judges),
            "how": self.how,
            "level": self.level,
            "is_difference": self.is_difference,
            "alone": self.alone,
            "policy": self.policy.to_dict(),
        }

    def _tabulate(self) -> Mapping[str, ColumnValues]:
        return {
            "measure": [mean.measure.name for mean in self.means],
            **{name: [getattr(mean, name) for mean in self.means] for name in FIELDS},
        }

    def _parts(self) -> list[str | Table]:
        def join(lower: float, upper: float) -> str:
            return f"{format_value(lower)} to {format_value(upper)}"

        what = "differences" if self.is_difference else "means"
        table = Table(
            {
                "measure": [mean.measure.name for mean in self.means],
                "value": [mean.value for mean in self.means],
                "new queries, same judges": [
                    join(mean.lower_queries, mean.upper_queries) for mean in self.means
                ],
                "new queries and judges": [join(mean.lower, mean.upper) for mean in self.means],
                "due to judges": [format_share(mean.judge_share) for mean in self.means],
            },
            numbers=("new queries, same judges", "new queries and judges", "due to judges"),
        )
        judged = f"{self.means[0].queries} queries, by the {self.how} of {len(self.judges)} judges"
        parts: list[str | Table] = [
            f"{what} over {judged}, with {100 * self.level:g}% intervals",
            "",
            table,
            "",
        ]
        if self.alone:
            parts.append(f"documents with one grade, of unknown disagreement: {self.alone}")
        notes = (f"note: {show(str(note))}" for note in self.notes)
        return [*parts, f"policy: {self.policy}", *notes]

    __repr__ = Printed.__str__
