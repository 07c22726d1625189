"""Windows: exact sums of values by hour or day, version and slice.

A window is a function of the events alone. Sums are exact, so neither the order in which events
arrived nor how they were split into chunks makes a difference, and windows can be added up.
"""

from __future__ import annotations

from typing import NamedTuple

from rankscope import _core
from rankscope.monitor.definition.slices import Slicing
from rankscope.monitor.events.limits import HOUR
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any, TypeAlias

    import numpy as np
    from numpy.typing import NDArray

    from rankscope.monitor.definition.slices import Slice
    from rankscope.monitor.evaluate.values import Evaluated
    from rankscope.monitor.events.event import Environment
    from rankscope.monitor.store.folding import Folding
    from rankscope.monitor.store.records import Chunk, Context

    # Things, each once, and for each ranking the place of what it has.
    _Codes: TypeAlias = tuple[list[Any], NDArray[np.int64]]
    # By the start of a window and an environment.
    Foldings: TypeAlias = Mapping[tuple[int, Environment], Folding]

COUNTS = (
    "rankings",
    "labelled",
    "empty",
    "missing",
    "tied",
    "gaps",
    "refused",
    "documents",
    "relevant",
    "unjudged",
)
"""The counts of every cell: the last three are documents, the others rankings."""


FOLD_NOTHING: Foldings = {}


# There are many keys and cells: these tuples are made five times as fast as records.
class Key(NamedTuple):
    """What a cell sums: a window, the model, a slice and whether rankings are mature.

    Args:
        start: When the window begins, in microseconds since 1970 in UTC.
        environment: Where the rankings were made.
        model: The model that ranked.
        version: Its version.
        slice: Names of attributes and values; empty for all rankings.
        is_mature: Whether the attribution windows of the rankings are closed.
    """

    start: int
    environment: Environment
    model: str
    version: str
    slice: Slice
    is_mature: bool


class Cell(NamedTuple):
    """Counts and exact sums of some rankings.

    Equal sums are equal bytes: two cells of the same rankings are equal, however they came about.

    Args:
        counts: A number for each of `COUNTS`.
        defined: How many values are in each sum, in the order of `name_columns`.
        sums: The exact sums, packed, in the same order.
    """

    counts: tuple[int, ...]
    defined: tuple[int, ...]
    sums: bytes

    def tally(self, name: str) -> int:
        """Return one of the counts, such as `rankings`."""
        return self.counts[COUNTS.index(name)]

    def means(self) -> tuple[float, ...]:
        """Return the mean of each column, NaN where it has no values."""
        pairs = zip(_core.round_sums(self.sums), self.defined, strict=True)
        return tuple(total / count if count else float("nan") for total, count in pairs)

    def merge(self, other: Cell) -> Cell:
        """Return the cell of the rankings of both, which are different ones."""

        def add(one: tuple[int, ...], more: tuple[int, ...]) -> tuple[int, ...]:
            return tuple(count + by for count, by in zip(one, more, strict=True))

        return Cell(
            add(self.counts, other.counts),
            add(self.defined, other.defined),
            _core.merge_sums(self.sums, other.sums, False),
        )


def sum_cells(
    evaluated: Iterable[Evaluated],
    contexts: Mapping[int, Context],
    slicing: Slicing,
    *,
    foldings: Foldings = FOLD_NOTHING,
) -> dict[Key, Cell]:
    """Sum the values of rankings by hour, version and slice."""
    cells: dict[Key, Cell] = {}
    for each in evaluated:
        graded, values = each.graded, each.values
        counted = (
            graded.is_labelled,
            values.is_empty,
            values.is_missing,
            values.is_tied,
            values.has_gaps,
            values.is_refused,
            values.documents,
            values.relevant,
            values.unjudged,
        )
        parts = _GroupCodes.of(each.chunk, graded.is_mature, contexts, slicing, foldings)
        columns = list(values.columns().values())
        for attributes in slicing.dimensions():
            keys, groups = parts.group(attributes)
            for key, cell in zip(keys, _sum(groups, len(keys), counted, columns), strict=True):
                here = cells.get(key)
                cells[key] = cell if here is None else here.merge(cell)
    return cells


def group_rankings(
    evaluated: Evaluated,
    contexts: Mapping[int, Context],
    foldings: Foldings = FOLD_NOTHING,
) -> tuple[list[Key], NDArray[np.int64]]:
    """Return the unsliced cells of a chunk, and the cell of each of its rankings."""
    is_mature = evaluated.graded.is_mature
    return _GroupCodes.of(evaluated.chunk, is_mature, contexts, Slicing(), foldings).group(())


