"""The signals page: what was shown and how it was ordered, before labels arrive."""

from __future__ import annotations

import math
from typing import Annotated

from pydantic import Field

from rankscope.monitor.ask.signals import BY_NAME
from rankscope.monitor.definition.slices import Slicing
from rankscope.monitor.events.times import to_datetime, to_micros
from rankscope.monitor.server.api.fields import SliceText, make_query, read_part
from rankscope.monitor.server.pages.charts.lines import Line, Point
from rankscope.monitor.server.pages.groups import Group, group_incidents, list_episodes
from rankscope.monitor.server.pages.incidents import read_incidents
from rankscope.monitor.server.pages.measure_view import (
    OverTime,
    describe_values,
    draw_series,
    name_version,
    take_values,
)
from rankscope.monitor.server.pages.overview_range import (
    CHOSEN,
    MOST_LINES,
    Choice,
    read_extent,
)
from rankscope.monitor.server.pages.page import Page
from rankscope.monitor.signals.kinds import SIGNALS
from rankscope.records import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from rankscope.monitor.ask.signals import SignalSeries
    from rankscope.monitor.definition.configuration import Configuration
    from rankscope.monitor.definition.slices import Slice
    from rankscope.monitor.monitor import Monitor
    from rankscope.monitor.server.pages.charts.lines import LineChart
    from rankscope.monitor.server.pages.overview_range import Extent
    from rankscope.monitor.server.routing.endpoint import Call
    from rankscope.monitor.store.records import Version

QUANTILES = tuple(signal.name for signal in SIGNALS if signal.unit == "score")
"""These are one chart together."""
LIMITS = {"share": (0.0, 1.0), "score": (-math.inf, math.inf)}
"""Between what values lie that aren't just 0 or more."""
PARTS: Mapping[str, str] = {
    "": "What was shown",
    "query keys": "How it was ordered",
    "scores": "Scores",
}
"""The parts of the page, by what has to be logged for their signals."""
LOGGED: Mapping[str, str] = {
    "query keys": "No query of this range was asked on the 7 days before it. Log a query_key with "
    "each ranking, the same each time that a query is asked. These signals compare its lists.",
    "scores": "No scores are logged in this range. Log the score of each document with its rank.",
}


@record(frozen=True, slots=True, kw_only=True)
class SignalView:
    """A signal over time.

    Args:
        title: What people call it.
        says: What it says, in a sentence.
        unit: What it counts in.
        needs: What has to be logged for it.
        series: All rankings together first, then versions that have lines of their own.
        chart: The lines, and what is usual.
    """

    title: str
    says: str
    unit: str
    needs: str
    series: tuple[SignalSeries, ...]
    chart: LineChart

    @property
    def lines(self) -> tuple[str, ...]:
        """The names of the lines; one without a name where all are together."""
        return tuple(name_version(one.model, one.version) for one in self.series[1:]) or ("",)

    @property
    def is_share(self) -> bool:
        """Whether its values are written in percent."""
        return self.unit in {"share", "ratio"}

    @property
    def newest(self) -> tuple[SignalSeries, int] | None:
        """The newest window with a value of the first line that has one, and its series."""
        for one in self.series:
            at = one.find_newest()
            if at is not None:
                return one, at
        return None

    @property
    def missing(self) -> str:
        """Why it has no value, in a sentence."""
        if BY_NAME[self.series[0].signal].grain == "day":
            return "This is known once a whole day is over, and compared with the days before."
        return "This is compared with the days before, and is known once there are such days."

    @property
    def description(self) -> str:
        """The chart in words, for screen readers."""
        return describe_values(self.series[0], self.write)

    def write(self, value: float) -> str:
        """Write a value, with its unit where that is short.

        Examples:
            >>> view = SignalView(title="", says="", unit="share", needs="", series=(), chart=None)
            >>> view.write(0.123), view.write(math.nan)
            ('12.3%', '–')
        """
        if math.isnan(value):
            return "–"
        return f"{100 * value:.1f}%" if self.is_share else f"{value:.4g}"


@record(frozen=True, slots=True, kw_only=True)
class SignalsView(OverTime):
    """The signals of a project.

    Args:
        configuration: How the project is measured; `None` where it is not.
        now: As of when, in microseconds since 1970 in UTC.
        extent: The range of time, and what is shown of it.
        versions: The versions in production.
        slice: The slice; empty for all rankings.
        slices: The slices by one attribute that can be chosen.
        measures: The signals.
    """

    configuration: Configuration | None
    now: int
    extent: Extent
    versions: tuple[Version, ...]
    slice: Slice = ()
    slices: tuple[Slice, ...] = ()
    measures: tuple[SignalView, ...] = ()  # type: ignore[assignment]  # they are drawn alike

    @property
    def parts(self) -> list[tuple[str, str, list[SignalView]]]:
        """The parts: the title, why nothing is known in it, if so, and its signals."""
        return [
            (title, "" if any(each.newest for each in known) else LOGGED.get(needs, ""), known)
            for needs, title in PARTS.items()
            for known in [[each for each in self.measures if each.needs == needs]]
        ]


