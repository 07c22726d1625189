"""The losses that documents cause by their positions, broken down by their attributes."""

from __future__ import annotations

from itertools import pairwise

from rankscope.api.rankings import rank_groups
from rankscope.api.regrets import find_regrets
from rankscope.errors import FormatError, MeasureError
from rankscope.monitor.evaluate.values import place_items
from rankscope.records import replace
from rankscope.stats.trace.document_regrets import DocumentRegrets

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from typing import Any, TypeAlias

    import numpy as np
    from numpy.typing import NDArray

    from rankscope.monitor.definition.definition import Definition
    from rankscope.monitor.evaluate.grades import Graded
    from rankscope.monitor.store.records import Chunk

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

    Args:
        documents: Columns by name, such as `{"doc_id": ["d1", "d2"], "genre": ["jazz", "pop"]}`. Of
            a document that comes twice, the last value counts; `None` is no value.

    Raises:
        FormatError: There is no column of ids, columns differ in length, or an attribute is called
            as one that is known of every document.

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


class CostCollector:
    """Collects the losses that the documents of a span cause.

    Args:
        definition: What is measured: one measure.
        catalogue: By attribute, the value of each document.
        known: The documents that were shown before; `None` where this is the window before, all of
            whose documents were.
    """

    def __init__(
        self, definition: Definition, catalogue: Catalogue, known: Collection[bytes] | None
    ) -> None:
        self._definition = definition
        self._catalogue = catalogue
        self._known = known
        self._rows: list[NDArray[np.int64]] = []
        self._regrets: list[NDArray[np.float64]] = []
        names = (*BUILT_IN, *catalogue)
        self._places: dict[str, dict[str, int]] = {name: {} for name in names}
        self._codes: dict[str, list[NDArray[np.int32]]] = {name: [] for name in names}
        self._is_told = True
        self.shown: set[bytes] = set()
        """The documents of all rankings so far."""

    def take(self, chunk: Chunk, graded: Graded, kept: NDArray[np.int64], first: int) -> None:
        """Add some rankings of a chunk.

        Args:
            chunk: The chunk.
            graded: The grades of its documents.
            kept: The places of the rankings that are taken.
            first: How many were taken before.
        """
        import numpy as np  # noqa: PLC0415 - loads with the first array

        if not self._is_told:
            return
        items = chunk.items
        (measure,) = self._definition.measures
        placed = place_items(items, graded.relevance, self._definition.depth)
        policy = replace(self._definition.policy, empty="skip")
        try:
            found = find_regrets(rank_groups(placed.groups, "input"), measure, policy)
        except MeasureError:
            self._is_told = False
            return
        # Which document of the chunk is at each place of a ranking, if one is.
        sizes = np.diff(items.offsets)
        starts = placed.groups.offsets
        at_place = np.full(int(starts[-1]), -1, dtype=np.int64)
        of_items = np.repeat(np.arange(len(sizes)), sizes)
        at_place[starts[of_items] + placed.places - 1] = np.arange(len(of_items))
        queries = found.queries.astype(np.int64)
        place_of = np.full(len(sizes), -1, dtype=np.int64)
        place_of[kept] = np.arange(first, first + len(kept))
        is_taken = (place_of[queries] >= 0) & (found.units[queries] > 0)
        queries = queries[is_taken]
        self._rows.append(place_of[queries])
        self._regrets.append(found.amounts[is_taken] / found.units[queries])
        documents = at_place[starts[queries] + found.ranks[is_taken].astype(np.int64) - 1]
        self._describe(chunk, documents, found.grades[is_taken])
        if self._known is None:
            is_kept = place_of[of_items] >= 0
            self.shown.update(_read(chunk, np.flatnonzero(is_kept)))

    def _describe(
        self, chunk: Chunk, documents: NDArray[np.int64], grades: NDArray[np.float64]
    ) -> None:
        """Record the attributes of documents."""
        import numpy as np  # noqa: PLC0415 - loads with the first array

        different, of_documents = np.unique(grades, return_inverse=True)
        self._put(GRADE, [f"{grade:g}" for grade in different.tolist()], of_documents)
        buckets = np.searchsorted(np.array(RANKS), chunk.items.ranks[documents])
        self._put(RANK, _name_ranks(), buckets)
        known = self._known
        ids = _read(chunk, documents) if self._catalogue or known is not None else []
        is_new = [known is not None and each not in known for each in ids]
        self._put(KNOWN, ["yes", "no"], np.array(is_new or [False] * len(documents), dtype=int))
        for name, values in self._catalogue.items():
            texts = [values.get(each.decode(), MISSING) for each in ids]
            self._put(name, texts, np.arange(len(texts)))

    def _put(self, name: str, texts: Sequence[str], codes: NDArray[np.integer[Any]]) -> None:
        """Add the values of an attribute."""
        import numpy as np  # noqa: PLC0415 - loads with the first array

        places = self._places[name]
        numbers = [places.setdefault(text, len(places)) for text in texts]
        self._codes[name].append(np.array(numbers, dtype=np.int32)[codes])

    def finish(self) -> DocumentRegrets | None:
        """Return what was collected; `None` for measures without regrets."""
        import numpy as np  # noqa: PLC0415 - loads with the first array

        if not self._is_told or not self._rows:
            return None
        values = {
            name: (tuple(self._places[name]), np.concatenate(codes))
            for name, codes in self._codes.items()
        }
        return DocumentRegrets(np.concatenate(self._rows), np.concatenate(self._regrets), values)


def _read(chunk: Chunk, places: NDArray[np.int64]) -> list[bytes]:
    """Read the IDs of some documents of a chunk."""
    offsets, text = chunk.items.doc_ids
    whole = text.tobytes()
    if len(places) == len(offsets) - 1:
        return [whole[start:end] for start, end in pairwise(offsets.tolist())]
    ends = zip(offsets[places].tolist(), offsets[places + 1].tolist(), strict=True)
    return [whole[start:end] for start, end in ends]


def _name_ranks() -> list[str]:
    """Name the groups of ranks."""
    names = [
        str(last) if last == before + 1 else f"{before + 1}-{last}"
        for before, last in pairwise((0, *RANKS))
    ]
    return [*names, f"{RANKS[-1] + 1} and below"]
