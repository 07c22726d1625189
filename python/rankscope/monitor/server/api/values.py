"""Values over time, slices, versions, the baseline, and data quality."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Required, cast

from pydantic import Field
from typing_extensions import TypedDict

from rankscope._show.table import name_rows
from rankscope.errors import UsageError
from rankscope.monitor.definition.configuration import Configuration
from rankscope.monitor.definition.slices import Slice
from rankscope.monitor.events.times import to_datetimes
from rankscope.monitor.monitor import Monitor
from rankscope.monitor.plain import write_record
from rankscope.monitor.server.api.fields import (
    MOST_POINTS,
    Count,
    Every,
    Measure,
    Model,
    ModelVersion,
    Since,
    SliceParts,
    Until,
    WindowLength,
    check_span,
    refuse_long,
)
from rankscope.monitor.server.routing.endpoint import Call, Route
from rankscope.monitor.setup.fields import Pair, Time
from rankscope.monitor.shapes import Number, OneOf
from rankscope.monitor.signals.kinds import NAMES

SPAN = frozenset({"since", "until", "model", "version"})


class SpanQuery(TypedDict, total=False):
    """A span of time."""

    since: Since
    until: Until


class SlicesQuery(SpanQuery, total=False):
    """Which slices are read."""

    measure: Required[Measure]
    model: Model
    version: ModelVersion


class SeriesQuery(SlicesQuery, total=False):
    """Which series is read."""

    every: WindowLength
    slice: SliceParts


class PartQuery(SpanQuery, total=False):
    """Which windows are read."""

    every: WindowLength
    model: Model
    version: ModelVersion
    slice: SliceParts


class Windows(TypedDict):
    """The values of windows, with their intervals."""

    every: Every
    model: str | None
    version: str | None
    slice: list[Pair]
    level: Number
    starts: list[Time]
    values: list[Number | None]
    lower: list[Number | None]
    upper: list[Number | None]


class Series(Windows):
    """The values of a measure over time."""

    measure: str
    defined: list[Count]
    rankings: list[Count]
    labelled: list[Count]
    empty: list[Count]
    missing: list[Count]
    tied: list[Count]
    gaps: list[Count]
    documents: list[Count]
    unjudged: list[Count]
    is_final: list[bool]


class SignalsQuery(PartQuery, total=False):
    """Which signal is read."""

    signal: Required[
        Annotated[str, OneOf(*NAMES), Field(description="One of the signals, such as length.")]
    ]


class Signal(Windows):
    """A signal over time: what was shown, known before labels arrive."""

    signal: str
    label: str
    usual: list[Number | None]
    defined: list[Count]
    rankings: list[Count]


class SliceValue(TypedDict):
    """The value of a slice."""

    slice: str
    value: Number | None
    rankings: Count
    labelled: Count
    empty: Count
    baseline: Number | None
    difference: Number | None


class Slices(TypedDict):
    """The slices of a span."""

    measure: str
    left_out: Count
    slices: list[SliceValue]


class Maturity(TypedDict):
    """How many labels are there, by the age of a ranking."""

    ages_seconds: list[Count]
    counts: list[Count]
    shares: list[Number]


class Quality(TypedDict):
    """The quality of the data."""

    events: dict[str, Count]
    pending_labels: Count
    late: Count
    unshown: Count
    folded: dict[str, Count]
    folded_versions: Count
    folded_rankings: Count
    shown: dict[str, Count]
    curve: Maturity
    newest: Time | None
    as_of: Time | None
    behind: Count
    lost: Count


class Version(TypedDict):
    """A version of a model."""

    model: str
    version: str
    first: Time
    last: Time
    rankings: Count
    folded: Count


class Versions(TypedDict):
    """The versions of models in production."""

    versions: list[Version]


class MeanValue(TypedDict):
    """A mean with its confidence interval."""

    value: Number | None
    lower: Number | None
    upper: Number | None


class BaselineValues(TypedDict):
    """A baseline."""

    kind: str
    of: str
    rankings: Count
    means: dict[str, MeanValue]


class BaselineAnswer(TypedDict):
    """The baseline of a project, if it has one."""

    baseline: BaselineValues | None


def get_series(monitor: Monitor, call: Call) -> Series:
    """Return the values of a measure over time, with intervals and counts."""
    query: SeriesQuery = call.query
    every = query.get("every", "hour")
    check_span(query, monitor.clock(), every)
    parts = order_slice(query.get("slice", ()), monitor.configuration)
    series = monitor.series(query["measure"], every=every, slice=parts, **_read_part(query))
    if len(series) > MOST_POINTS:
        raise refuse_long(series.every)
    return cast("Series", series.to_dict())


def get_signal(monitor: Monitor, call: Call) -> Signal:
    """Return a signal over time: what was shown, known before labels arrive."""
    query: SignalsQuery = call.query
    every = query.get("every", "hour")
    check_span(query, monitor.clock(), every)
    parts = order_slice(query.get("slice", ()), monitor.configuration)
    series = monitor.signals(every=every, slice=parts, **_read_part(query))[query["signal"]]
    if len(series) > MOST_POINTS:
        raise refuse_long(series.every)
    return cast("Signal", series.to_dict())


def _read_part(query: Mapping[str, Any]) -> dict[str, Any]:
    """Return the span, the model and the version of a query."""
    return to_datetimes({name: value for name, value in query.items() if name in SPAN})


def get_slices(monitor: Monitor, call: Call) -> Slices:
    """Return the slices of a span, the lowest against the baseline first."""
    query: SlicesQuery = call.query
    check_span(query, monitor.clock())
    given: dict[str, Any] = dict(query)
    measure = given.pop("measure")
    table = monitor.slices(measure, **to_datetimes(given))
    rows: list[Any] = name_rows(table)
    left_out = max(len(rows) - MOST_POINTS, 0)
    return {"measure": measure, "slices": rows[:MOST_POINTS], "left_out": left_out}


def get_quality(monitor: Monitor, call: Call) -> Quality:
    """Return how many events were accepted, rejected, late, or are waiting."""
    query: SpanQuery = call.query
    check_span(query, monitor.clock())
    return cast("Quality", monitor.quality(**to_datetimes(query)).to_dict())


def get_maturity(monitor: Monitor, _call: Call) -> Maturity:
    """Return the share of labels that has arrived, by the age of a ranking."""
    return cast("Maturity", monitor.quality().to_dict()["curve"])


def list_versions(monitor: Monitor, _call: Call) -> Versions:
    """Return the versions of models in production, the first shown first."""
    return {"versions": [cast("Version", write_record(version)) for version in monitor.versions()]}


def get_baseline(monitor: Monitor, _call: Call) -> BaselineAnswer:
    """Return the baseline that values are compared with."""
    baseline = monitor.baseline()
    if baseline is None:
        return {"baseline": None}
    means = {
        name: write_record(mean, ("value", "lower", "upper"))
        for name, mean in baseline.means.items()
    }
    said = {**write_record(baseline, ("kind", "of", "rankings")), "means": means}
    return {"baseline": cast("BaselineValues", said)}


def order_slice(parts: Slice, configuration: Configuration) -> Slice:
    """Return a slice as windows have it; refuse one that is not kept, which differs from empty."""
    values = dict(parts)
    singles = tuple((name,) for name in configuration.attributes)
    for known in ((), *singles, *configuration.all_pairs):
        if len(values) == len(parts) and values.keys() == {*known}:
            return tuple((name, values[name]) for name in known)
    names = ", ".join(configuration.attributes) or "none"
    raise UsageError(
        f"expected a slice by an attribute, or a pair, of those configured: {names}",
        hint="name it in the configuration first",
        code="unknown_slice",
    )


ROUTES = (
    Route("GET", "/v1/series", get_series, query=SeriesQuery, result=Series),
    Route("GET", "/v1/signals", get_signal, query=SignalsQuery, result=Signal),
    Route("GET", "/v1/slices", get_slices, query=SlicesQuery, result=Slices),
    Route("GET", "/v1/quality", get_quality, query=SpanQuery, result=Quality),
    Route("GET", "/v1/maturity", get_maturity, result=Maturity),
    Route("GET", "/v1/versions", list_versions, result=Versions),
    Route("GET", "/v1/baseline", get_baseline, result=BaselineAnswer),
)
