"""Windows: exact sums of values by hour or day, version and slice.

A window is a function of the events alone: sums are exact, so that neither the order in which
events came nor how they were cut into chunks makes a difference, and windows can be added and taken
away.
"""

from __future__ import annotations

from typing import NamedTuple

from rankscope import _core
from rankscope.errors import UsageError
from rankscope.monitor.definition.definition import check_comparable
from rankscope.monitor.definition.slices import Slicing
from rankscope.monitor.evaluate.values import evaluate_chunks, name_columns
from rankscope.monitor.events.limits import HOUR
from rankscope.records import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any, TypeAlias, TypeVar

    import numpy as np
    from numpy.typing import NDArray

    from rankscope.monitor.definition.definition import Definition
    from rankscope.monitor.definition.slices import Slice
    from rankscope.monitor.evaluate.values import Evaluated
    from rankscope.monitor.events.event import Environment
    from rankscope.monitor.store.folding import Folding
    from rankscope.monitor.store.records import Chunk, Context

    # Things, each once, and for each ranking the place of what it has.
    _Codes: TypeAlias = tuple[list[Any], NDArray[np.int64]]
    # By the start of a window and an environment.
    Foldings: TypeAlias = Mapping[tuple[int, Environment], Folding]
    _K = TypeVar("_K")

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
"""What is counted in every cell; the last three are documents, the others rankings."""


FOLD_NOTHING: Foldings = {}


# There are many keys and cells: these tuples are made five times as fast as records.
class Key(NamedTuple):
    """Whose sums a cell has.

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
        defined: How many values are in each sum, in the order of `Windows.columns`.
        sums: The exact sums, packed, in the same order.
    """

    counts: tuple[int, ...]
    defined: tuple[int, ...]
    sums: bytes

    def tally(self, name: str) -> int:
        """Give one of the counts, such as `rankings`."""
        return self.counts[COUNTS.index(name)]

    def means(self) -> tuple[float, ...]:
        """Give the mean of each column, NaN where it has no values."""
        pairs = zip(_core.round_sums(self.sums), self.defined, strict=True)
        return tuple(total / count if count else float("nan") for total, count in pairs)

    def merge(self, other: Cell) -> Cell:
        """Add the rankings of another cell."""
        return self._combine(other, 1)

    def subtract(self, other: Cell) -> Cell:
        """Take away the rankings of another cell, which were added before."""
        return self._combine(other, -1)

    def _combine(self, other: Cell, sign: int) -> Cell:
        def add(one: tuple[int, ...], more: tuple[int, ...]) -> tuple[int, ...]:
            return tuple(count + sign * by for count, by in zip(one, more, strict=True))

        return Cell(
            add(self.counts, other.counts),
            add(self.defined, other.defined),
            _core.merge_sums(self.sums, other.sums, sign < 0),
        )


@record(frozen=True, slots=True)
class Windows:
    """Cells of windows of one length, by one definition.

    Args:
        definition: What the values are values of.
        slicing: Which slices there are.
        length: How long a window is, in microseconds.
        cells: The cells that have rankings.
        late: How many labels came after the window of their ranking was closed.
        unshown: How many labels are of documents that were not shown.
    """

    definition: Definition
    slicing: Slicing
    length: int
    cells: Mapping[Key, Cell]
    late: int = 0
    unshown: int = 0

    @property
    def columns(self) -> tuple[str, ...]:
        """What the sums of each cell are of, such as `nDCG@10` and `nDCG@10 ordering`."""
        return name_columns(self.definition)

    def merge(self, other: Windows) -> Windows:
        """Add windows of other rankings.

        Raises:
            UsageError: They are of another definition, other slices or another length.
        """
        return self._combine(other, 1)

    def subtract(self, other: Windows) -> Windows:
        """Take away windows of rankings that are in these.

        Raises:
            UsageError: They are of another definition, other slices or another length, or of
                rankings that are not in these.
        """
        return self._combine(other, -1)

    def _combine(self, other: Windows, sign: int) -> Windows:
        check_comparable(self.definition, other.definition)
        if (self.slicing, self.length) != (other.slicing, other.length):
            raise UsageError(
                "expected windows of the same slices and length, found others",
                hint="choose slices once, and sum all rankings by them",
                code="other_definition",
            )
        cells = dict(self.cells)
        for key, cell in other.cells.items():
            here = cells.get(key)
            if sign > 0:
                cells[key] = cell if here is None else here.merge(cell)
                continue
            left = None if here is None else here.subtract(cell)
            if left is None or min(left.counts) < 0:
                raise UsageError(
                    f"expected rankings that are in the windows, found others at {key}",
                    hint="take away what was added",
                    code="bad_period",
                )
            if left.tally("rankings"):
                cells[key] = left
            else:
                del cells[key]
        return replace(
            self,
            cells=cells,
            late=self.late + sign * other.late,
            unshown=self.unshown + sign * other.unshown,
        )

    def widen(self, length: int) -> Windows:
        """Make longer windows, such as days of hours.

        Args:
            length: How long they are, in microseconds: a multiple of what they are now.

        Raises:
            UsageError: It is not.
        """
        if length < 1 or length % self.length:
            raise UsageError(
                f"expected a multiple of {self.length} microseconds, found {length}",
                hint="days are 24 hours",
                code="bad_period",
            )
        cells: dict[Key, Cell] = {}
        for key, cell in self.cells.items():
            _add(cells, key._replace(start=key.start - key.start % length), cell)
        return replace(self, length=length, cells=cells)

    def select(
        self,
        *,
        environment: Environment = "production",
        model: str | None = None,
        version: str | None = None,
        slice: Slice = (),  # noqa: A002 - the word for it
        mature: bool = False,
    ) -> dict[int, Cell]:
        """Give the cells of one slice by the start of their windows, in order of time.

        Args:
            environment: Where rankings were made.
            model: The model; all of them together if left out.
            version: The version; all of them together if left out.
            slice: The slice.
            mature: Whether only rankings count whose attribution window is closed.
        """
        found: dict[int, Cell] = {}
        for key, cell in self.cells.items():
            if (
                key.environment == environment
                and key.slice == slice
                and (model is None or key.model == model)
                and (version is None or key.version == version)
                and (key.is_mature or not mature)
            ):
                _add(found, key.start, cell)
        return dict(sorted(found.items()))


