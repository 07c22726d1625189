"""An evaluation as text: a row for each measure, and the lines below."""

from __future__ import annotations

from rankscope.output.intervals import describe_intervals
from rankscope.output.text import format_value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.evaluation.evaluation import Evaluation


def measure_rows(evaluation: Evaluation) -> list[tuple[str, ...]]:
    """Return the name, mean, interval (if any) and number of queries of each measure."""
    total = evaluation.counts.queries
    intervals = evaluation.intervals
    return [
        (
            name,
            format_value(evaluation[name]),
            *([_format_interval(intervals[name])] if intervals else []),
            f"{count} of {total}",
        )
        for name, count in evaluation.denominators.items()
    ]


def column_names(evaluation: Evaluation) -> tuple[str, ...]:
    """Return the names of the columns of `measure_rows`."""
    return ("measure", "value", *(["interval"] if evaluation.intervals else []), "queries")


def _format_interval(ends: tuple[float, float]) -> str:
    if ends[0] != ends[0]:
        return "none"
    return f"{format_value(ends[0])} to {format_value(ends[1])}"


def remarks(evaluation: Evaluation) -> list[str]:
    """Return the lines with the convention, the policy, the intervals and the notes."""
    row = evaluation.convention
    return [
        *([f"convention: {row.address} ({row.verified})"] if row else []),
        f"policy: {evaluation.policy}",
        *describe_intervals(evaluation.estimates),
        *(f"note: {note}" for note in evaluation.notes),
    ]
