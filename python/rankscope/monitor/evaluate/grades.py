"""Grades of documents from labels: which labels count, and what they are worth."""

from __future__ import annotations

from rankscope import _core
from rankscope.data.attribution import Labels, grade_labels
from rankscope.monitor.events.event import LABEL_KINDS
from rankscope.monitor.events.limits import SECOND
from rankscope.monitor.store.tables.documents import offsets_of
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal, TypeAlias

    import numpy as np
    from numpy.typing import NDArray

    from rankscope.data.attribution import Attribution
    from rankscope.monitor.definition.definition import Definition
    from rankscope.monitor.events.event import Label, Ranking
    from rankscope.monitor.store.records import Chunk, LabelColumns

    Status: TypeAlias = Literal[
        "counts", "retracts", "corrected", "retracted", "late", "not yet", "not shown"
    ]

LABEL = LABEL_KINDS.index("label")
RETRACTION = LABEL_KINDS.index("retraction")


@record(frozen=True, slots=True, kw_only=True)
class Graded:
    """The grades of the documents of a chunk, and counts of its labels.

    Args:
        relevance: The grade of each document; NaN while it is pending.
        is_mature: Whether the attribution window of each ranking is closed: no label that comes
            later changes it.
        is_labelled: Whether a document of each ranking has a grade that somebody gave.
        pending: How many documents of each ranking have no grade yet.
        ages: Of each label that counts, how long after its ranking it was, in microseconds.
        aged: The place of its ranking.
        late: How many labels of each ranking came after its window was closed.
        unshown: How many labels of each ranking are of documents that it did not show.
    """

    relevance: NDArray[np.float64]
    is_mature: NDArray[np.bool_]
    is_labelled: NDArray[np.bool_]
    pending: NDArray[np.int64]
    ages: NDArray[np.int64]
    aged: NDArray[np.int64]
    late: NDArray[np.int64]
    unshown: NDArray[np.int64]


def grade_chunk(chunk: Chunk, definition: Definition, now: int | None = None) -> Graded:
    """Compute the grades of the documents of a chunk as of a moment.

    A label counts if it happened before the attribution window of its ranking closed, and not after
    `now`; one with a time before its ranking is that of a clock that is wrong, and counts. In the
    order of the store, a label adds to those before it, a correction takes their place, and a
    retraction takes them away; all of them take the place of a grade that was logged with the
    ranking. Labels are worth what `rankscope.attribute` says, and grades that were sent are
    combined with that likewise. A document without any is pending while the window is open, and has
    the grade of what is unlabelled from then on.

    Args:
        chunk: Rankings and their labels.
        definition: What labels are worth, and how long they count.
        now: Microseconds since 1970 in UTC. Where it is left out there is no window: all labels
            count, and nothing is pending, as in a set that was judged beforehand.
    """
    import numpy as np  # noqa: PLC0415 - loads with the first array

    items, labels = chunk.items, chunk.labels
    count = len(chunk.times)
    ages = labels.times - chunk.times[labels.rankings]
    found = _core.find_shown(labels.rankings, labels.doc_ids, items.offsets, items.doc_ids)
    rows = np.frombuffer(memoryview(found), dtype=np.int64)
    counts = rows >= 0
    is_mature = np.ones(count, dtype=np.bool_)
    is_late = np.zeros(len(ages), dtype=np.bool_)
    if now is not None:
        window = definition.window * SECOND
        is_mature = chunk.times + window <= now
        is_late = counts & (ages >= window)
        counts &= (ages < window) & (labels.times <= now)
    kept = np.flatnonzero(counts)
    # By document, and those of one document in the order in which they count.
    kept = kept[np.argsort(rows[kept], kind="stable")]
    effective = kept[_stand(rows[kept], labels.kinds[kept])]
    relevance = items.relevance.copy()
    relevance[rows[kept]] = np.nan
    documents, grades = _grade(rows[effective], labels, effective, definition.attribution)
    relevance[documents] = grades
    sizes = np.diff(items.offsets)
    is_labelled = _count_in(~np.isnan(relevance), items.offsets) > 0
    is_closed = np.repeat(is_mature, sizes) & np.isnan(relevance)
    relevance[is_closed] = definition.attribution.unlabelled
    return Graded(
        relevance=relevance,
        is_mature=is_mature,
        is_labelled=is_labelled,
        pending=_count_in(np.isnan(relevance), items.offsets),
        ages=ages[effective],
        aged=labels.rankings[effective],
        late=np.bincount(labels.rankings[is_late], minlength=count),
        unshown=np.bincount(labels.rankings[rows < 0], minlength=count),
    )


def _stand(rows: NDArray[np.int64], kinds: NDArray[np.int8]) -> NDArray[np.bool_]:
    """Whether each label still holds after corrections and retractions."""
    import numpy as np  # noqa: PLC0415 - loads with the first array

    resets = np.cumsum(kinds != LABEL)
    ends = np.searchsorted(rows, rows, side="right") - 1
    stands: NDArray[np.bool_] = (resets[ends] == resets) & (kinds != RETRACTION)
    return stands


def _grade(
    rows: NDArray[np.int64],
    labels: LabelColumns,
    chosen: NDArray[np.int64],
    attribution: Attribution,
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the documents that have labels, and their grades."""
    import numpy as np  # noqa: PLC0415 - loads with the first array

    documents, of_document = np.unique(rows, return_inverse=True)
    values, codes = labels.values[chosen], labels.codes[chosen]
    is_value = ~np.isnan(values)
    lengths = np.array([len(names) for names in labels.names], dtype=np.int64)
    starts = offsets_of(lengths)[:-1]
    said = lengths[codes]
    within = np.arange(said.sum()) - np.repeat(offsets_of(said)[:-1], said)
    counts = np.zeros(len(documents), dtype=np.int64)
    np.add.at(counts, of_document, said)
    grades = grade_labels(
        Labels(
            [name for names in labels.names for name in names],
            np.repeat(starts[codes], said) + within,
            counts,
        ),
        attribution,
    )
    has_value = np.zeros(len(documents), dtype=np.bool_)
    has_value[of_document[is_value]] = True
    nothing = 0.0 if attribution.combine == "sum" else -np.inf
    grades[has_value & (counts == 0)] = nothing
    combine = np.add if attribution.combine == "sum" else np.maximum
    combine.at(grades, of_document[is_value], values[is_value])
    return documents, grades


def _count_in(marks: NDArray[np.bool_], offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """Count the rows of each ranking that are marked."""
    import numpy as np  # noqa: PLC0415 - loads with the first array

    before = offsets_of(marks.astype(np.int64))
    counts: NDArray[np.int64] = before[offsets[1:]] - before[offsets[:-1]]
    return counts


REASONS = {
    "counts": "counted",
    "retracts": "retracts earlier labels",
    "corrected": "replaced by a later correction",
    "retracted": "retracted later",
    "late": "after the attribution window",
    "not yet": "in the future",
    "not shown": "document was not shown",
}
"""A description of each status."""


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
        """Whether the label is part of the grade of its document."""
        return self.status == "counts"

    @property
    def is_heard(self) -> bool:
        """Whether the label happened in time and its document was shown."""
        return self.status in {"counts", "retracts", "corrected", "retracted"}


def judge_labels(
    ranking: Ranking, labels: Sequence[Label], definition: Definition, now: int | None
) -> tuple[JudgedLabel, ...]:
    """Return whether each label of a ranking counts, or why not.

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
