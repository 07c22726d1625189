"""The losses that documents cause by their positions, broken down by their attributes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rankscope import _core
from rankscope._core import IdSet
from rankscope.errors import FormatError, MeasureError
from rankscope.monitor.ask.growing import GrowingColumn
from rankscope.monitor.definition.definition import Definition
from rankscope.monitor.evaluate.grades import (
    list_items,
    read_integers,
    read_marks,
    read_numbers,
)
from rankscope.monitor.evaluate.values import ChunkPlan, Evaluated
from rankscope.monitor.store.records import Chunk
from rankscope.monitor.why.document_regrets import DocumentRegrets

Catalogue: TypeAlias = Mapping[str, Mapping[str, str]]
"""By attribute, the value of each document."""


GRADE, RANK, KNOWN = "grade", "logged rank", "shown before"
BUILT_IN = (GRADE, RANK, KNOWN)
"""The attributes that every document has."""

MISSING = "<missing>"
"""The value of a document that has none."""

RANKS = (1, 2, 3, 5, 10, 20, 50)
"""The last rank of each group of ranks."""

IDS = ("doc_id", "item_id", "document_id")
"""The names that the column of documents may have."""


def read_catalogue(documents: Mapping[str, Sequence[object]]) -> Catalogue:
    """Read a table of documents: a column of IDs, and a column for each attribute.

    Examples:
        >>> read_catalogue({"doc_id": ["d1", "d2"], "genre": ["jazz", None]})
        {'genre': {'d1': 'jazz'}}
    """
    names = [name for name in IDS if name in documents]
    sizes = {name: len(column) for name, column in documents.items()}
    if len(names) != 1:
        raise FormatError(
            f"expected one column of documents, {' or '.join(IDS)}, found {', '.join(documents)}",
            hint="name the column doc_id",
            code="columns",
        )
    if len(set(sizes.values())) > 1:
        raise FormatError(
            f"expected columns of one length, found {sizes}",
            hint="give every document a value, or None",
            code="length_mismatch",
        )
    taken = [name for name in documents if name in BUILT_IN]
    if taken:
        raise FormatError(
            f"the name of an attribute is taken: {taken[0]!r}",
            hint=f"{', '.join(BUILT_IN)} are built in: choose another name",
            code="bad_parameter",
        )
    ids = [*map(str, documents[names[0]])]
    return {
        name: {doc: str(value) for doc, value in zip(ids, column, strict=True) if value is not None}
        for name, column in documents.items()
        if name != names[0]
    }


@dataclass(frozen=True, slots=True)
class DocumentCosts:
    """The documents of a chunk that have a gain.

    Args:
        rankings: The place of the ranking of each.
        documents: Its place among the documents of the chunk.
        grades: Its grade.
        regrets: What it costs, as a share of the ideal.
    """

    rankings: NDArray[np.int64]
    documents: NDArray[np.int64]
    grades: NDArray[np.float64]
    regrets: NDArray[np.float64]


class CostCollector:
    """Collects the losses that the documents of a span cause.

    Args:
        definition: What is measured: one measure.
        catalogue: By attribute, the value of each document.
        known: The documents that were shown before; `None` where this is the window before, all of
            whose documents were.
    """

    def __init__(self, definition: Definition, catalogue: Catalogue, known: IdSet | None) -> None:
        self._plan = ChunkPlan.of(definition)
        self._catalogue = catalogue
        self._known = known
        self._rows = GrowingColumn()
        self._regrets = GrowingColumn()
        names = (*BUILT_IN, *catalogue)
        self._places: dict[str, dict[str, int]] = {name: {} for name in names}
        self._codes = {name: GrowingColumn() for name in names}
        self._is_told = True
        self._has_taken = False
        self.shown = IdSet()
        """The documents of all rankings so far."""

    def show(self, chunk: Chunk, is_wanted: NDArray[np.bool_]) -> None:
        """Remember what rankings of the window before showed, whether they have a value or not."""
        if self._known is None:
            is_shown = np.repeat(is_wanted, np.diff(chunk.items.offsets))
            self.shown.add(chunk.items.doc_ids, np.flatnonzero(is_shown))

    def measure(self, each: Evaluated) -> tuple[Evaluated, DocumentCosts | None]:
        """Measure what the documents of a chunk cost; several chunks can be measured at once."""
        items = list_items(each.chunk.items, each.graded.relevance)
        try:
            columns = _core.measure_costs(items, self._plan.choices)
        except MeasureError:
            return each, None
        rankings, documents, grades, regrets = columns
        return each, DocumentCosts(
            read_integers(rankings),
            read_integers(documents),
            read_numbers(grades),
            read_numbers(regrets),
        )

    def take(
        self, chunk: Chunk, costs: DocumentCosts | None, kept: NDArray[np.int64], first: int
    ) -> None:
        """Add some rankings of a chunk."""
        self._is_told &= costs is not None
        if not self._is_told or costs is None:
            return
        self._has_taken = True
        place_of = np.full(len(chunk.times), -1, dtype=np.int32)
        place_of[kept] = np.arange(first, first + len(kept), dtype=np.int32)
        rows = place_of[costs.rankings]
        is_taken = rows >= 0
        self._rows.extend(rows[is_taken])
        self._regrets.extend(costs.regrets[is_taken])
        self._describe(chunk, costs.documents[is_taken], costs.grades[is_taken])

    def _describe(
        self, chunk: Chunk, documents: NDArray[np.int64], grades: NDArray[np.float64]
    ) -> None:
        """Record the attributes of documents."""
        different, of_documents = np.unique(grades, return_inverse=True)
        self._put(GRADE, [f"{grade:g}" for grade in different.tolist()], of_documents)
        buckets = np.searchsorted(np.array(RANKS), chunk.items.ranks[documents])
        self._put(RANK, _name_ranks(), buckets)
        is_new = np.zeros(len(documents), dtype=np.int64)
        if self._known is not None:
            is_new[~read_marks(self._known.find(chunk.items.doc_ids, documents))] = 1
        self._put(KNOWN, ["yes", "no"], is_new)
        ids = _read(chunk, documents) if self._catalogue else []
        for name, values in self._catalogue.items():
            texts = [values.get(each.decode(), MISSING) for each in ids]
            self._put(name, texts, np.arange(len(texts)))

    def _put(self, name: str, texts: Sequence[str], codes: NDArray[np.integer[Any]]) -> None:
        """Add the values of an attribute."""
        places = self._places[name]
        numbers = [places.setdefault(text, len(places)) for text in texts]
        # Most attributes have few values, so that a byte holds each.
        self._codes[name].extend(np.array(numbers, dtype=np.min_scalar_type(len(places)))[codes])

    def keep(self, is_kept: NDArray[np.bool_]) -> None:
        """Keep some of the rankings that were taken."""
        if not len(self._rows):
            return
        rows = self._rows.finish()
        is_chosen = is_kept[rows]
        self._rows.extend((np.cumsum(is_kept, dtype=np.int32) - 1)[rows[is_chosen]])
        for column in (self._regrets, *self._codes.values()):
            column.keep(is_chosen)

    def finish(self) -> DocumentRegrets | None:
        """Return what was collected; `None` for measures without regrets."""
        if not self._is_told or not self._has_taken:
            return None
        values = {
            name: (tuple(self._places[name]), column.finish())
            for name, column in self._codes.items()
        }
        return DocumentRegrets(self._rows.finish(), self._regrets.finish(), values)


def _read(chunk: Chunk, places: NDArray[np.int64]) -> list[bytes]:
    """Read the IDs of some documents of a chunk."""
    offsets, text = chunk.items.doc_ids
    whole = text.tobytes()
    ends = zip(offsets[places].tolist(), offsets[places + 1].tolist(), strict=True)
    return [whole[start:end] for start, end in ends]


def _name_ranks() -> list[str]:
    """Name the groups of ranks."""
    names = [
        str(last) if last == before + 1 else f"{before + 1}-{last}"
        for before, last in pairwise((0, *RANKS))
    ]
    return [*names, f"{RANKS[-1] + 1} and below"]
