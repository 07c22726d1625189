"""The page of the overview."""

from __future__ import annotations

from rankscope.monitor.server.pages.alerts_page import trace_of
from rankscope.monitor.server.pages.maturity_chart import draw_maturity
from rankscope.monitor.server.pages.overview_choice import LENGTHS, RANGES, Choice
from rankscope.monitor.server.pages.page import Page
from rankscope.monitor.server.pages.view_overview import name_version, view_overview
from rankscope.monitor.server.parameter import Parameter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.monitor.monitor import Monitor
    from rankscope.monitor.server.endpoint import Asked
    from rankscope.monitor.server.pages.view_overview import Overview

SAID = {
    "1d": "a day",
    "7d": "7 days",
    "30d": "30 days",
    "90d": "90 days",
    "1y": "a year",
    "all": "all",
}


def _view(monitor: Monitor, asked: Asked) -> Overview:
    return view_overview(monitor, Choice(**asked.query))


def _extras(view: Overview) -> dict[str, object]:
    return {
        "ranges": SAID,
        "name_version": name_version,
        "trace_of": trace_of,
        "maturity": None if view.maturity is None else draw_maturity(view.maturity),
    }


OVERVIEW = Page(
    path="/",
    twin="/overview.json",
    here="Overview",
    template="overview.html.j2",
    summary="How good rankings are now and over time, held against the baseline.",
    view=_view,
    parameters=(
        Parameter("range", "How far back.", schema={"type": "string", "enum": list(RANGES)}),
        Parameter(
            "every", "How long windows are.", schema={"type": "string", "enum": list(LENGTHS)}
        ),
        Parameter("model", "Only this model."),
        Parameter("version", "Only this version."),
        Parameter("measure", "The measure whose slices are listed."),
    ),
    extras=_extras,
)
