"""Windows: exact sums of values by hour or day, version and slice.

A window is a function of the events alone. Sums are exact, so neither the order in which events
arrived nor how they were split into chunks makes a difference, and windows can be added up.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rankscope import _core
from rankscope.monitor.arrays import number_codes
from rankscope.monitor.definition.slices import Slice, Slicing
from rankscope.monitor.evaluate.grades import read_integers
from rankscope.monitor.evaluate.values import Evaluated
from rankscope.monitor.events.event import Environment
from rankscope.monitor.events.limits import HOUR
from rankscope.monitor.store.folding import Folding
from rankscope.monitor.store.records import Chunk, Context

_Codes: TypeAlias = tuple[list[Any], NDArray[np.int64]]
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


FEWEST = 8
"""From so many rankings on for each context and hour, their sums are added up, not their values."""
FOLD_NOTHING: Foldings = {}
SLICE_NOTHING = Slicing()


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

    def merge(self, *others: Cell) -> Cell:
        """Return the cell of the rankings of all, which are different ones."""
        cells = (self, *others)
        return Cell(
            _add(cell.counts for cell in cells),
            _add(cell.defined for cell in cells),
            _core.add_sums([cell.sums for cell in cells]),
        )


def _add(rows: Iterable[tuple[int, ...]]) -> tuple[int, ...]:
    return tuple(map(sum, zip(*rows, strict=True)))


def sum_cells(
    evaluated: Iterable[Evaluated],
    contexts: Mapping[int, Context],
    slicing: Slicing,
    *,
    foldings: Foldings = FOLD_NOTHING,
) -> dict[Key, Cell]:
    """Sum the values of rankings by hour, version and slice."""
    cells: dict[Key, Cell] = {}
    grouping = Grouping(contexts, slicing, foldings)
    for each in evaluated:
        for key, cell in _sum_dimensions(
            each, grouping.divide(each.chunk, each.graded.is_mature), slicing.dimensions()
        ):
            here = cells.get(key)
            cells[key] = cell if here is None else here.merge(cell)
    return cells


def _sum_dimensions(
    evaluated: Evaluated, parts: GroupCodes, dimensions: Sequence[tuple[str, ...]]
) -> Iterator[tuple[Key, Cell]]:
    """Sum the rankings of a chunk by each combination of attributes."""
    contexts = evaluated.chunk.contexts
    starts, moments = parts.moments
    used, groups = number_codes(contexts * len(starts) + moments)
    if len(used) * FEWEST > len(contexts):
        for attributes in dimensions:
            keys, groups = parts.group(attributes)
            whole = [(keys, np.arange(len(keys)))]
            yield from _sum(evaluated, groups, len(keys), whole)
        return
    # Rankings of one context and moment are in one cell of every combination: they are added up
    # once, and their sums are exact, so that the sums of a cell are those of its rankings.
    rows = np.zeros(len(used), dtype=np.int64)
    rows[groups] = np.arange(len(groups))
    chosen = parts.choose(rows)
    divisions = [chosen.group(attributes) for attributes in dimensions]
    yield from _sum(evaluated, groups, len(used), divisions)


class Grouping:
    """Groups the rankings of chunks into the cells of windows, versions and slices.

    What a context is in is looked up once, however many chunks have it.

    Args:
        contexts: What rankings have in common, by number.
        slicing: The slices.
        foldings: The versions that are summed as `<other>`.
    """

    def __init__(
        self,
        contexts: Mapping[int, Context],
        slicing: Slicing = SLICE_NOTHING,
        foldings: Foldings = FOLD_NOTHING,
    ) -> None:
        self._contexts = contexts
        self._slicing = slicing
        self._foldings = foldings
        names = ["", *(name for name, _ in slicing.values)]
        # By attribute, its values, and the place of the value of each context; first the makers.
        self._places: dict[str, dict[Any, int]] = {name: {} for name in names}
        self._of_contexts: dict[str, NDArray[np.int64]] = {}

    def divide(self, chunk: Chunk, is_mature: NDArray[np.bool_]) -> GroupCodes:
        """Return what each ranking of a chunk is in."""
        self._learn(chunk.contexts)
        moments, at = number_codes((chunk.times // HOUR) * 2 + is_mature)
        starts = [(moment // 2 * HOUR, bool(moment % 2)) for moment in moments.tolist()]
        values = {
            name: ([*places], self._of_contexts[name][chunk.contexts])
            for name, places in self._places.items()
        }
        makers = values.pop("")
        if self._foldings:
            numbers, of_ranking = np.unique(chunk.contexts, return_inverse=True)
            found = [self._contexts[number] for number in numbers.tolist()]
            makers = _fold(starts, at, found, of_ranking, self._foldings)
        return GroupCodes((starts, at), makers, values)

    def _learn(self, numbers: NDArray[np.int64]) -> None:
        """Look up the contexts that were not met before."""
        most = int(numbers.max(initial=-1)) + 1
        for name in self._places:
            known = self._of_contexts.get(name, np.zeros(0, dtype=np.int64))
            if len(known) < most:
                grown = np.full(max(most, 2 * len(known)), -1, dtype=np.int64)
                grown[: len(known)] = known
                self._of_contexts[name] = grown
        makers = self._of_contexts[""]
        new = [*dict.fromkeys(numbers[makers[numbers] < 0].tolist())]
        if not new:
            return
        contexts = [self._contexts[number] for number in new]
        for name, places in self._places.items():
            things: Iterable[Any] = (
                self._slicing.place(contexts, name)
                if name
                else ((context.environment, context.model, context.version) for context in contexts)
            )
            codes = [places.setdefault(thing, len(places)) for thing in things]
            self._of_contexts[name][new] = codes


@dataclass(frozen=True, slots=True)
class GroupCodes:
    """The parts of the keys of a chunk, and codes that say which of them each ranking has.

    Args:
        moments: Starts of windows, and whether rankings are mature.
        makers: Environments, models and versions.
        values: By attribute, its values.
    """

    moments: _Codes
    makers: _Codes
    values: dict[str, _Codes]

    def choose(self, rows: NDArray[np.int64]) -> GroupCodes:
        """Return the codes of some rankings."""
        (moments, at), (makers, made) = self.moments, self.makers
        values = {name: (things, codes[rows]) for name, (things, codes) in self.values.items()}
        return GroupCodes((moments, at[rows]), (makers, made[rows]), values)

    def group(self, attributes: tuple[str, ...] = ()) -> tuple[list[Key], NDArray[np.int64]]:
        """Return the keys of slices by some attributes, and the key of each ranking by place."""
        parts = [self.moments, self.makers, *(self.values[name] for name in attributes)]
        sizes = [max(len(things), 1) for things, _ in parts]
        joined = np.ravel_multi_index([codes for _, codes in parts], sizes)
        used, groups = number_codes(joined)
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
    evaluated: Evaluated,
    groups: NDArray[np.int64],
    count: int,
    divisions: Sequence[tuple[list[Key], NDArray[np.int64]]],
) -> Iterator[tuple[Key, Cell]]:
    """Sum the rankings of each group, and add up groups."""
    graded, values = evaluated.graded, evaluated.values
    marks = (
        graded.is_labelled,
        values.is_empty,
        values.is_missing,
        values.is_tied,
        values.has_gaps,
        values.is_refused,
    )
    columns = [*values.columns().values()]
    summed = _core.sum_cells(
        groups,
        count,
        [mark.view(np.uint8) for mark in marks],
        [values.documents, values.relevant, values.unjudged],
        columns,
        [(cells, len(keys)) for keys, cells in divisions],
    )
    for (keys, _), (counts, defined, sums) in zip(divisions, summed, strict=True):
        cells = map(
            Cell,
            map(tuple, read_integers(counts).reshape(len(keys), -1).tolist()),
            map(tuple, read_integers(defined).reshape(len(keys), len(columns)).tolist()),
            sums,
        )
        yield from zip(keys, cells, strict=True)
