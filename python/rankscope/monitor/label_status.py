"""Which labels of a ranking count, and why the others do not."""

from __future__ import annotations

from rankscope.monitor.limits import SECOND
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal, TypeAlias

    from rankscope.monitor.definition import Definition
    from rankscope.monitor.events import Label, Ranking

    Status: TypeAlias = Literal[
        "counts", "retracts", "corrected", "retracted", "late", "not yet", "not shown"
    ]

REASONS = {
    "counts": "counts",
    "retracts": "takes away what was said before",
    "corrected": "replaced by a later correction",
    "retracted": "taken away by a later retraction",
    "late": "came after the attribution window was closed",
    "not yet": "had not happened yet",
    "not shown": "of a document that was not shown",
}
"""What a status means, in words."""


@record(frozen=True, slots=True)
class JudgedLabel:
    """A label, and whether it counts.

    Args:
        label: The label.
        status: Whether it counts, or why not.
    """

    label: Label
    status: Status

    @property
    def counts(self) -> bool:
        """Whether it is part of the grade of its document."""
        return self.status == "counts"

    @property
    def is_heard(self) -> bool:
        """Whether it came in time, of a document that was shown."""
        return self.status in {"counts", "retracts", "corrected", "retracted"}


def judge_labels(
    ranking: Ranking, labels: Sequence[Label], definition: Definition, now: int | None
) -> tuple[JudgedLabel, ...]:
    """Say of each label of a ranking whether it counts.

    Args:
        ranking: The ranking.
        labels: Its labels, in the order in which they count.
        definition: How long labels count.
        now: The moment; without one, all labels count, as in `grade_chunk`.
    """
    shown = set(ranking.items.doc_ids)
    closes = ranking.time + definition.window * SECOND
    found: list[JudgedLabel] = []
    # What a later label does to those before it is known from the end.
    ends: dict[str, Status] = {}
    for label in reversed(labels):
        status: Status = ends.get(label.doc_id, "counts")
        if label.doc_id not in shown:
            status = "not shown"
        elif now is not None and label.time >= closes:
            status = "late"
        elif now is not None and label.time > now:
            status = "not yet"
        elif label.kind == "correction":
            ends[label.doc_id] = "corrected"
        elif label.kind == "retraction":
            status = "retracts" if status == "counts" else status
            ends[label.doc_id] = "retracted"
        found.append(JudgedLabel(label, status))
    return tuple(reversed(found))
