"""Values over time, and by slice."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, TypeAlias

from rankscope._show.table import Cell, Table
from rankscope.errors import UsageError
from rankscope.monitor.definition.definition import Definition
from rankscope.monitor.definition.slices import Slice
from rankscope.monitor.evaluate.baseline import Baseline
from rankscope.monitor.evaluate.clusters import find_interval
from rankscope.monitor.evaluate.stored_windows import StoredCell, add_cells, name_place
from rankscope.monitor.evaluate.values import name_columns
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.events.times import to_datetime
from rankscope.monitor.plain import make_plain, write_record
from rankscope.monitor.store.deadline import check_deadline
from rankscope.monitor.store.records import CellRow
from rankscope.monitor.store.store import StoreReader
from rankscope.monitor.why.arrivals import RANKERS

Every: TypeAlias = Literal["hour", "day"]


LENGTHS = {"hour": HOUR, "day": DAY}
LEVEL = 0.95
COUNTED = ("rankings", "labelled", "empty", "missing", "tied", "gaps", "documents", "unjudged")
SUMMED = ("values", "lower", "upper", "is_final", "defined", *COUNTED)


@dataclass(frozen=True, slots=True)
class Series:
    """The values of a measure over time, one for each window that has rankings.

    Args:
        measure: The measure.
        every: The length of the windows.
        model: The model that ranked; all together where it is `None`.
        version: Its version; likewise.
        slice: Names of attributes and values; empty for all rankings.
        level: The probability with which intervals cover.
        times: When the windows begin, in UTC, ascending.
        values: Their means; NaN where no ranking has a value.
        lower: The lower ends of the intervals, over users, or over queries where users are
            unknown; a user counts once an hour. NaN where there are fewer than two.
        upper: The upper ends.
        defined: How many rankings have a value: what means are divided by.
        rankings: How many rankings there are.
        labelled: How many of them have a label or a logged grade.
        empty: How many have no relevant document.
        missing: How many showed nothing.
        tied: How many have documents with one score next to each other.
        gaps: How many were logged at other ranks than 1, 2, 3, …
        documents: How many documents were shown.
        unjudged: How many of them are pending.
        is_final: Whether all attribution windows are closed.
    """

    measure: str
    every: Every
    model: str | None
    version: str | None
    slice: Slice
    level: float
    times: tuple[datetime, ...]
    values: tuple[float, ...]
    lower: tuple[float, ...]
    upper: tuple[float, ...]
    defined: tuple[int, ...]
    rankings: tuple[int, ...]
    labelled: tuple[int, ...]
    empty: tuple[int, ...]
    missing: tuple[int, ...]
    tied: tuple[int, ...]
    gaps: tuple[int, ...]
    documents: tuple[int, ...]
    unjudged: tuple[int, ...]
    is_final: tuple[bool, ...]

    def __len__(self) -> int:
        return len(self.times)

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON holds it; a missing value is `None`."""
        return {
            "starts" if name == "times" else name: value
            for name, value in write_record(self).items()
        }


def read_length(every: str) -> int:
    """Return the length of windows as the store counts time."""
    if every not in LENGTHS:
        raise UsageError(
            f"expected every='hour' or 'day', found {every!r}",
            hint="values are stored by hour and by day",
            code="bad_period",
        )
    return LENGTHS[every]


def find_newest_cells(
    store: StoreReader, project: str, digest: bytes, every: str, since: int
) -> list[CellRow]:
    """Return the newest final window of each version in production, without slices, as stored.

    There may be many, of which few are needed.
    """
    return store.newest_cells(
        project, digest, since, length=read_length(every), slice=name_place(())
    )


def make_series(
    cells: Iterable[StoredCell],
    definition: Definition,
    measure: str,
    *,
    every: Every = "hour",
    model: str | None = None,
    version: str | None = None,
    slice: Slice = (),  # noqa: A002 - the word for it
) -> Series:
    """Return the series of a measure from the cells of one slice."""
    name = definition.only(measure).measures[0].name
    [made] = make_all_series(cells, definition, [(model, version)], every=every, slice=slice)
    return made[name]


def make_all_series(
    cells: Iterable[StoredCell],
    definition: Definition,
    parts: Sequence[tuple[str | None, str | None]],
    *,
    every: Every = "hour",
    slice: Slice = (),  # noqa: A002 - the word for it
) -> list[dict[str, Series]]:
    """Return the series of all measures for several versions from the cells of one slice.

    The cells of a window are added up once, however many measures there are.
    """
    length = read_length(every)
    made = []
    for (model, version), buckets in zip(parts, gather_windows(cells, parts, length), strict=True):
        rows = [sum_window(buckets[start], definition) for start in sorted(buckets)]
        times = tuple(map(to_datetime, sorted(buckets)))
        made.append(
            {
                measure.name: Series(
                    measure=measure.name,
                    every=every,
                    model=model,
                    version=version,
                    slice=slice,
                    level=LEVEL,
                    times=times,
                    **{
                        name: tuple(row[measure.name][place] for row in rows)
                        for place, name in enumerate(SUMMED)
                    },
                )
                for measure in definition.measures
            }
        )
    return made


def gather_windows(
    cells: Iterable[StoredCell], parts: Sequence[tuple[str | None, str | None]], length: int
) -> list[dict[int, list[StoredCell]]]:
    """Return the cells of production by the start of their window, for several versions."""
    shown = [cell for cell in cells if cell.key.environment == "production"]
    gathered: list[dict[int, list[StoredCell]]] = []
    for model, version in parts:
        buckets: dict[int, list[StoredCell]] = {}
        for one in shown:
            key = one.key
            if model in {None, key.model} and version in {None, key.version}:
                buckets.setdefault(key.start - key.start % length, []).append(one)
        gathered.append(buckets)
    return gathered


