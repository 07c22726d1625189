"""Merges the answers of all tasks, in any order, without rounding."""

from __future__ import annotations

from rankscope._core import Summary
from rankscope.errors import EmptyError, FormatError, RankscopeError
from rankscope.inputs.numbers import no_judgments
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankscope.spark.tasks import Job, Note, Part


@record(frozen=True, slots=True, kw_only=True)
class Merged:
    """What all tasks answered together.

    Args:
        summary: The summary of all queries.
        slices: The summary of each slice.
        notes: The code and the count of each note on the judgments.
        sizes: The number of rows of each side.
    """

    summary: Summary
    slices: Mapping[tuple[str, ...], Summary]
    notes: tuple[Note, ...]
    sizes: Mapping[str, int]


def merge_parts(parts: Sequence[Part], job: Job) -> Merged:
    """Merge the answers of all tasks.

    Raises:
        EmptyError: There is nothing to evaluate.
        FormatError: No query is both judged and in the run.
    """
    counts = {side: sum(part.rows.get(side, 0) for part in parts) for side in job.rows}
    if "joined" in counts and counts["joined"] == 0:
        raise _empty("retrieved documents", "table")
    if "joined" not in counts and counts["judged"] == 0:
        raise _empty("judgments", "qrels")
    if "joined" not in counts and counts["retrieved"] == 0:
        raise _empty("retrieved documents", "run")
    if not any(part.has_grades for part in parts):
        raise no_judgments("table")
    summary = Summary.merge([part.summary for part in parts if part.summary is not None])
    judged, _, _, missing, *_ = summary.counts()
    if judged == missing:
        raise FormatError(
            "expected queries that are both judged and in the run, found none",
            hint="do both data frames belong to one collection?",
            code="no_common_queries",
        )
    slices: dict[tuple[str, ...], list[bytes]] = {}
    notes: dict[str, int] = {}
    for part in parts:
        for key, packed in part.slices.items():
            slices.setdefault(key, []).append(packed)
        for code, count, _ in part.notes:
            notes[code] = notes.get(code, 0) + count
    return Merged(
        summary=summary,
        slices={key: Summary.merge(held) for key, held in slices.items()},
        notes=tuple((code, count, 0) for code, count in notes.items()),
        sizes=counts,
    )


def refuse(errors: Sequence[RankscopeError]) -> None:
    """Raise the same error however rows are spread, without its row, which depends on that.

    Raises:
        RankscopeError: There is one.
    """
    for error in errors:
        error.line = None
    if errors:
        raise min(errors, key=str)


def _empty(what: str, name: str) -> EmptyError:
    return EmptyError(
        f"expected {what}, found none",
        hint="does the data frame have rows?",
        code="empty_input",
        file=name,
    )
