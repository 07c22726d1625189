"""The overview page: series, rules, and label delay."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from rankscope.monitor.ask.comparison import find_pair
from rankscope.monitor.ask.series import LENGTHS
from rankscope.monitor.definition.configuration import Configuration
from rankscope.monitor.definition.document import write_configuration
from rankscope.monitor.evaluate.baseline import Baseline
from rankscope.monitor.evaluate.stored_windows import MaturityCurve
from rankscope.monitor.events.limits import HOUR
from rankscope.monitor.events.mismatch import Mismatch
from rankscope.monitor.events.times import format_time, to_datetime
from rankscope.monitor.incidents.incident import Incident
from rankscope.monitor.incidents.warnings import WarningRecord
from rankscope.monitor.monitor import Monitor
from rankscope.monitor.plain import make_plain, write_record
from rankscope.monitor.rules.state import RuleState
from rankscope.monitor.server.api.fields import Object, make_query
from rankscope.monitor.server.pages.charts.lines import LineChart
from rankscope.monitor.server.pages.charts.others import MaturityChart, draw_maturity
from rankscope.monitor.server.pages.groups import Group, group_incidents
from rankscope.monitor.server.pages.incidents import read_incidents
from rankscope.monitor.server.pages.measure_view import (
    MeasureView,
    OverTime,
    draw_counts,
    view_measures,
)
from rankscope.monitor.server.pages.onboarding import Task, list_tasks
from rankscope.monitor.server.pages.overview_range import (
    CHOSEN,
    RANGES,
    Choice,
    Extent,
    read_extent,
)
from rankscope.monitor.server.pages.page import Page, list_states
from rankscope.monitor.server.pages.slices import SliceRow, list_slices
from rankscope.monitor.server.routing.endpoint import Call, Route
from rankscope.monitor.store.records import Version

QUIET = 3 * HOUR
"""After so long without a ranking the overview says so."""


MOST_SLICES = 10
"""Slices that are listed; the others have a page of their own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview(OverTime):
    """All that the overview shows.

    Args:
        project: The project.
        now: As of when, in microseconds since 1970 in UTC.
        configuration: How the project is measured; `None` where it is not.
        extent: The range of time, and what is shown of it.
        versions: The versions in production, those that are not listed as `<other>`.
        rules: The states of the rules.
        record: How good early warnings were.
        groups: The incidents, by cause.
        evaluated: As of when values were computed last; `None` if they never were.
        measures: The measures.
        counts: What values stand on.
        baseline: What values are held against.
        maturity: How soon labels come; `None` where nothing is measured.
        sliced: The measure whose slices are listed; empty where there are none.
        slices: Its slices.
        mismatches: Names of labels and attributes that don't match the configuration.
        tasks: What is done and what is left to set up; nothing once all is done.
    """

    project: str
    now: int
    configuration: Configuration | None
    extent: Extent
    versions: tuple[Version, ...]
    groups: tuple[Group, ...]
    record: WarningRecord
    rules: tuple[RuleState, ...] = ()
    evaluated: int | None = None
    measures: tuple[MeasureView, ...] = ()
    counts: Mapping[str, LineChart] = field(default_factory=dict)
    baseline: Baseline | None = None
    maturity: MaturityCurve | None = None
    sliced: str = ""
    slices: tuple[SliceRow, ...] | None = None
    mismatches: tuple[Mismatch, ...] = ()
    tasks: tuple[Task, ...] = ()

    @property
    def served_together(self) -> tuple[Version, Version] | None:
        """The newest two versions of a model that serve at the same time in the range."""
        pair = find_pair(self.versions, model=self.extent.model)
        return pair if pair and min(version.last for version in pair) >= self.extent.since else None

    @property
    def label_delay(self) -> MaturityChart | None:
        """How soon labels come, drawn; `None` where none are known."""
        return None if self.maturity is None else draw_maturity(self.maturity)

    @property
    def folded_versions(self) -> int:
        """How many versions are not listed."""
        return sum(version.folded for version in self.versions)

    @property
    def has_labels(self) -> bool:
        """Whether any ranking of the range has a label."""
        return self.has_rankings and any(self.measures[0].series[0].labelled)

    @property
    def active(self) -> tuple[Group, ...]:
        """The groups whose problem lasts."""
        return tuple(group for group in self.groups if group.is_active)

    @property
    def lasting(self) -> list[Incident]:
        """The incidents that are active."""
        return [each for group in self.active for each in group.active]

    @property
    def unjudged(self) -> tuple[RuleState, ...]:
        """The rules that cannot tell whether anything is wrong."""
        return tuple(rule for rule in self.rules if rule.state not in {"OK", "ALERT"})

    @property
    def quiet_for(self) -> int | None:
        """For how long there has been no ranking, if that is longer than usual."""
        if self.newest is None or self.now - self.newest < QUIET:
            return None
        return self.now - self.newest

    @property
    def newest(self) -> int | None:
        """When the newest hour with rankings ends; `None` where there never were any."""
        return max((version.last for version in self.versions), default=None)

    def to_dict(self) -> dict[str, Any]:
        """Return the view as dicts and lists, for JSON."""
        extent, baseline, maturity = self.extent, self.baseline, self.maturity
        return {
            "project": self.project,
            "now": format_time(self.now),
            "configuration": self.configuration and write_configuration(self.configuration),
            "definition": self.configuration and self.configuration.definition.hash,
            "digest": self.configuration and self.configuration.digest.hex(),
            "range": extent.range,
            "every": extent.every,
            "since": format_time(extent.since),
            "until": format_time(extent.until),
            "model": extent.model,
            "version": extent.version,
            "versions": [
                write_record(version, times=("first", "last")) for version in self.versions
            ],
            "evaluated": None if self.evaluated is None else format_time(self.evaluated),
            "rules": [rule.to_dict() for rule in self.rules],
            "incidents": [group.to_dict() for group in self.active],
            "early_warnings": make_plain(self.record),
            "measures": [measure.to_dict() for measure in self.measures],
            "baseline": baseline
            and {
                **write_record(baseline, ("kind", "of", "rankings")),
                "definition": baseline.definition.hash,
            },
            "maturity": maturity and make_plain(maturity) | {"shares": list(maturity.shares)},
            "sliced": self.sliced,
            "mismatches": [mismatch.to_dict() for mismatch in self.mismatches],
            "slices": None if self.slices is None else [row.to_dict() for row in self.slices],
        }