def view_all_signals(monitor: Monitor, choice: Choice, place: Slice) -> SignalsView:
    """Look at the signals of a project."""
    now = monitor.clock()
    configuration, versions, extent = read_extent(monitor, choice, now)
    view = SignalsView(configuration=configuration, now=now, extent=extent, versions=versions)
    if configuration is None:
        return view
    progress = monitor.store.progress(monitor.project, configuration.digest)
    values = () if progress is None else Slicing.from_json(progress.slicing).values
    return replace(
        view,
        slice=place,
        slices=tuple(((name, value),) for name, of in values for value in of),
        measures=view_signals(
            monitor, extent, groups=group_incidents(read_incidents(monitor)), place=place
        ),
    )


def view_signals(
    monitor: Monitor, extent: Extent, *, groups: Sequence[Group], place: Slice
) -> tuple[SignalView, ...]:
    """Look at all signals over time, with what happened meanwhile."""
    listed = sorted(
        (each for each in extent.versions if not each.folded), key=lambda each: each.first
    )
    # The number of a day is that of one version, so that each has a line of its own.
    apart = extent.lines or tuple(listed[-MOST_LINES:])
    read = monitor.all_signals(
        [(extent.model, extent.version), *((each.model, each.version) for each in apart)],
        every=extent.every,
        since=to_datetime(extent.since),
        until=to_datetime(extent.until),
        slice=place,
    )
    views = []
    shown = [each for each in SIGNALS if each.grain == "hour" or not place]
    for signal in shown:
        is_daily = signal.grain == "day"
        has_lines = extent.lines or (is_daily and len(apart) > 1)
        parts = read if has_lines else read[:1]
        if signal.unit != "score":
            made = tuple(part[signal.name] for part in parts)
            of_day = replace(extent, every="day") if is_daily else extent
            views.append(
                SignalView(
                    title=signal.label,
                    says=signal.says,
                    unit=signal.unit,
                    needs=signal.needs,
                    series=made,
                    chart=draw_series(
                        made,
                        of_day,
                        take_values,
                        episodes=list_episodes(groups, signal=signal.name),
                        within=LIMITS.get(signal.unit, (0.0, math.inf)),
                        is_share=signal.unit in {"share", "ratio"},
                        beside=[_draw_usual(made[0])],
                    ),
                )
            )
    if not place:
        views.append(_view_quantiles(parts, replace(extent, every="day")))
    return tuple(views)


def _draw_usual(series: SignalSeries) -> Line:
    """Draw what is usual."""
    starts = map(to_micros, series.times)
    return Line("usual", tuple(map(Point, starts, series.usual)), "usual")


def _view_quantiles(parts: Sequence[Mapping[str, SignalSeries]], extent: Extent) -> SignalView:
    """Look at the quantiles of scores: the median, and how far the others are from it."""

    def spread(part: Mapping[str, SignalSeries], at: int) -> SignalSeries:
        low, median, high = (part[QUANTILES[place]] for place in (at, 2, 4 - at))
        return replace(median, lower=low.values, upper=high.values)

    made = tuple(spread(part, 0) for part in parts)
    inner = [Line("", tuple(take_values(spread(part, 1))), "range") for part in parts]
    return SignalView(
        title="Quantiles of scores",
        says="The median of the scores of each day; bands have 50% and 90% of them.",
        unit="score",
        needs="scores",
        series=made,
        chart=draw_series(
            made,
            extent,
            take_values,
            with_values=tuple(
                end for one in made for end in (*one.lower, *one.upper) if not math.isnan(end)
            ),
            within=LIMITS["score"],
            beside=inner if len(parts) == 1 else (),
        ),
    )


class SignalsPageQuery(make_query("SignalsChoice", CHOSEN), total=False):  # type: ignore[call-arg, misc]  # it is made
    """What is shown of the signals."""

    # A form sends an empty text for all rankings.
    slice: Annotated[
        tuple[SliceText, ...],
        Field(description="An attribute and its value, such as device=tv; two for a pair."),
    ]


def _view(monitor: Monitor, call: Call) -> SignalsView:
    query: dict[str, Any] = dict(call.query)
    place = tuple(read_part(each) for each in query.pop("slice", ()) if each)
    return view_all_signals(monitor, Choice(**query), place)


SIGNALS_PAGE = Page(
    path="/signals",
    place=2,
    here="Signals",
    template="signals.html.j2",
    summary="What was shown and how it was ordered, before labels arrive.",
    view=_view,
    query=SignalsPageQuery,
)
PAGES = (SIGNALS_PAGE,)
