"""Forecasts as the store keeps them: in cells of windows, under a digest of their own."""

from __future__ import annotations

import math

from rankscope import _core
from rankscope.deferred import np
from rankscope.monitor.evaluate.stored_windows import StoredCell, unpack_cells
from rankscope.monitor.evaluate.windows import COUNTS, Cell
from rankscope.monitor.expect.kinds import COLUMNS, digest, read_marks
from rankscope.monitor.expect.lists import list_measures
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rankscope.monitor.definition.configuration import Configuration
    from rankscope.monitor.evaluate.windows import Key
    from rankscope.monitor.store.store import StoreReader


@record(frozen=True, slots=True)
class StoredForecast:
    """A forecast as it was made.

    Args:
        expected: The mean that was expected; NaN where it was refused.
        lower: The lower end of its interval.
        upper: The upper end.
        defined: For how many rankings a value was expected.
        marks: Why it is doubtful or missing.
    """

    expected: float
    lower: float
    upper: float
    defined: float
    marks: int

    @property
    def is_made(self) -> bool:
        """Whether it was not refused."""
        return not math.isnan(self.expected)

    @property
    def reasons(self) -> tuple[str, ...]:
        """The names of its marks."""
        return read_marks(self.marks)


def refuse(mark: int) -> StoredForecast:
    """Return what is stored where there is no forecast."""
    return StoredForecast(math.nan, math.nan, math.nan, math.nan, mark)


def make_cell(key: Key, rankings: int, forecasts: Mapping[str, StoredForecast]) -> StoredCell:
    """Make the cell of the forecasts of all measures."""
    columns = [
        np.array([float(getattr(made, name))]) for made in forecasts.values() for name in COLUMNS
    ]
    sums = _core.sum_groups(np.zeros(1, dtype=np.int64), columns, 1)
    defined = tuple(int(not np.isnan(column[0])) for column in columns)
    counts = tuple(rankings if name == "rankings" else 0 for name in COUNTS)
    return StoredCell(key, Cell(counts, defined, sums[0]), ())


def read_forecasts(
    store: StoreReader,
    project: str,
    configuration: Configuration,
    since: int | None,
    until: int | None,
    *,
    length: int,
    slice: str | None = None,  # noqa: A002 - the field's word
) -> Iterator[tuple[Key, int, dict[str, StoredForecast]]]:
    """Yield the stored forecasts of a span by measure, and how many rankings they are of."""
    names = [measure.name for measure in list_measures(configuration.definition)]
    rows = store.cells(project, digest(configuration), since, until, length=length, slice=slice)
    for cell in unpack_cells(rows):
        means = iter(cell.cell.means())
        found = {}
        for name in names:
            expected, lower, upper, defined, marks = (next(means) for _ in COLUMNS)
            found[name] = StoredForecast(expected, lower, upper, defined, int(marks))
        yield cell.key, cell.cell.tally("rankings"), found
