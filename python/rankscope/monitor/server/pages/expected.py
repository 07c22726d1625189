"""The page of expected values: before labels arrive, and how good the forecasts were."""

from __future__ import annotations

from rankscope.monitor.ask.series import LENGTHS
from rankscope.monitor.events.times import to_datetime, to_micros
from rankscope.monitor.expect.kinds import DOUBTS, REFUSALS
from rankscope.monitor.server.api.fields import make_query
from rankscope.monitor.server.pages.charts.lines import Line, Point, draw_lines
from rankscope.monitor.server.pages.measure_view import (
    OverTime,
    draw_expected,
    read_expected,
    take_expected,
)
from rankscope.monitor.server.pages.overview_range import CHOSEN, RANGES, Choice, read_extent
from rankscope.monitor.server.pages.page import Page
from rankscope.output.table import name_rows
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from rankscope.monitor.ask.expected import Expected
    from rankscope.monitor.definition.configuration import Configuration
    from rankscope.monitor.monitor import Monitor
    from rankscope.monitor.server.pages.charts.lines import LineChart
    from rankscope.monitor.server.pages.overview_range import Extent
    from rankscope.monitor.store.records import Version

MOST_ROWS = 200
FEWEST_DAYS = 20
"""Of fewer days, the share within the intervals says little."""


@record(frozen=True, slots=True, kw_only=True)
class ExpectedView(OverTime):
    """The expected values of a project.

    Args:
        configuration: How the project is measured; `None` where it is not.
        now: As of when, in microseconds since 1970 in UTC.
        extent: The range of time, and what is shown of it.
        versions: The versions in production.
        forecast_measures: The measures that are forecast.
        expected: The forecasts of one of them; `None` where none is forecast.
        chart: What was expected, and what became final.
        forecasts: How good the forecasts of days in the range were, by version and slice.
    """

    configuration: Configuration | None
    now: int
    extent: Extent
    versions: tuple[Version, ...]
    forecast_measures: tuple[str, ...] = ()
    expected: Expected | None = None
    chart: LineChart | None = None
    forecasts: tuple[Mapping[str, Any], ...] = ()

    @property
    def reasons(self) -> list[str]:
        """The names of the reasons for doubt that there are, in the order of their table."""
        said = () if self.expected is None else self.expected.reasons
        return [name for name in REASONS if any(name in names for names in said)]

    @property
    def covered(self) -> tuple[int, int]:
        """How many final values of days, of how many, are within their intervals."""
        whole = [row for row in self.forecasts if not row["slice"]]
        days = sum(row["days"] for row in whole)
        return days - sum(row["missed"] for row in whole), days

    @property
    def is_few(self) -> bool:
        """Whether there are too few days to tell 90 % from much less."""
        return self.covered[1] < FEWEST_DAYS


REASONS = DOUBTS | REFUSALS


def view_expected(monitor: Monitor, choice: Choice) -> ExpectedView:
    """Look at the expected values of a project."""
    now = monitor.clock()
    configuration, versions, extent = read_extent(monitor, choice, now)
    view = ExpectedView(configuration=configuration, now=now, extent=extent, versions=versions)
    if configuration is None or not monitor.forecast_measures:
        return view
    measures = monitor.forecast_measures
    measure = choice.measure if choice.measure in measures else measures[0]
    expected = read_expected(monitor, extent, measure, ())
    if expected is None:
        return view
    starts = map(to_micros, expected.times)
    finals = tuple(Point(*row) for row in zip(starts, expected.finals, strict=True))
    span = {"since": to_datetime(extent.since), "until": to_datetime(extent.until)}
    return ExpectedView(
        configuration=configuration,
        now=now,
        extent=extent,
        versions=versions,
        forecast_measures=measures,
        expected=expected,
        chart=draw_lines(
            [Line("", finals), *draw_expected(take_expected(expected))],
            since=extent.since,
            until=extent.until,
            length=extent.length,
            within=(0.0, 1.0),
        ),
        forecasts=tuple(name_rows(monitor.forecasts(measure, **span))),
    )


EXPECTED = Page(
    path="/expected",
    here="Overview",
    template="expected.html.j2",
    summary="Values that are expected before labels arrive, and how good the forecasts were.",
    view=lambda monitor, call: view_expected(monitor, Choice(**call.query)),
    query=make_query(
        "ExpectedPageQuery",
        CHOSEN | {"measure": "The measure."},
        range=tuple(RANGES),
        every=tuple(LENGTHS),
    ),
)
PAGES = (EXPECTED,)
WORDS = {"forecast_reasons": REASONS, "most_forecasts": MOST_ROWS}
