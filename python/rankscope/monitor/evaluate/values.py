"""Values of rankings, computed by one call of the engine for each chunk."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from rankscope import _core
from rankscope._core import EMPTY_VALUES, Column, Plan
from rankscope._evaluate.settings import Settings
from rankscope._explain.ledger import Parts, take_settings
from rankscope._inputs.arrays import Groups
from rankscope._settings import count_threads
from rankscope.errors import MeasureError
from rankscope.measures import IDCG, Measure, nDCG
from rankscope.monitor.arrays import find_texts
from rankscope.monitor.definition.definition import Definition
from rankscope.monitor.evaluate.grades import (
    Graded,
    list_columns,
    list_items,
    read_grades,
    read_integers,
    read_marks,
    read_numbers,
)
from rankscope.monitor.store.ahead import map_ahead
from rankscope.monitor.store.chunks import choose, offsets_of
from rankscope.monitor.store.records import Chunk, ItemColumns

PARTS = ("truncation", "ordering", "undefined", "ideal")
"""The columns of an nDCG measure besides its value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureValues:
    """The values of a measure by ranking; NaN where the mean skips the ranking.

    What a ranking could have shown and did not is not in its log: the ideal is the best order of
    what was shown, and retrieval loss is not observable. Value, truncation, ordering and undefined
    add up to 1.

    Args:
        measure: The measure.
        value: Its values.
        parts: For nDCG, by each of `PARTS`: what is lost below the cutoff, what by the order above
            it, what where there is no relevant document, and IDCG.
    """

    measure: Measure
    value: NDArray[np.float64]
    parts: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)

    def columns(self) -> Iterator[tuple[str, NDArray[np.float64]]]:
        """Yield the columns by name, such as `nDCG@10` and `nDCG@10 ordering`."""
        yield self.measure.name, self.value
        for part, column in self.parts.items():
            yield f"{self.measure.name} {part}", column


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkValues:
    """The values of the rankings of a chunk, and counts of what they were computed from.

    Args:
        measures: The values of each measure.
        documents: How many documents were shown.
        relevant: How many of them have a grade above 0.
        unjudged: How many of them have no grade.
        is_empty: Whether there is no relevant document.
        is_missing: Whether no document was shown at all.
        is_tied: Whether two documents next to each other have one score.
        has_gaps: Whether the ranks that were logged are not 1, 2, 3, …
        is_refused: Whether a grade is larger than the definition allows; there are no values then.
    """

    measures: tuple[MeasureValues, ...]
    documents: NDArray[np.int64]
    relevant: NDArray[np.int64]
    unjudged: NDArray[np.int64]
    is_empty: NDArray[np.bool_]
    is_missing: NDArray[np.bool_]
    is_tied: NDArray[np.bool_]
    has_gaps: NDArray[np.bool_]
    is_refused: NDArray[np.bool_]

    def columns(self) -> dict[str, NDArray[np.float64]]:
        """Return the columns of all measures by name."""
        return dict(column for measured in self.measures for column in measured.columns())


def name_columns(definition: Definition) -> tuple[str, ...]:
    """Name the columns that values of a definition have, in their order."""
    return tuple(
        name
        for measure in definition.measures
        for name in (
            measure.name,
            *(f"{measure.name} {part}" for part in PARTS if _parts(measure, definition)),
        )
    )


@dataclass(frozen=True, slots=True)
class ChunkPlan:
    """A definition, ready for the core.

    Args:
        definition: The definition.
        columns: By measure, the positions of its value, and of what nDCG has beside it.
        core: All columns.
    """

    definition: Definition
    columns: dict[Measure, tuple[int, ...]]
    core: Plan

    @classmethod
    def of(cls, definition: Definition) -> ChunkPlan:
        """Return the plan of a definition."""
        asked = {
            measure: (measure, *_parts(measure, definition)) for measure in definition.measures
        }
        settings = Settings(
            measures=[one for all_of_it in asked.values() for one in all_of_it],
            policy=replace(definition.policy, empty="skip"),
        )
        request = settings.request(ties="input")
        places = {one: place for place, one in enumerate(request.measures)}
        columns = {
            measure: tuple(map(places.__getitem__, all_of_it))
            for measure, all_of_it in asked.items()
        }
        return cls(definition, columns, request.plan("input"))

    @property
    def choices(self) -> tuple[Plan, float, int]:
        """The plan, the largest grade and the largest cutoff, as the core takes them."""
        return self.core, self.definition.max_grade, self.definition.depth

    def read(
        self,
        chunk: Chunk,
        graded: Graded,
        found: tuple[list[Column], tuple[Column, Column, Column, Column]],
    ) -> ChunkValues:
        """Return the values of a chunk from the columns of the core."""
        columns = [*map(read_numbers, found[0])]
        is_tied, has_gaps, is_refused = map(read_marks, found[1][1:])
        relevant = read_integers(found[1][0])
        documents = np.diff(chunk.items.offsets)
        fill = EMPTY_VALUES.get(self.definition.policy.empty)
        return ChunkValues(
            measures=tuple(
                _fill(measure, tuple(columns[place] for place in places), fill, is_refused)
                for measure, places in self.columns.items()
            ),
            documents=documents,
            relevant=relevant,
            unjudged=graded.pending,
            is_empty=(relevant == 0) & ~is_refused,
            is_missing=documents == 0,
            is_tied=is_tied,
            has_gaps=has_gaps,
            is_refused=is_refused,
        )


