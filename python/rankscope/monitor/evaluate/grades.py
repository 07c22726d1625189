"""Grades of documents from labels: which labels count, and what they are worth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rankscope import _core
from rankscope.monitor.arrays import Texts
from rankscope.monitor.definition.definition import Definition
from rankscope.monitor.events.event import Label, Ranking
from rankscope.monitor.events.limits import SECOND
from rankscope.monitor.store.records import Chunk, ItemColumns

Status: TypeAlias = Literal[
    "counts",
    "worth nothing",
    "retracts",
    "corrected",
    "retracted",
    "late",
    "not yet",
    "not shown",
]
ItemTuple: TypeAlias = tuple[
    NDArray[np.int64], Texts, NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]
]
LabelTuple: TypeAlias = tuple[
    NDArray[np.int64],
    Texts,
    NDArray[np.int64],
    NDArray[np.int8],
    list[list[int]],
    NDArray[np.int64],
    NDArray[np.float64],
]
RuleTuple: TypeAlias = tuple[list[float], bool, bool, float, tuple[int, int] | None]


@dataclass(frozen=True, slots=True, kw_only=True)
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
    """
    columns, _ = _core.grade_items(*list_columns(chunk, definition, now), None)
    return read_grades(columns)


def list_columns(
    chunk: Chunk, definition: Definition, now: int | None
) -> tuple[NDArray[np.int64], ItemTuple, LabelTuple, RuleTuple]:
    """Return the columns of a chunk, and what its labels are worth, as the core takes them."""
    labels, attribution = chunk.labels, definition.attribution
    # Names that are no positive class have the last weight, which is 0.
    places = {name: place for place, name in enumerate(attribution.weights)}
    names = [[places.get(name, len(places)) for name in each] for each in labels.names]
    told = (
        labels.rankings,
        labels.doc_ids,
        labels.times,
        labels.kinds,
        names,
        labels.codes,
        labels.values,
    )
    rule = (
        [*attribution.weights.values(), 0.0],
        attribution.combine == "sum",
        attribution.repeats == "once",
        attribution.unlabelled,
        None if now is None else (definition.window * SECOND, now),
    )
    return chunk.times, list_items(chunk.items, chunk.items.relevance), told, rule


def list_items(items: ItemColumns, relevance: NDArray[np.float64]) -> ItemTuple:
    """Return documents with some grades as the core takes them."""
    return items.offsets, items.doc_ids, items.ranks, items.scores, relevance


def read_grades(columns: Sequence[_core.Column]) -> Graded:
    """Return the grades of a chunk from the columns of the core."""
    relevance, is_mature, is_labelled, *counts = columns
    pending, ages, aged, late, unshown = map(read_integers, counts)
    return Graded(
        relevance=read_numbers(relevance),
        is_mature=read_marks(is_mature),
        is_labelled=read_marks(is_labelled),
        pending=pending,
        ages=ages,
        aged=aged,
        late=late,
        unshown=unshown,
    )


def read_numbers(column: _core.Column) -> NDArray[np.float64]:
    """Return a column of the core as doubles, without copying it."""
    return np.frombuffer(memoryview(column), np.float64)


def read_integers(column: _core.Column) -> NDArray[np.int64]:
    """Return a column of the core as integers, without copying it."""
    return np.frombuffer(memoryview(column), np.int64)


def read_marks(column: _core.Column) -> NDArray[np.bool_]:
    """Return a column of the core as truth values, without copying it."""
    return np.frombuffer(memoryview(column), np.bool_)


REASONS = {
    "counts": "counted",
    "worth nothing": "counted as 0: not a positive label",
    "retracts": "retracts earlier labels",
    "corrected": "replaced by a later correction",
    "retracted": "retracted later",
    "late": "after the attribution window",
    "not yet": "in the future",
    "not shown": "document was not shown",
}
"""A description of each status."""


@dataclass(frozen=True, slots=True)
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
        return self.status in {"counts", "worth nothing"}

    @property
    def is_heard(self) -> bool:
        """Whether the label happened in time and its document was shown."""
        return self.counts or self.status in {"retracts", "corrected", "retracted"}


def judge_labels(
    ranking: Ranking, labels: Sequence[Label], definition: Definition, now: int | None
) -> tuple[JudgedLabel, ...]:
    """Return whether each label of a ranking counts, or why not."""
    shown = set(ranking.items.doc_ids)
    worth = definition.attribution.weights.keys()
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
        if status == "counts" and label.value is None and worth.isdisjoint(label.labels):
            status = "worth nothing"
        found.append(JudgedLabel(label, status))
    return tuple(reversed(found))
