"""The page of the trace."""

from __future__ import annotations

from rankscope.monitor.server.pages.page import Page
from rankscope.monitor.server.pages.view_trace import FIELDS, view_trace
from rankscope.monitor.server.parameter import Parameter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.monitor.monitor import Monitor
    from rankscope.monitor.server.endpoint import Asked
    from rankscope.monitor.server.pages.view_trace import TraceView

WORDS = {
    "since": "From which time on the rankings {} are, in UTC.",
    "until": "Up to before which time, in UTC.",
    "model": "The model that ranked them.",
    "version": "Its version.",
    "environment": "Where they were made.",
}
FACTS = {
    "ideal": "what the best order adds up to",
    "relevant": "relevant documents",
    "without relevant": "share without relevant documents",
    "gained": "what the list adds up to",
}


def _view(monitor: Monitor, asked: Asked) -> TraceView:
    return view_trace(monitor, asked.query)


def _describe(field: str) -> str:
    side, part = field.split("_")
    return WORDS[part].format(side)


TRACE = Page(
    path="/trace",
    twin="/trace.json",
    here="Trace",
    template="trace.html.j2",
    summary="Why a mean changed between two spans.",
    view=_view,
    extras=lambda _view: {"facts": FACTS},
    is_trace=True,
    parameters=(
        Parameter("measure", "The measure."),
        *(Parameter(field, _describe(field)) for field in FIELDS),
    ),
)
