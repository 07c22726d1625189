"""The comparison page: two versions over the time in which both serve."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import islice

from rankscope._show.table import show
from rankscope.errors import InputError, UsageError
from rankscope.monitor.ask.comparison import VersionComparison, list_pairs
from rankscope.monitor.ask.versions import list_versions
from rankscope.monitor.definition.configuration import Configuration
from rankscope.monitor.definition.slices import Slice
from rankscope.monitor.events.limits import DAY
from rankscope.monitor.events.rejection import RefusedError
from rankscope.monitor.events.times import to_micros
from rankscope.monitor.monitor import Monitor
from rankscope.monitor.server.api.causes import MOST_COMPARED
from rankscope.monitor.server.api.fields import make_query
from rankscope.monitor.server.pages.charts.lines import Level, Line, LineChart, Point, draw_lines
from rankscope.monitor.server.pages.choices import read_choice, write_choice
from rankscope.monitor.server.pages.measure_view import name_version
from rankscope.monitor.server.pages.page import Page, read_configuration
from rankscope.monitor.server.pages.render import read_moment
from rankscope.monitor.store.records import Version

FIELDS = {
    "measure": "The measure.",
    "model": "The model.",
    "old": "The older version.",
    "new": "The newer version.",
    "slice": "An attribute and its value, such as device=tv.",
    "since": "From which time on, in UTC.",
    "pair": "The model and both versions, as the form sends them together.",
}
MOST_PAIRS = 100
"""Pairs of versions that can be picked, the newest ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonView:
    """A comparison, and what was asked for.

    Args:
        configuration: How the project is measured; `None` where it is not.
        measures: The measures that can be asked for.
        pairs: The versions that can be compared, by the value of their field.
        fields: What the form says.
        wrong: By field, what is wrong with it; by an empty name, what is wrong with all of it.
        comparison: The comparison, if there could be one.
    """

    configuration: Configuration | None
    measures: tuple[str, ...] = ()
    pairs: Mapping[str, str] = field(default_factory=dict)
    fields: Mapping[str, str] = field(default_factory=dict)
    wrong: Mapping[str, str] = field(default_factory=dict)
    comparison: VersionComparison | None = None

    @property
    def chart(self) -> LineChart | None:
        """The difference as of each day; `None` if there is no comparison."""
        if self.comparison is None:
            return None
        points = tuple(
            Point(
                to_micros(day.day),
                day.difference.value,
                day.difference.lower,
                day.difference.upper,
                day.is_final,
            )
            for day in self.comparison.days
        )
        newest = self.comparison.difference
        ends = (newest.lower, newest.upper) if newest.has_interval else ()
        return draw_lines(
            [Line("", points)],
            since=points[0].start,
            until=points[-1].start + DAY,
            length=DAY,
            level=Level("no difference", 0.0),
            with_values=(0.0, *ends),
        )


def view_comparison(monitor: Monitor, asked: Mapping[str, str]) -> ComparisonView:
    """Compare what was asked for; by default, the newest versions that serve at the same time."""
    configuration = read_configuration(monitor)
    if configuration is None:
        return ComparisonView(configuration=None)
    asked = {**asked, **read_choice(asked.get("pair", ""))}
    given = {name: asked[name] for name in FIELDS if asked.get(name)}
    wrong: dict[str, str] = {}
    since = None
    place: Slice = ()
    try:
        since = read_moment(given.get("since", ""))
    except RefusedError:
        wrong["since"] = "Enter a time in UTC, such as 2026-11-21T18:00."
    if "slice" in given:
        name, equals, value = given["slice"].partition("=")
        place = ((name, value),)
        if not equals or name not in configuration.attributes:
            there = " or ".join(configuration.attributes) or "none: the project has no slices"
            wrong["slice"] = f"Enter an attribute and its value, as device=tv. There is {there}."
    comparison = None
    pairs = list_choices(list_versions(monitor.store, monitor.project))
    if not wrong and (pairs or given):
        try:
            comparison = monitor.compare(
                given.get("measure"),
                model=given.get("model"),
                old=given.get("old"),
                new=given.get("new"),
                slice=place,
                since=since,
                most_rankings=MOST_COMPARED,
            )
        except (UsageError, InputError) as error:
            wrong[""] = show(f"{error.message}; {error.hint}" if error.hint else error.message)
    if comparison is not None:
        given |= {name: getattr(comparison, name) for name in ("measure", *NAMED)}
    given["pair"] = write_choice(**{name: given.get(name) for name in NAMED})
    return ComparisonView(
        configuration=configuration,
        measures=monitor.measures,
        pairs=pairs,
        fields={name: given.get(name, "") for name in FIELDS},
        wrong=wrong,
        comparison=comparison,
    )


NAMED = ("model", "old", "new")
"""What is picked together."""


def list_choices(versions: Iterable[Version]) -> dict[str, str]:
    """List the versions that served at the same time, the newest ones first, by their value."""
    pairs = islice(list_pairs(versions), MOST_PAIRS)
    return {
        write_choice(model=old.model, old=old.version, new=new.version): (
            f"{name_version(old.model, old.version)} and {new.version or 'unknown version'}"
        )
        for old, new in pairs
    }


PAGES = (
    Page(
        path="/comparison",
        here="Overview",
        template="comparison.html.j2",
        summary="Two versions over the time in which both serve.",
        view=lambda monitor, call: view_comparison(monitor, call.query),
        query=make_query("ComparisonPageQuery", FIELDS),
        is_trace=True,
    ),
)