def evaluate_chunk(chunk: Chunk, graded: Graded, definition: Definition) -> ChunkValues:
    """Evaluate the rankings of a chunk by the grades that are known of them.

    The rank of a document is the one that was logged: where ranks were not logged, such as those of
    advertisements or of the page before, there are places without gain.
    """
    plan = ChunkPlan.of(definition)
    items = list_items(chunk.items, graded.relevance)
    return plan.read(chunk, graded, _core.evaluate_items(items, plan.choices))


def _parts(measure: Measure, definition: Definition) -> tuple[Measure, ...]:
    """List what is measured beside nDCG: its losses that can be seen, and its ideal.

    Between the worst order and the best, a value is no share of the ideal, and has no such losses.
    """
    if measure.row != nDCG.row or definition.policy.negative == "minmax":
        return ()
    try:
        _, truncation, ordering = Parts.of(measure).losses
    except MeasureError:
        return ()
    return truncation, ordering, take_settings(IDCG.row, measure)


def _fill(
    measure: Measure,
    found: tuple[NDArray[np.float64], ...],
    fill: float | None,
    is_refused: NDArray[np.bool_],
) -> MeasureValues:
    """Return the values of rankings for which a measure is undefined."""
    value, *parts = found
    is_undefined = np.isnan(value) & ~is_refused
    filled = value if fill is None else np.where(is_undefined, fill, value)
    if not parts:
        return MeasureValues(measure=measure, value=filled)
    truncation, ordering, ideal = parts
    lost = np.where(is_refused, np.nan, 0.0)
    if fill is None:
        undefined = np.where(is_undefined, np.nan, lost)
    else:
        truncation, ordering = (np.where(is_undefined, 0.0, one) for one in (truncation, ordering))
        undefined = np.where(is_undefined, 1.0 - fill, lost)
    named = dict(zip(PARTS, (truncation, ordering, undefined, ideal), strict=True))
    return MeasureValues(measure=measure, value=filled, parts=named)


@dataclass(frozen=True, slots=True)
class PlacedItems:
    """Rankings with a place for each rank, be there a document or not.

    Args:
        groups: The places, those without a document unjudged.
        places: The place of each document, from 1: its rank as logged, down to a depth.
        has_gaps: Whether the ranks of each ranking are not 1, 2, 3, …
    """

    groups: Groups
    places: NDArray[np.int64]
    has_gaps: NDArray[np.bool_]


def place_items(items: ItemColumns, relevance: NDArray[np.float64], depth: int) -> PlacedItems:
    """Place each document at its rank down to a depth; documents below it follow in order."""
    sizes = np.diff(items.offsets)
    rankings = np.repeat(np.arange(len(sizes)), sizes)
    places = np.arange(1, len(rankings) + 1) - items.offsets[rankings]
    of_documents = places
    has_gaps = np.zeros(len(sizes), dtype=np.bool_)
    has_gaps[rankings[items.ranks != places]] = True
    offsets = items.offsets
    if has_gaps.any():
        is_above = items.ranks <= depth
        above = np.bincount(rankings[is_above], minlength=len(sizes))
        of_documents = np.where(is_above, items.ranks, depth + places - above[rankings])
        last = np.zeros(len(sizes), dtype=np.int64)
        np.maximum.at(last, rankings, of_documents)
        offsets = offsets_of(last)
        placed = np.full(int(offsets[-1]), np.nan)
        placed[offsets[rankings] + of_documents - 1] = relevance
        relevance = placed
        rankings = np.repeat(np.arange(len(last)), last)
        places = np.arange(1, len(rankings) + 1) - offsets[rankings]
    groups = Groups(offsets, relevance, -places.astype(np.float64))
    return PlacedItems(groups, of_documents, has_gaps)


@dataclass(frozen=True, slots=True)
class Evaluated:
    """Rankings, what is known of their documents, and their values.

    Args:
        chunk: The rankings and their labels.
        graded: The grades of their documents.
        values: One of each measure a ranking.
    """

    chunk: Chunk
    graded: Graded
    values: ChunkValues


def find_left_out(chunk: Chunk, users: Sequence[str]) -> NDArray[np.bool_] | None:
    """Return which rankings of a chunk are of users who are left out; `None` for none."""
    if not users:
        return None
    is_left = find_texts(chunk.user_ids, users)
    return is_left if is_left.any() else None


def leave_out(chunk: Chunk, users: Sequence[str]) -> Chunk:
    """Return the rankings of a chunk that count: those of other users."""
    is_left = find_left_out(chunk, users)
    return chunk if is_left is None else choose(chunk, np.flatnonzero(~is_left))


def evaluate_chunks(
    chunks: Iterable[Chunk],
    definition: Definition,
    *,
    now: int | None,
    threads: int | None = None,
) -> Iterator[Evaluated]:
    """Evaluate the rankings that count by what is known of them as of a moment."""
    plan = ChunkPlan.of(definition)

    def evaluate(chunk: Chunk) -> Evaluated:
        chunk = leave_out(chunk, definition.left_out)
        grades, values = _core.grade_items(*list_columns(chunk, definition, now), plan.choices)
        graded = read_grades(grades)
        if values is None:
            raise RuntimeError("expected values, as there is a plan")
        return Evaluated(chunk, graded, plan.read(chunk, graded, values))

    return map_ahead(evaluate, chunks, count_threads(threads))
