"""Keeps the windows of deleted events for the measures that a new definition still has.

What decides a value is the measure, and how labels become grades: not what else is measured, nor
which slices there are. So the windows of a time whose events were deleted are taken over from the
configuration before. Measures that are new have no values there.
"""

from __future__ import annotations

from rankscope import _core
from rankscope.errors import UsageError
from rankscope.monitor.definition.configuration import Configuration
from rankscope.monitor.evaluate.clusters import ClusterSpread
from rankscope.monitor.evaluate.stored_windows import StoredCell, pack_cell, unpack_cell
from rankscope.monitor.evaluate.values import name_columns
from rankscope.monitor.evaluate.windows import Cell
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.store.records import Progress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from rankscope.monitor.definition.slices import Slice
    from rankscope.monitor.store.records import CellRow
    from rankscope.monitor.store.store import Store, StoreReader

NOTHING = (0.0, 0.0, 0.0, 0.0)


def take_over(
    store: Store, project: str, configuration: Configuration, *, slicing: str, until: int, now: int
) -> None:
    """Take over the windows from before a time from the configuration that was evaluated last."""
    before = _find_before(store, project, configuration)
    if before is None:
        return
    convert = _make_converter(before, configuration)
    cells = [
        convert(row)
        for length in (HOUR, DAY)
        for row in store.cells(project, before.digest, None, until, length=length)
        if _has_slice(configuration, unpack_cell(row).key.slice)
    ]
    store.put_windows(
        project,
        configuration.digest,
        replaced={},
        cells=cells,
        hours=store.hours(project, before.digest, None, until),
        open_hours=[],
        progress=Progress(0, now, slicing, ""),
    )


def _find_before(
    store: StoreReader, project: str, configuration: Configuration
) -> Configuration | None:
    """Return the last configuration that has windows, if its values can be those of another."""
    for text in store.configurations(project):
        try:
            known = Configuration.from_json(text)
        except UsageError:  # of an earlier version of the rules
            continue
        if store.progress(project, known.digest) is not None:
            return known if _basis(known) == _basis(configuration) else None
    return None


def _basis(configuration: Configuration) -> dict[str, Any]:
    """Return what decides the value of a measure beside the measure."""
    said = configuration.definition.to_dict()
    return {name: part for name, part in said.items() if name != "measures"}


def _has_slice(configuration: Configuration, place: Slice) -> bool:
    names = tuple(name for name, _ in place)
    if len(names) < 2:
        return set(names) <= set(configuration.attributes)
    return names in configuration.all_pairs


def _make_converter(old: Configuration, new: Configuration) -> Callable[[CellRow], CellRow]:
    """Return what makes cells of one configuration cells of another with the same basis."""
    columns = {name: at for at, name in enumerate(name_columns(old.definition))}
    places = [columns.get(name) for name in name_columns(new.definition)]
    measures = {one.name: at for at, one in enumerate(old.definition.measures)}
    spreads = [measures.get(measure.name) for measure in new.definition.measures]

    def convert(row: CellRow) -> CellRow:
        key, cell, spread = unpack_cell(row)
        moments = () if spread is None else spread.moments
        return pack_cell(
            row.length,
            StoredCell(
                key,
                Cell(
                    cell.counts,
                    tuple(0 if at is None else cell.defined[at] for at in places),
                    _core.choose_sums(cell.sums, places),
                ),
                ClusterSpread(tuple(NOTHING if at is None else moments[at] for at in spreads))
                if moments
                else None,
            ),
        )

    return convert