def sum_windows(
    chunks: Iterable[Chunk],
    contexts: Mapping[int, Context],
    definition: Definition,
    slicing: Slicing,
    *,
    now: int | None,
    length: int = HOUR,
    threads: int | None = None,
) -> Windows:
    """Sum the values of rankings, as they are as of a moment.

    Args:
        chunks: The rankings and their labels.
        contexts: What they have in common.
        definition: What to measure.
        slicing: The slices.
        now: The moment, in microseconds since 1970 in UTC; without one, all labels count and
            nothing is pending.
        length: How long windows are, in microseconds; they begin at multiples of it since 1970.
        threads: How many threads may work; the result does not depend on it.

    Raises:
        UsageError: The length is not 1 or more.
    """
    if length < 1:
        raise UsageError(
            f"expected windows of 1 microsecond or more, found {length}",
            hint="HOUR is 3_600_000_000",
            code="bad_period",
        )
    evaluated = evaluate_chunks(chunks, definition, now=now, threads=threads)
    return sum_evaluated(evaluated, contexts, definition, slicing, length=length)


def sum_evaluated(
    evaluated: Iterable[Evaluated],
    contexts: Mapping[int, Context],
    definition: Definition,
    slicing: Slicing,
    *,
    length: int = HOUR,
    foldings: Foldings = FOLD_NOTHING,
) -> Windows:
    """Sum the values that rankings have.

    Args:
        evaluated: The rankings with their values.
        contexts: What they have in common.
        definition: What was measured.
        slicing: The slices.
        length: How long windows are, in microseconds, 1 or more.
        foldings: Which versions have cells of their own, where that is not all of them.
    """
    cells: dict[Key, Cell] = {}
    late = unshown = 0
    for each in evaluated:
        chunk, graded, values = each.chunk, each.graded, each.values
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
        parts = _Parts.of(
            chunk, graded.is_mature, contexts, slicing, length=length, foldings=foldings
        )
        columns = list(values.columns().values())
        for attributes in slicing.dimensions():
            keys, groups = parts.group(attributes)
            for key, cell in zip(keys, _sum(groups, len(keys), counted, columns), strict=True):
                _add(cells, key, cell)
        late, unshown = late + int(graded.late.sum()), unshown + int(graded.unshown.sum())
    return Windows(definition, slicing, length, cells, late, unshown)


def group_rankings(
    evaluated: Evaluated,
    contexts: Mapping[int, Context],
    length: int = HOUR,
    foldings: Foldings = FOLD_NOTHING,
) -> tuple[list[Key], NDArray[np.int64]]:
    """Give the cells of all rankings of a chunk, without slices, and for each ranking its cell."""
    is_mature = evaluated.graded.is_mature
    parts = _Parts.of(
        evaluated.chunk, is_mature, contexts, Slicing(), length=length, foldings=foldings
    )
    return parts.group(())


@record(frozen=True, slots=True)
class _Parts:
    """What puts the rankings of a chunk into cells: for each such thing what there is, and codes.

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
        *,
        length: int,
        foldings: Foldings,
    ) -> _Parts:
        import numpy as np  # noqa: PLC0415 - loads with the first array

        numbers, of_ranking = np.unique(chunk.contexts, return_inverse=True)
        found = [contexts[number] for number in numbers.tolist()]

        def code(things: Iterable[Any]) -> _Codes:
            """Number what each context has, and give each ranking the number of its context."""
            places: dict[Any, int] = {}
            codes = [places.setdefault(thing, len(places)) for thing in things]
            return list(places), np.array(codes, dtype=np.int64)[of_ranking]

        moments, at = np.unique((chunk.times // length) * 2 + is_mature, return_inverse=True)
        starts = [(moment // 2 * length, bool(moment % 2)) for moment in moments.tolist()]
        if foldings:
            makers = _fold(starts, at, found, of_ranking, foldings)
        else:
            makers = code((one.environment, one.model, one.version) for one in found)
        values = {name: code(slicing.place(found, name)) for name, _ in slicing.values}
        return cls((starts, at), makers, values)

    def group(self, attributes: tuple[str, ...]) -> tuple[list[Key], NDArray[np.int64]]:
        """Give the keys of slices by some attributes, and for each ranking the place of its own."""
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
    """Number the environments, models and versions that the windows of rankings keep."""
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


def _add(cells: dict[_K, Cell], key: _K, cell: Cell) -> None:
    here = cells.get(key)
    cells[key] = cell if here is None else here.merge(cell)