def sum_window(cells: list[StoredCell], definition: Definition) -> dict[str, tuple[Any, ...]]:
    """Sum the cells of a window, and return what `SUMMED` lists, by measure."""
    check_deadline()
    total, spread = add_cells(cells)
    is_final = all(cell.key.is_mature for cell in cells)
    counts = [total.tally(name) for name in COUNTED]
    columns, means = name_columns(definition), total.means()
    found = {}
    for number, measure in enumerate(definition.measures):
        at = columns.index(measure.name)
        value, count = means[at], total.defined[at]
        lower = upper = math.nan
        if spread and count:
            lower, upper = find_interval(spread[number], mean=value, count=count, level=LEVEL)
        found[measure.name] = (value, lower, upper, is_final, count, *counts)
    return found


SLICE_COUNTS = ("rankings", "labelled", "empty")


def tabulate_slices(
    cells: Iterable[StoredCell],
    definition: Definition,
    measure: str,
    baseline: Baseline | None,
    *,
    model: str | None = None,
    version: str | None = None,
) -> Table:
    """Tabulate the slices of rankings in production."""
    name = definition.only(measure).measures[0].name
    at = name_columns(definition).index(name)
    number = [each.name for each in definition.measures].index(name)
    found: dict[Slice, list[StoredCell]] = {}
    for cell in cells:
        key = cell.key
        if (
            key.environment == "production"
            and key.slice
            and model in {None, key.model}
            and version in {None, key.version}
        ):
            found.setdefault(key.slice, []).append(cell)
    rows = []
    for place, members in found.items():
        check_deadline()
        total, _ = add_cells(members)
        value = make_plain(float(total.means()[at]))
        held = baseline.slices.get(place) if baseline is not None else None
        base = None if held is None else make_plain(float(held[number]))
        difference = None if value is None or base is None else value - base
        said = ", ".join(f"{attribute}={text}" for attribute, text in place)
        rows.append((said, value, *map(total.tally, SLICE_COUNTS), base, difference))
    rows.sort(key=_order)
    names = ("slice", "value", *SLICE_COUNTS, "baseline", "difference")
    return Table({name: [row[at] for row in rows] for at, name in enumerate(names)})


def _order(row: tuple[object, ...]) -> tuple[object, ...]:
    difference, rankings, said = row[-1], row[2], row[0]
    return difference is None, difference or 0.0, -rankings, said  # type: ignore[operator]


def rank_slices(table: Table, causes: Iterable[Mapping[str, str]]) -> Table:
    """Return a table of slices with their contributions, the confirmed ones first.

    A slice adds its share of the rankings times its difference from the baseline. A small slice
    with a large difference therefore doesn't stand above what made the mean fall. A contribution is
    confirmed if the slice is the cause of an incident, as a trace has found it.

    Examples:
        >>> table = Table(
        ...     {
        ...         "slice": ["app=beta", "device=tv", "device=phone"],
        ...         "value": [0.4, 0.6, 0.8],
        ...         "rankings": [10, 200, 800],
        ...         "baseline": [0.7, 0.8, 0.8],
        ...         "difference": [-0.3, -0.2, 0.0],
        ...     }
        ... )
        >>> found = rank_slices(table, [{"device": "tv", "version": "4"}])
        >>> found.column("slice")
        ('device=tv', 'app=beta', 'device=phone')
        >>> [round(each, 3) for each in found.column("contribution")]
        [-0.04, -0.003, 0.0]
        >>> found.column("is_confirmed")
        (1, 0, 0)
    """
    confirmed = {_name(cause) for cause in causes} - {frozenset()}
    names = list(table.names)
    at = {name: place for place, name in enumerate(names)}
    rows = [tuple(row) for row in table.rows()]
    whole = _count_rankings(rows, at)
    made: list[tuple[Cell, ...]] = []
    for row in rows:
        difference, rankings = row[at["difference"]], row[at["rankings"]]
        contribution = (
            float(difference) * float(rankings) / whole
            if isinstance(difference, float | int) and isinstance(rankings, float | int)
            else None
        )
        is_confirmed = int(frozenset(str(row[at["slice"]]).split(", ")) in confirmed)
        made.append((*row, contribution, is_confirmed))

    def key(row: tuple[Cell, ...]) -> tuple[bool, bool, float, str]:
        amount = row[-2]
        known = float(amount) if isinstance(amount, float | int) else 0.0
        return not row[-1], amount is None, known, str(row[at["slice"]])

    made.sort(key=key)
    names += ["contribution", "is_confirmed"]
    return Table({name: [row[place] for row in made] for place, name in enumerate(names)})


def _name(cause: Mapping[str, str]) -> frozenset[str]:
    return frozenset(f"{name}={text}" for name, text in cause.items() if name not in RANKERS)


def _count_rankings(rows: Iterable[tuple[Cell, ...]], at: Mapping[str, int]) -> float:
    """Return the number of all rankings: that of the attribute whose values have most."""
    counts: dict[str, float] = {}
    for row in rows:
        name, rankings = str(row[at["slice"]]), row[at["rankings"]]
        if ", " not in name and isinstance(rankings, float | int):
            attribute = name.partition("=")[0]
            counts[attribute] = counts.get(attribute, 0.0) + rankings
    return max(counts.values(), default=1.0) or 1.0
