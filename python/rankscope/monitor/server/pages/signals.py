"""The signals page: what was shown and how it was ordered, before labels arrive."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from rankscope.monitor.definition.slices import Slicing
from rankscope.monitor.server.api.fields import SliceText, make_query, read_part
from rankscope.monitor.server.pages.groups import group_incidents
from rankscope.monitor.server.pages.incidents import read_incidents
from rankscope.monitor.server.pages.measure_view import OverTime
from rankscope.monitor.server.pages.overview_range import CHOSEN, Choice, read_extent
from rankscope.monitor.server.pages.page import Page
from rankscope.monitor.server.pages.signal_view import view_mixes, view_signals
from rankscope.records import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from rankscope.monitor.definition.configuration import Configuration
    from rankscope.monitor.definition.slices import Slice
    from rankscope.monitor.monitor import Monitor
    from rankscope.monitor.server.pages.overview_range import Extent
    from rankscope.monitor.server.pages.signal_view import MixView, SignalView
    from rankscope.monitor.server.routing.endpoint import Call
    from rankscope.monitor.store.records import Version

PARTS: Mapping[str, str] = {
    "": "What was shown",
    "query keys": "How it was ordered",
    "scores": "Scores",
}
"""The parts of the page, by what has to be logged for their signals."""
LOGGED: Mapping[str, str] = {
    "query keys": "These signals compare lists of the same query, and no query of this range was "
    "asked on the 7 days before it. Log a query_key with each ranking, the same each time that a "
    "query is asked.",
    "scores": "No scores are known in this range. Log the score of each document, beside its rank.",
}


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
        mixes: The mixes of attributes, of all rankings together.
    """

    configuration: Configuration | None
    now: int
    extent: Extent
    versions: tuple[Version, ...]
    slice: Slice = ()
    slices: tuple[Slice, ...] = ()
    measures: tuple[SignalView, ...] = ()  # type: ignore[assignment]  # they are drawn alike
    mixes: tuple[MixView, ...] = ()

    @property
    def parts(self) -> list[tuple[str, str, list[SignalView]]]:
        """The parts: the title, why nothing is known in it, if so, and its signals."""
        return [
            (title, "" if any(each.newest for each in of) else LOGGED.get(needs, ""), of)
            for needs, title in PARTS.items()
            for of in [[each for each in self.measures if each.signal.needs == needs]]
        ]

    @property
    def beside_set(self) -> list[SignalView]:
        """The signals that are known of both the baseline set and production."""
        return [each for each in self.measures if each.set is not None and each.newest]


def view_page(monitor: Monitor, choice: Choice, slice_: Slice) -> SignalsView:
    """Look at the signals of a project."""
    now = monitor.clock()
    configuration, versions, extent = read_extent(monitor, choice, now)
    view = SignalsView(configuration=configuration, now=now, extent=extent, versions=versions)
    if configuration is None:
        return view
    progress = monitor.store.progress(monitor.project, configuration.digest)
    values = () if progress is None else Slicing.from_json(progress.slicing).values
    groups = group_incidents(read_incidents(monitor))
    return replace(
        view,
        slice=slice_,
        slices=tuple(((name, value),) for name, of in values for value in of),
        measures=view_signals(monitor, extent, groups=groups, slice=slice_),
        mixes=() if slice_ else view_mixes(monitor, extent),
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
    slice_ = tuple(read_part(each) for each in query.pop("slice", ()) if each)
    return view_page(monitor, Choice(**query), slice_)


PAGES = (
    Page(
        path="/signals",
        place=2,
        here="Signals",
        template="signals.html.j2",
        summary="What was shown and how it was ordered, before labels arrive.",
        view=_view,
        query=SignalsPageQuery,
    ),
)
