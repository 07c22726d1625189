"""The trace page: why a value changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rankscope._show.table import Table, name_rows, show
from rankscope.errors import InputError, UsageError
from rankscope.monitor.ask.trace import Span
from rankscope.monitor.ask.versions import list_versions
from rankscope.monitor.definition.configuration import Configuration
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.events.rejection import RefusedError
from rankscope.monitor.events.times import read_span, to_datetime
from rankscope.monitor.monitor import Monitor
from rankscope.monitor.server.api.causes import MOST_TRACED
from rankscope.monitor.server.api.fields import make_query
from rankscope.monitor.server.pages.charts.others import Waterfall, draw_waterfall
from rankscope.monitor.server.pages.choices import (
    find_rankers,
    list_rankers,
    read_choice,
    refuse_ranker,
)
from rankscope.monitor.server.pages.measure_view import name_version
from rankscope.monitor.server.pages.page import Page, read_configuration
from rankscope.monitor.server.pages.render import read_moment, write_field
from rankscope.monitor.store.records import Version
from rankscope.monitor.why.result import Cause, FoundSlice, Trace
from rankscope.monitor.why.text import VERDICTS, describe_sampling

SIDES = ("before", "after")
PARTS = ("since", "until", "model", "version", "environment")
FIELDS = tuple(f"{side}_{part}" for side in SIDES for part in PARTS)
PICKED = tuple(f"{side}_ranker" for side in SIDES)
"""The fields in which the form sends the model and the version of a span together."""
MOST_SLICES = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class CauseRow:
    """A row of the sum of causes.

    Args:
        name: The cause.
        amount: What it adds.
        share: Which share of the change that is; `None` where nothing changed.
        kind: By which loss, or by which share of the queries.
        cause: The cause; `None` for what no cause explains.
        found: What confirms it.
    """

    name: str
    amount: float
    share: float | None
    kind: str
    cause: Cause | None = None
    found: FoundSlice | None = None


@dataclass(frozen=True, slots=True)
class ShownTrace:
    """What is shown of a trace.

    Args:
        trace: The trace.
    """

    trace: Trace

    @property
    def headline(self) -> str:
        """The change in one sentence, as the trace says it itself."""
        return str(self.trace).partition("\n")[0]

    @property
    def verdict(self) -> str:
        """Whether the ideal changed, in a sentence."""
        return VERDICTS[self.trace.ideal.verdict]

    @property
    def sampling(self) -> str:
        """A sentence about the sample that was traced; empty if all rankings were."""
        return "" if self.trace.sampling is None else describe_sampling(self.trace.sampling)

    @property
    def parts(self) -> dict[str, float | None]:
        """The parts of the change by what happened to slices; they add up to it."""
        whole = self.trace.decomposition
        return {name: getattr(whole, name) for name in ("mix", "within", "entered", "left")}

    @property
    def losses(self) -> dict[str, float | None]:
        """The parts of the change by kind of loss, besides the mix; they add up to it."""
        whole = self.trace.decomposition
        known = {name: loss for name, loss in whole.losses.items() if name != "undefined" or loss}
        return {"mix": whole.mix} | known

    @property
    def causes(self) -> tuple[CauseRow, ...]:
        """The causes, and what none of them explains; they add up to the change."""
        confirmed = {each.slice: each for each in self.trace.found}
        change = self.trace.change
        lines = [
            CauseRow(
                name=cause.name,
                amount=cause.contribution,
                share=cause.contribution / change if change else None,
                kind=cause.main_loss(1.0 if cause.contribution > 0 else -1.0)
                if cause.by == "within"
                else "share of the queries",
                cause=cause,
                found=confirmed.get(cause.change.slice),
            )
            for cause in (*self.trace.causes, *self.trace.shifts)
        ]
        rest = change - sum(line.amount for line in lines)
        share = rest / change if change else None
        return (*lines, CauseRow(name="everything else", amount=rest, share=share, kind=""))

    @property
    def fallen(self) -> list[dict[str, Any]]:
        """The queries that changed most, a row each."""
        return name_rows(self.trace.fallen)

    @property
    def slices(self) -> list[dict[str, Any]]:
        """The slices that add most within them, a row each."""
        return self.rows(self.trace.slices)

    @staticmethod
    def rows(table: Table) -> list[dict[str, Any]]:
        """Return the first rows of a table."""
        return name_rows(table)[:MOST_SLICES]

    @staticmethod
    def amounts(lines: Sequence[CauseRow]) -> dict[str, float | None]:
        """Return the contributions of rows, by their place."""
        return {str(at): line.amount for at, line in enumerate(lines)}

    def draw(self, parts: Mapping[str, float | None]) -> Waterfall:
        """Draw parts that add up to the change."""
        before, after = self.trace.decomposition.means
        return draw_waterfall(before, after, parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceView:
    """A trace, and what was asked for.

    Args:
        configuration: How the project is measured; `None` where it is not.
        measures: The measures that can be asked for.
        rankers: The models and versions that can be picked, by the value of their field.
        measure: The measure.
        fields: What the form says.
        wrong: By field, what is wrong with it; by an empty name, what is wrong with all of it.
        shown: The trace, if it was asked for and could be made.
    """

    configuration: Configuration | None
    measures: tuple[str, ...] = ()
    rankers: Mapping[str, str] = field(default_factory=dict)
    measure: str = ""
    fields: Mapping[str, str] = field(default_factory=dict)
    wrong: Mapping[str, str] = field(default_factory=dict)
    shown: ShownTrace | None = None

    def pick(self, side: str) -> tuple[str, str]:
        """Return the value of the model and version of a side, and its name if no list has it."""
        model, version = (self.fields[f"{side}_{part}"] or None for part in ("model", "version"))
        match find_rankers(self.rankers, model, version):
            case [value]:
                return value, ""
        return "", name_version(model, version)


def view_trace(monitor: Monitor, asked: Mapping[str, str]) -> TraceView:
    """Trace what was asked for; where only a measure was, what is suggested."""
    configuration = read_configuration(monitor)
    if configuration is None:
        return TraceView(configuration=None)
    measures = tuple(name for name in monitor.measures if name.startswith("nDCG"))
    measure = asked.get("measure") or (measures[-1] if measures else "")
    picked = {
        f"{side}_{part}": value
        for side, name in zip(SIDES, PICKED, strict=True)
        for part, value in read_choice(asked.get(name, "")).items()
    }
    asked = {**asked, **picked}
    given = {name: asked[name] for name in FIELDS if asked.get(name)}
    wrong: dict[str, str] = {}
    if measure not in measures:
        wrong["measure"] = (
            f"Choose {' or '.join(measures)}." if measures else "The project has no nDCG to trace."
        )
    versions = tuple(
        version for version in list_versions(monitor.store, monitor.project) if not version.folded
    )
    rankers = list_rankers(versions)
    for side in SIDES:
        model, version = (given.get(f"{side}_{part}") for part in ("model", "version"))
        # Sets for reference have versions of their own.
        is_served = given.get(f"{side}_environment", "production") == "production"
        if is_served and not find_rankers(rankers, model, version):
            wrong[f"{side}_ranker"] = refuse_ranker(rankers, model, version)
    spans = _read_spans(given, wrong, versions) if given else monitor.suggest_spans()
    fields = _write_spans(*spans) if spans else given
    shown = None
    if asked and spans is None and not wrong:
        wrong[""] = "There is nothing to compare yet: fewer than two hours have final rankings."
    if asked and spans is not None and not wrong:
        try:
            shown = ShownTrace(monitor.trace(*spans, measure, sample=MOST_TRACED))
        except (UsageError, InputError) as error:
            wrong[""] = show(error.message)
    return TraceView(
        configuration=configuration,
        measures=measures,
        rankers=rankers,
        measure=measure,
        fields={name: fields.get(name, "") for name in FIELDS},
        wrong=wrong,
        shown=shown,
    )


def _read_spans(
    given: Mapping[str, str], wrong: dict[str, str], versions: Sequence[Version]
) -> tuple[Span, Span] | None:
    spans = []
    for side in SIDES:
        said: dict[str, Any] = {
            part: given[f"{side}_{part}"]
            for part in ("model", "version", "environment")
            if f"{side}_{part}" in given
        }
        for part in ("since", "until"):
            name = f"{side}_{part}"
            try:
                said[part] = read_moment(given.get(name, ""))
            except RefusedError:
                wrong[name] = "Enter a time in UTC, such as 2026-11-21T18:00."
        try:
            spans.append(Span(**said))
        except UsageError as error:
            wrong[f"{side}_until"] = show(error.message)
    if wrong:
        return None
    before, after = spans
    is_left_open = not any(name.startswith("before_") for name in given)
    return (suggest_before(after, versions) if is_left_open else before), after


def suggest_before(after: Span, versions: Sequence[Version]) -> Span:
    """Suggest what to hold a span against: the week before it.

    That of the same version, or, where the version came with the span, of the one before it.
    """
    (since, _), version = read_span(after.since, None), after.version
    mine = [one for one in versions if after.model in {None, one.model}]
    if version is not None:
        first = min((one.first for one in mine if one.version == version), default=None)
        if first is not None and (since is None or first > since - DAY):
            since = first - first % HOUR
            older = [one for one in mine if one.first < first and one.version != version]
            version = older[-1].version if older else None
    if since is None:
        return Span(environment="validation")
    return Span(to_datetime(since - 7 * DAY), to_datetime(since), after.model, version)


def _write_spans(before: Span, after: Span) -> dict[str, str]:
    fields: dict[str, str] = {}
    for side, span in zip(SIDES, (before, after), strict=True):
        fields |= {
            f"{side}_since": write_field(span.since),
            f"{side}_until": write_field(span.until),
            f"{side}_model": span.model or "",
            f"{side}_version": span.version or "",
            f"{side}_environment": span.environment,
        }
    return fields


PART_MEANINGS = {
    "ranker": "Model and version of the span {}, as the form sends them together.",
    "since": "Start of the span {}, in UTC.",
    "until": "End of the span {}, exclusive, in UTC.",
    "model": "Model of the span {}.",
    "version": "Version of the model of the span {}.",
    "environment": "Environment of the span {}.",
}
FACTS = {
    "ideal": "DCG of the ideal order",
    "relevant": "relevant documents",
    "without relevant": "share without relevant documents",
    "gained": "DCG of the ranking",
}
WORDS = {"facts": FACTS}


def _describe(field: str) -> str:
    side, part = field.split("_")
    return PART_MEANINGS[part].format(side)


TRACE = Page(
    path="/trace",
    place=4,
    here="Trace",
    template="trace.html.j2",
    summary="Why a value changed between two spans.",
    view=lambda monitor, call: view_trace(monitor, call.query),
    is_trace=True,
    query=make_query(
        "TracePageQuery",
        {"measure": "The measure."} | {field: _describe(field) for field in (*FIELDS, *PICKED)},
    ),
)
PAGES = (TRACE,)