@record(frozen=True, slots=True)
class _GroupCodes:
    """The parts of the keys of a chunk, and codes that say which of them each ranking has.

    Args:
        moments: Starts of windows, and whether rankings are mature.
        makers: Environments, models and versions.
        values: By attribute, its values.
    """

    moments: _Codes
    makers: _Codes
    values: dict[str, _Codes]

    @classmethod
    def of(
        cls,
        chunk: Chunk,
        is_mature: NDArray[np.bool_],
        contexts: Mapping[int, Context],
        slicing: Slicing,
        foldings: Foldings,
    ) -> _GroupCodes:
        import numpy as np  # noqa: PLC0415 - loads with the first array

        numbers, of_ranking = np.unique(chunk.contexts, return_inverse=True)
        found = [contexts[number] for number in numbers.tolist()]

        def code(things: Iterable[Any]) -> _Codes:
            """Number what each context has, and give each ranking the number of its context."""
            places: dict[Any, int] = {}
            codes = [places.setdefault(thing, len(places)) for thing in things]
            return list(places), np.array(codes, dtype=np.int64)[of_ranking]

        moments, at = np.unique((chunk.times // HOUR) * 2 + is_mature, return_inverse=True)
        starts = [(moment // 2 * HOUR, bool(moment % 2)) for moment in moments.tolist()]
        if foldings:
            makers = _fold(starts, at, found, of_ranking, foldings)
        else:
            makers = code((one.environment, one.model, one.version) for one in found)
        values = {name: code(slicing.place(found, name)) for name, _ in slicing.values}
        return cls((starts, at), makers, values)

    def group(self, attributes: tuple[str, ...]) -> tuple[list[Key], NDArray[np.int64]]:
        """Return the keys of slices by some attributes, and the key of each ranking by place."""
        import numpy as np  # noqa: PLC0415 - loads with the first array

        parts = [self.moments, self.makers, *(self.values[name] for name in attributes)]
        sizes = [max(len(things), 1) for things, _ in parts]
        joined = np.ravel_multi_index([codes for _, codes in parts], sizes)
        used, groups = np.unique(joined, return_inverse=True)
        keys = []
        for places in zip(*(one.tolist() for one in np.unravel_index(used, sizes)), strict=True):
            (start, is_mature), (environment, model, version), *values = (
                things[place] for (things, _), place in zip(parts, places, strict=True)
            )
            where = tuple(zip(attributes, values, strict=True))
            keys.append(Key(start, environment, model, version, where, is_mature))
        return keys, groups


def _fold(
    starts: list[tuple[int, bool]],
    at: NDArray[np.int64],
    contexts: list[Context],
    of_ranking: NDArray[np.int64],
    foldings: Foldings,
) -> _Codes:
    """Number the environments, models and versions whose windows are kept apart."""
    import numpy as np  # noqa: PLC0415 - loads with the first array

    used, inverse = np.unique(at * len(contexts) + of_ranking, return_inverse=True)
    places: dict[Any, int] = {}
    codes = []
    for moment, number in zip(*(one.tolist() for one in divmod(used, len(contexts))), strict=True):
        context = contexts[number]
        folding = foldings.get((starts[moment][0], context.environment))
        pair = context.model, context.version
        kept = pair if folding is None else folding.place(*pair)
        codes.append(places.setdefault((context.environment, *kept), len(places)))
    return list(places), np.array(codes, dtype=np.int64)[inverse]


def _sum(
    groups: NDArray[np.int64],
    count: int,
    counted: tuple[NDArray[np.int64] | NDArray[np.bool_], ...],
    columns: list[NDArray[np.float64]],
) -> Iterator[Cell]:
    import numpy as np  # noqa: PLC0415 - loads with the first array

    def total(numbers: NDArray[np.int64] | NDArray[np.bool_]) -> list[int]:
        # Sums of fewer than 2^53 are whole numbers, exactly.
        return [int(each) for each in np.bincount(groups, numbers, count).tolist()]

    counts = [np.bincount(groups, minlength=count).tolist(), *map(total, counted)]
    defined = [total(~np.isnan(column)) for column in columns]
    sums = _core.sum_groups(groups, columns, count)
    yield from map(Cell, zip(*counts, strict=True), zip(*defined, strict=True), sums)
