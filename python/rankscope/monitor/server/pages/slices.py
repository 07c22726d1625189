"""The pages of slices: all of them in order of their contribution, and one over time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

from pydantic import Field

from rankscope._show.table import name_rows
from rankscope.monitor.ask.series import rank_slices
from rankscope.monitor.definition.configuration import Configuration
from rankscope.monitor.definition.slices import Slice
from rankscope.monitor.events.times import to_datetime
from rankscope.monitor.links import add_query
from rankscope.monitor.monitor import Monitor
from rankscope.monitor.plain import write_record
from rankscope.monitor.server.api.fields import Measure, SliceParts, make_query
from rankscope.monitor.server.api.values import order_slice
from rankscope.monitor.server.pages.charts.lines import LineChart
from rankscope.monitor.server.pages.groups import Group, group_incidents
from rankscope.monitor.server.pages.incidents import read_incidents
from rankscope.monitor.server.pages.measure_view import (
    MeasureView,
    OverTime,
    draw_counts,
    view_measures,
)
from rankscope.monitor.server.pages.overview_range import CHOSEN, Choice, Extent, read_extent
from rankscope.monitor.server.pages.page import Page, list_states
from rankscope.monitor.server.routing.endpoint import Call
from rankscope.monitor.store.records import Version

MOST_SLICES = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class SlicesView(OverTime):
    """The slices of a project.

    Args:
        configuration: How the project is measured; `None` where it is not.
        now: As of when, in microseconds since 1970 in UTC.
        extent: The range of time, and what is shown of it.
        versions: The versions in production.
        measure: The measure by which slices are ordered.
        rows: All slices, those that lower the mean most first.
    """

    configuration: Configuration | None
    now: int
    extent: Extent
    versions: tuple[Version, ...]
    measure: str
    rows: tuple[SliceRow, ...]


def view_slices(monitor: Monitor, choice: Choice) -> SlicesView:
    """Look at the slices of a project."""
    now = monitor.clock()
    configuration, versions, extent = read_extent(monitor, choice, now)
    rows: tuple[SliceRow, ...] = ()
    measure = ""
    if configuration is not None:
        measure = choice.measure or monitor.measures[-1]
        if configuration.attributes:
            rows = list_slices(monitor, measure, extent, group_incidents(read_incidents(monitor)))
    return SlicesView(
        configuration=configuration,
        now=now,
        extent=extent,
        versions=versions,
        measure=measure,
        rows=rows,
    )


SLICES = Page(
    path="/slices",
    here="Overview",
    template="slices.html.j2",
    summary="All slices by their contribution.",
    view=lambda monitor, call: view_slices(monitor, Choice(**call.query)),
    query=make_query(
        "SlicesQuery",
        CHOSEN | {"measure": "The measure by which slices are ordered."},
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SliceView(OverTime):
    """A slice over time.

    Args:
        slice: The slice; empty for all rankings.
        configuration: How the project is measured; `None` where it is not.
        now: As of when, in microseconds since 1970 in UTC.
        extent: The range of time, and what is shown of it.
        versions: The versions in production.
        chosen: The measures that the address names.
        measures: The measures that are shown.
        groups: The incidents that concern the slice, by cause.
    """

    slice: Slice
    configuration: Configuration | None
    now: int
    extent: Extent
    versions: tuple[Version, ...]
    chosen: tuple[str, ...] = ()
    measures: tuple[MeasureView, ...] = ()
    groups: tuple[Group, ...] = ()

    @property
    def counts(self) -> Mapping[str, LineChart]:
        """What the values stand on."""
        return draw_counts(self.measures, self.extent)


class SliceQuery(make_query("SpanQuery", CHOSEN), total=False):  # type: ignore[call-arg, misc]  # it is made
    """What is shown of a slice."""

    measure: Annotated[
        tuple[Measure, ...], Field(description="Show only these measures (default: all).")
    ]
    slice: SliceParts


def view_slice(monitor: Monitor, call: Call) -> SliceView:
    """Look at a slice over time."""
    query: dict[str, Any] = dict(call.query)
    place, chosen = query.pop("slice", ()), query.pop("measure", ())
    now = monitor.clock()
    configuration, versions, extent = read_extent(monitor, Choice(**query), now)
    view = SliceView(
        slice=place, configuration=configuration, now=now, extent=extent, versions=versions
    )
    if configuration is None:
        return view
    place = order_slice(place, configuration)
    for each in chosen:
        configuration.definition.only(each)  # refuses one that is not measured
    groups = keep_slice(group_incidents(read_incidents(monitor)), place)
    measures = view_measures(
        monitor,
        extent,
        baseline=monitor.baseline(),
        groups=groups,
        rules=list_states(monitor),
        slice=place,
    )
    return replace(
        view,
        slice=place,
        chosen=chosen,
        measures=tuple(each for each in measures if each.measure in (chosen or monitor.measures)),
        groups=groups,
    )


def name_slice(slice_: Slice) -> str:
    """Name a slice, as `read_slice` reads it.

    Examples:
        >>> name_slice((("device", "tv"), ("country", "jp"))), name_slice(())
        ('device=tv, country=jp', 'all rankings')
    """
    return ", ".join(f"{name}={value}" for name, value in slice_) or "all rankings"


def keep_slice(groups: Sequence[Group], slice_: Slice) -> tuple[Group, ...]:
    """Keep the incidents that concern a slice: its own, and those of what it is part of."""
    wanted = set(slice_)
    kept = (
        tuple(each for each in group.parts if wanted.issuperset(each.slice)) for group in groups
    )
    return tuple(Group(parts) for parts in kept if parts)


def address_slice(slice_: Slice, extent: Extent) -> str:
    """Return the path of a slice over time."""
    pairs = [f"{name}={value}" for name, value in slice_]
    return add_query(
        SLICE.path, range=extent.range, model=extent.model, version=extent.version, slice=pairs
    )


SLICE = Page(
    path="/slice",
    here="Overview",
    template="slice.html.j2",
    summary="A slice over time: its measures, and the incidents that concern it.",
    view=view_slice,
    query=SliceQuery,
)
PAGES = (SLICES, SLICE)
WORDS = {"most_slices": MOST_SLICES, "name_slice": name_slice, "address_slice": address_slice}


@dataclass(frozen=True, slots=True, kw_only=True)
class SliceRow:
    """A slice over a span of time, next to its baseline.

    Args:
        name: Its name, such as `device=tv, country=jp`.
        slice: Pairs of an attribute and its value.
        value: Its mean; `None` where no ranking has a value.
        baseline: The mean of the slice in the baseline, if it has one.
        difference: The value less the baseline.
        contribution: The difference times its share of the rankings: how much it moves the mean.
        rankings: How many rankings it has.
        labelled: How many of them have a label.
        empty: How many have no relevant document.
        is_confirmed: Whether it is the cause of an incident, as a trace has found it.
    """

    name: str
    slice: Slice
    value: float | None
    baseline: float | None
    difference: float | None
    contribution: float | None
    rankings: int
    labelled: int
    empty: int
    is_confirmed: bool

    def to_dict(self) -> dict[str, Any]:
        """Return the view as dicts and lists, for JSON."""
        return {
            **write_record(self, FIELDS),
            "slice": self.name,
            "is_confirmed": self.is_confirmed,
            "attributes": [list(pair) for pair in self.slice],
        }


FIELDS = ("value", "rankings", "labelled", "empty", "baseline", "difference", "contribution")


def list_slices(
    monitor: Monitor, measure: str, extent: Extent, groups: Iterable[Group]
) -> tuple[SliceRow, ...]:
    """List the slices: causes of active incidents first, then those that lower the mean most."""
    every, since = extent.whole
    table = monitor.slices(
        measure,
        every=every,
        since=to_datetime(since),
        until=to_datetime(extent.until),
        model=extent.model,
        version=extent.version,
    )
    causes = [
        each.cause["slice"]
        for group in groups
        for each in group.active
        if each.cause is not None and isinstance(each.cause.get("slice"), dict)
    ]
    ranked = rank_slices(table, causes)
    return tuple(
        SliceRow(
            name=row["slice"],
            slice=read_slice(row["slice"], monitor.configuration),
            is_confirmed=bool(row["is_confirmed"]),
            **{name: row[name] for name in FIELDS},
        )
        for row in name_rows(ranked)
    )


def read_slice(name: str, configuration: Configuration) -> Slice:
    """Read the name of a slice, by the attributes that the project is sliced by."""
    pairs = [pair for each in configuration.all_pairs for pair in (each, each[::-1])]
    for one, other in pairs:
        head, found, tail = name.partition(f", {other}=")
        if found and head.startswith(f"{one}="):
            return (one, head[len(one) + 1 :]), (other, tail)
    attribute = next((each for each in configuration.attributes if name.startswith(f"{each}=")), "")
    return ((attribute, name[len(attribute) + 1 :]),)
