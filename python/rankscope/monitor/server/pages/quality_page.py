"""The page of the quality of data."""

from __future__ import annotations

from rankscope.monitor.server.pages.overview_choice import LENGTHS, RANGES, Choice
from rankscope.monitor.server.pages.overview_page import SAID
from rankscope.monitor.server.pages.page import Page
from rankscope.monitor.server.pages.view_quality import QualityView, view_quality
from rankscope.monitor.server.parameter import Parameter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.monitor.monitor import Monitor
    from rankscope.monitor.server.endpoint import Asked


def _view(monitor: Monitor, asked: Asked) -> QualityView:
    return view_quality(monitor, Choice(**asked.query))


QUALITY = Page(
    path="/quality",
    twin="/quality.json",
    here="Data quality",
    template="quality.html.j2",
    summary="What was taken, discarded, late, or is open.",
    view=_view,
    parameters=(
        Parameter("range", "How far back.", schema={"type": "string", "enum": list(RANGES)}),
        Parameter(
            "every", "How long windows are.", schema={"type": "string", "enum": list(LENGTHS)}
        ),
    ),
    extras=lambda _view: {"ranges": SAID},
)
