"""The slices of a span of time: what each is worth, and how far that is from the baseline."""

from __future__ import annotations

import math

from rankscope.monitor.deadline import check_deadline
from rankscope.monitor.stored_windows import add_cells
from rankscope.monitor.values import name_columns
from rankscope.results import Table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from rankscope.monitor.baseline import Baseline
    from rankscope.monitor.definition import Definition
    from rankscope.monitor.slicing import Slice
    from rankscope.monitor.stored_windows import StoredCell

COUNTED = ("rankings", "labelled", "empty")


def tabulate_slices(
    cells: Iterable[StoredCell],
    definition: Definition,
    measure: str,
    baseline: Baseline | None,
    *,
    model: str | None = None,
    version: str | None = None,
) -> Table:
    """Tabulate the slices of rankings in production.

    Args:
        cells: The cells of the hours.
        definition: What their values are values of.
        measure: One of its measures.
        baseline: What they are held against, if there is something.
        model: The model that ranked; all together if left out.
        version: Its version; likewise.

    Returns:
        One row a slice, the lowest difference to the baseline first, those without one last, by the
        number of rankings.

    Raises:
        UsageError: There is no such measure.
        DeadlineError: It takes longer than the read that it is part of may.
    """
    name = definition.only(measure).measures[0].name
    at = name_columns(definition).index(name)
    number = [each.name for each in definition.measures].index(name)
    found: dict[Slice, list[StoredCell]] = {}
    for one in cells:
        key = one.key
        if (
            key.environment == "production"
            and key.slice
            and model in {None, key.model}
            and version in {None, key.version}
        ):
            found.setdefault(key.slice, []).append(one)
    rows = []
    for place, members in found.items():
        check_deadline()
        total, _ = add_cells(members)
        value = _or_none(total.means()[at])
        held = baseline.slices.get(place) if baseline is not None else None
        base = None if held is None else _or_none(held[number])
        difference = None if value is None or base is None else value - base
        said = ", ".join(f"{attribute}={text}" for attribute, text in place)
        rows.append((said, value, *map(total.tally, COUNTED), base, difference))
    rows.sort(key=_order)
    names = ("slice", "value", *COUNTED, "baseline", "difference")
    return Table({name: [row[at] for row in rows] for at, name in enumerate(names)})


def _order(row: tuple[object, ...]) -> tuple[object, ...]:
    difference, rankings, said = row[-1], row[2], row[0]
    return difference is None, difference or 0.0, -rankings, said  # type: ignore[operator]


def _or_none(number: float) -> float | None:
    return None if math.isnan(number) else number
