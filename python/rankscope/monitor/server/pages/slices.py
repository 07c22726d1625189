"""The slices page: all slices in order of their contribution, or one of them over time."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from rankscope.monitor.ask.series import rank_slices
from rankscope.monitor.events.times import to_datetime
from rankscope.monitor.links import add_query
from rankscope.monitor.plain import write_record
from rankscope.monitor.rules.settings import described
from rankscope.monitor.server.api.fields import SliceParts
from rankscope.monitor.server.http.problems import RefusedRequestError
from rankscope.monitor.server.http.query import LONGEST
from rankscope.monitor.server.pages.groups import Group, group_incidents
from rankscope.monitor.server.pages.incidents import read_incidents
from rankscope.monitor.server.pages.measure_view import (
    OverTime,
    draw_counts,
    view_measures,
)
from rankscope.monitor.server.pages.overview_range import Choice, read_extent
from rankscope.monitor.server.pages.page import Page, list_states
from rankscope.output.table import name_rows
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from rankscope.monitor.definition.configuration import Configuration
    from rankscope.monitor.definition.slices import Slice
    from rankscope.monitor.monitor import Monitor
    from rankscope.monitor.server.pages.charts.lines import LineChart
    from rankscope.monitor.server.pages.measure_view import MeasureView
    from rankscope.monitor.server.pages.overview_range import Extent
    from rankscope.monitor.server.routing.endpoint import Call
    from rankscope.monitor.store.records import Version


MOST_SLICES = 200

Text = Annotated[str, described(maxLength=LONGEST)]


class SlicesQuery(TypedDict, total=False):
    """What of the slices is shown."""

    range: Annotated[Text, Field(description="The range of time to show.")]
    every: Annotated[Text, Field(description="The length of the windows.")]
    model: Annotated[Text, Field(description="Show only this model.")]
    version: Annotated[Text, Field(description="Show only this version.")]
    measure: Annotated[Text, Field(description="The measure by which slices are ordered.")]
    slice: SliceParts


@record(frozen=True, slots=True, kw_only=True)
class SlicesView(OverTime):
    """The slices of a project, or one of them over time.

    Args:
        configuration: How the project is measured; `None` where it is not.
        now: As of when, in microseconds since 1970 in UTC.
        extent: The range of time, and what is shown of it.
        versions: The versions in production.
        measure: The measure by which slices are ordered.
        slice: The slice that is shown over time; empty for the list of all.
        measures: The measures of the slice over time.
        counts: What its values stand on.
        groups: The incidents that concern the slice, by cause.
        rows: All slices, those that lower the mean most first; none where one is shown.
    """

    configuration: Configuration | None
    now: int
    extent: Extent
    versions: tuple[Version, ...]
    measure: str
    slice: Slice
    measures: tuple[MeasureView, ...]
    counts: Mapping[str, LineChart]
    groups: tuple[Group, ...]
    rows: tuple[SliceRow, ...]

    @property
    def name(self) -> str:
        """The name of the slice."""
        return ", ".join(f"{name}={value}" for name, value in self.slice)


def view_slices(monitor: Monitor, choice: Choice, slice_: Slice = ()) -> SlicesView:
    """Look at the slices of a project, or at one of them over time."""
    now = monitor.clock()
    configuration, versions, extent = read_extent(monitor, choice, now)
    measures: tuple[MeasureView, ...] = ()
    rows: tuple[SliceRow, ...] = ()
    groups: tuple[Group, ...] = ()
    measure = ""
    if configuration is not None:
        measure = choice.measure or monitor.measures[-1]
        slice_ = find_dimension(slice_, configuration)
        known = group_incidents(read_incidents(monitor))
        if slice_:
            groups = _keep_slice(known, slice_)
            measures = view_measures(
                monitor,
                extent,
                baseline=monitor.baseline(),
                groups=groups,
                rules=list_states(monitor),
                slice=slice_,
            )
        elif configuration.attributes:
            rows = list_slices(monitor, measure, extent, known)
    return SlicesView(
        configuration=configuration,
        now=now,
        extent=extent,
        versions=versions,
        measure=measure,
        slice=slice_,
        measures=measures,
        counts=draw_counts(measures, extent),
        groups=groups,
        rows=rows,
    )


def find_dimension(slice_: Slice, configuration: Configuration) -> Slice:
    """Return a slice with its attributes in the order in which the project is sliced."""
    names = tuple(name for name, _ in slice_)
    singles = tuple((name,) for name in configuration.attributes)
    for known in ((), *singles, *configuration.all_pairs):
        if sorted(names) == sorted(known):
            values = dict(slice_)
            return tuple((name, values[name]) for name in known)
    sliced = ", ".join(configuration.attributes) or "nothing"
    raise RefusedRequestError(
        422,
        f"expected a slice by what the project is sliced by, which is {sliced}",
        code="bad_slice",
    )


def address_slice(slice_: Slice, extent: Extent) -> str:
    """Return the path of the page of a slice."""
    pairs = [f"{name}={value}" for name, value in slice_]
    return add_query(
        "/slices", range=extent.range, model=extent.model, version=extent.version, slice=pairs
    )


def _keep_slice(groups: tuple[Group, ...], slice_: Slice) -> tuple[Group, ...]:
    """Keep the incidents that concern a slice: its own, and those of what it is part of."""
    wanted = set(slice_)
    kept = (
        tuple(each for each in group.parts if wanted.issuperset(each.slice)) for group in groups
    )
    return tuple(Group(parts) for parts in kept if parts)


def _view(monitor: Monitor, call: Call) -> SlicesView:
    query = dict(call.query)
    slice_ = tuple(query.pop("slice", ()))
    return view_slices(monitor, Choice(**query), slice_)


SLICES = Page(
    path="/slices",
    here="Overview",
    template="slices.html.j2",
    summary="All slices by their contribution, or one slice over time.",
    view=_view,
    query=SlicesQuery,
)
PAGES = (SLICES,)
WORDS = {"address_slice": address_slice, "most_slices": MOST_SLICES}


@record(frozen=True, slots=True, kw_only=True)
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