def view_overview(monitor: Monitor, choice: Choice | None = None) -> Overview:
    """Look at a project."""
    now, choice = monitor.clock(), choice or Choice()
    configuration, versions, extent = read_extent(monitor, choice, now)
    groups = group_incidents(read_incidents(monitor))
    view = Overview(
        project=monitor.project,
        now=now,
        configuration=configuration,
        extent=extent,
        versions=versions,
        groups=groups,
        record=monitor.rate_warnings(),
    )
    if configuration is None:
        return view
    rules, baseline = list_states(monitor), monitor.baseline()
    progress = monitor.store.progress(monitor.project, configuration.digest)
    measures = view_measures(monitor, extent, baseline=baseline, groups=groups, rules=rules)
    sliced = ""
    if configuration.attributes and measures and len(measures[0].series[0]):
        sliced = choice.measure or monitor.measures[-1]
    view = replace(
        view,
        rules=rules,
        evaluated=None if progress is None else progress.as_of,
        measures=measures,
        counts=draw_counts(measures, extent),
        baseline=baseline,
        maturity=monitor.maturity(to_datetime(extent.since), to_datetime(extent.until)),
        sliced=sliced,
        mismatches=monitor.mismatches(),
        slices=list_slices(monitor, sliced, extent, groups) if sliced else None,
    )
    # What is chosen may have no labels, although the project has.
    return replace(view, tasks=list_tasks(monitor, view)) if choice == Choice() else view


WORDS = {"most_rows": MOST_SLICES}

OVERVIEW = Page(
    path="/",
    place=1,
    here="Overview",
    template="overview.html.j2",
    summary="Values now and over time, compared with the baseline.",
    view=lambda monitor, call: view_overview(monitor, Choice(**call.query)),
    query=make_query(
        "OverviewQuery",
        CHOSEN | {"measure": "The measure of the slices."},
        range=tuple(RANGES),
        every=tuple(LENGTHS),
    ),
    refresh=60,
)
PAGES = (OVERVIEW,)


def get_overview(monitor: Monitor, call: Call) -> Object:
    """Return values now and over time, compared with the baseline, and how they are measured."""
    deleted = monitor.store.deleted_before(monitor.project)
    return view_overview(monitor, Choice(**call.query)).to_dict() | {
        "deleted_before": None if deleted is None else format_time(deleted)
    }


ROUTES = (Route("GET", "/v1/overview", get_overview, query=OVERVIEW.query, result=Object),)
