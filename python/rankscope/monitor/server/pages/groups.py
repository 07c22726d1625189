"""Groups of incidents as pages show them: what is wrong, for whom, since when, and what to do."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from rankscope.monitor.definition.calendar import Calendar
from rankscope.monitor.events.limits import HOUR
from rankscope.monitor.events.times import describe_duration, to_micros
from rankscope.monitor.incidents.grouping import find_cause
from rankscope.monitor.incidents.incident import SEVERITIES, STATUSES, Incident
from rankscope.monitor.links import add_query
from rankscope.monitor.notify import message
from rankscope.monitor.notify.message import name_stream
from rankscope.monitor.rules.early.progress import KIND as EARLY
from rankscope.monitor.rules.kinds import PROBLEMS
from rankscope.monitor.rules.state import LOST_LABELS
from rankscope.monitor.rules.stream import ALL
from rankscope.monitor.server.pages.charts.lines import Episode, EpisodeKind
from rankscope.monitor.server.pages.early import list_signals
from rankscope.monitor.server.pages.render import describe_times, write_field
from rankscope.monitor.store.folding import OTHER

MOST_TIMES = 1_000_000


@dataclass(frozen=True, slots=True)
class Group:
    """Incidents with one cause.

    Args:
        parts: The incidents, those that need most care first.
    """

    parts: tuple[Incident, ...]

    @property
    def first(self) -> Incident:
        """The incident that the group is named after."""
        return self.parts[0]

    @property
    def is_active(self) -> bool:
        """Whether the problem of any part lasts."""
        return any(each.is_active for each in self.parts)

    @property
    def active(self) -> tuple[Incident, ...]:
        """The parts whose problem lasts."""
        return tuple(each for each in self.parts if each.is_active)

    @property
    def began(self) -> datetime:
        """When the first of them seems to have begun."""
        return min(each.began for each in self.active or self.parts)

    @property
    def cause(self) -> str:
        """What the trace has found, in a sentence; empty if it has found nothing."""
        return find_cause(self.parts)

    def to_dict(self) -> dict[str, Any]:
        """Return the view as dicts and lists, for JSON."""
        return {
            "group": self.first.group,
            "cause": self.cause or None,
            "incidents": [each.to_dict() for each in self.parts],
        }


def group_incidents(incidents: Iterable[Incident]) -> tuple[Group, ...]:
    """Group incidents by their cause, the groups that need most care first."""
    causes: dict[str, list[Incident]] = {}
    for each in incidents:
        causes.setdefault(each.group or each.incident_id, []).append(each)
    groups = [Group(tuple(sorted(parts, key=_urgency))) for parts in causes.values()]
    return tuple(sorted(groups, key=lambda group: _urgency(group.first)))


def _urgency(incident: Incident) -> tuple[object, ...]:
    """Order incidents: open ones first, critical ones before others, the newest before older ones.

    Data that are missing explain a fall of quality, so that their incidents name the group.
    """
    began = to_micros(incident.began)
    return (
        STATUSES.index(incident.state),
        -SEVERITIES.index(incident.severity),
        incident.kind == "quality",
        -began,
        incident.incident_id,
    )


def name_problem(incident: Incident) -> str:
    """Name what is wrong, such as `nDCG@5 fell`, where a sentence begins."""
    problem = message.name_problem(incident)
    is_of_measure = PROBLEMS[incident.kind].verb and incident.measure
    return problem if is_of_measure else problem[:1].upper() + problem[1:]


def measure_length(incident: Incident, now: int, began: datetime | None = None) -> int:
    """Return how long the problem has lasted or did last, in microseconds."""
    end = incident.recovered or incident.resolved
    last = now if incident.is_active or end is None else to_micros(end)
    return max(last - to_micros(began or incident.began), 0)


def list_episodes(groups: Iterable[Group], measure: str = "", *, signal: str = "") -> list[Episode]:
    """List what a chart marks: each group once, and separately while labels were missing.

    Args:
        groups: The groups.
        measure: The measure that is drawn; all incidents are marked if it is empty.
        signal: The signal that is drawn: only what is about it is marked.
    """
    episodes = []
    for group in groups:
        sides: dict[EpisodeKind, list[Incident]] = {"incident": [], "early": [], "labels": []}
        for each in group.parts:
            kind = _find_episode(each, measure, signal)
            if kind is not None:
                sides[kind].append(each)
        for kind, parts in sides.items():
            if not parts:
                continue
            first = parts[0]
            ends = [each.recovered or each.resolved for each in parts if not each.is_active]
            known = [to_micros(end) for end in ends if end is not None]
            name = f"{name_problem(first)}, {name_stream(first)}"
            more = f" and {len(parts) - 1} more" if len(parts) > 1 else ""
            episodes.append(
                Episode(
                    min(to_micros(each.began) for each in parts),
                    max(known) if len(known) == len(parts) else None,
                    name + more,
                    kind,
                )
            )
    return episodes


def list_periods(calendar: Calendar, since: int, until: int) -> list[Episode]:
    """List the periods of the calendar that a chart marks."""
    return [
        Episode(one.since, one.until, one.name, "period") for one in calendar.between(since, until)
    ]


def _find_episode(incident: Incident, measure: str, signal: str) -> EpisodeKind | None:
    """Return how an incident is marked; `None` if it isn't about what is drawn."""
    if incident.kind == EARLY:
        return None if signal and signal not in list_signals(incident) else "early"
    if signal:
        return "incident" if incident.measure == signal else None
    if incident.kind in LOST_LABELS:
        return "labels"
    return "incident" if not measure or incident.measure in {"", measure} else None


def trace_incident(incident: Incident, now: int) -> str:
    """Return the path of a trace of what an incident is about, with its spans filled in.

    They are those that the cause was found by, if there is one. Otherwise the span after is the
    time of the incident, and the page suggests what to compare it with.
    """
    cause = incident.cause or {}
    fields = {
        f"{side}_{part}": str(cause[side][part])
        for side in ("before", "after")
        if isinstance(cause.get(side), dict)
        for part in ("since", "until", "model", "version", "environment")
        if cause[side].get(part)
    }
    if not any(name.startswith("after") for name in fields):
        fields |= _name_span(incident, now)
    measure = incident.measure if incident.measure.startswith("nDCG") else None
    return add_query("/trace", measure=measure, **fields)


def _name_span(incident: Incident, now: int) -> dict[str, str]:
    """Return the fields of the time of an incident, in whole hours."""
    began = to_micros(incident.began)
    end = incident.recovered or incident.resolved
    until = now if incident.is_active or end is None else to_micros(end)
    start = began - began % HOUR
    fields = {
        "after_since": write_field(start),
        "after_until": write_field(max(until - until % HOUR, start + HOUR)),
    }
    # What is summed as `<other>` cannot be traced by that name.
    if incident.model not in {"", OTHER}:
        fields["after_model"] = incident.model
    if incident.version not in {"", OTHER, ALL}:
        fields["after_version"] = incident.version
    return fields


@dataclass(frozen=True, slots=True)
class Step:
    """What to do next.

    Args:
        text: What, in a sentence.
        link: Where; empty if it is elsewhere.
        label: What the link says.
    """

    text: str
    link: str = ""
    label: str = ""


def list_steps(incident: Incident, now: int) -> tuple[Step, ...]:
    """List what to do about an incident, in this order."""
    if not incident.is_active:
        return ()
    trace = Step(
        "See which slices, queries and documents lost most.",
        trace_incident(incident, now),
        "Find the cause",
    )
    if incident.kind == "quality":
        return (
            trace,
            Step(
                "Look for what both versions share: the labels, the index, or who searches."
                if ((incident.cause or {}).get("comparison") or {}).get("conclusion") == "alike"
                else "If a release caused it, roll that release back or fix it."
            ),
            Step("Acknowledge the incident, so that others know that you take care of it."),
        )
    if incident.kind == EARLY:
        return (Step(PROBLEMS[incident.kind].step),)
    return (
        Step(PROBLEMS[incident.kind].step),
        Step("See what arrived, and what was rejected and why.", "/quality", "Data quality"),
        Step("Acknowledge the incident, so that others know that you take care of it."),
    )


USUAL = (("judged", "value"), ("labels", "usual"))
"""Evidence that goes without saying."""


def describe_evidence(incident: Incident) -> tuple[tuple[str, str], ...]:
    """Describe what an incident is based on, as pairs of a name and a text.

    Examples:
        >>> from datetime import UTC, datetime
        >>> from rankscope.monitor.incidents.incident import Incident
        >>> incident = Incident(
        ...     incident_id="i",
        ...     project="music",
        ...     rule="quality",
        ...     kind="quality",
        ...     measure="nDCG@5",
        ...     opened=datetime(2026, 11, 8, tzinfo=UTC),
        ...     began=datetime(2026, 11, 7, tzinfo=UTC),
        ...     updated=datetime(2026, 11, 8, tzinfo=UTC),
        ...     before=0.8176,
        ...     after=0.7045,
        ...     evidence={"floor": 0.7976, "log_evidence": 2.0, "needed": 0.8},
        ... )
        >>> for name, text in describe_evidence(incident):
        ...     print(f"{name}: {text}")
        nDCG@5: 0.8176 before, 0.7045 since
        Evidence: 3.3× the alert level
    """
    if incident.kind == EARLY:  # its facts are sentences
        return ()
    evidence = dict(incident.evidence)
    is_of_measure = bool(PROBLEMS[incident.kind].verb)
    said = [] if is_of_measure else _describe_data(incident, evidence)
    value, floor = _take(evidence, "value"), _take(evidence, "floor")
    lower, upper = _take(evidence, "lower"), _take(evidence, "upper")
    if is_of_measure and incident.before is not None and incident.after is not None:
        is_discount = evidence.pop("judged", "") == "discount"
        title = "Discount by rank of relevant documents" if is_discount else incident.measure
        said.append((title, f"{incident.before:.4f} before, {incident.after:.4f} since"))
    if value is not None:
        interval = "" if lower is None or upper is None else f" ({lower:.4f} to {upper:.4f})"
        limit = "" if floor is None else f", floor {floor:.4f}"
        said.append(("Newest value", f"{value:.4f}{interval}{limit}"))
    evidence.pop("fall", None)
    weight, needed = _take(evidence, "log_evidence"), _take(evidence, "needed")
    if weight is not None and needed is not None:
        said.append(("Evidence", f"{write_multiple(weight - needed)} the alert level"))
    lane = evidence.pop("lane", None)
    evidence.pop("age", None)  # of the lane
    if isinstance(lane, str) and lane:
        early = "" if lane == "final" else f"early values, {lane} after the ranking"
        said.append(("Based on", early or "final values"))
    smallest = _take(evidence, "smallest_fall")
    if smallest is not None:
        said.append(("Smallest fall found within 30 days", f"{smallest:.3f}"))
    said += [
        (_name(name), _write(each))
        for name, each in evidence.items()
        if (name, each) not in USUAL
        and name != "at"
        and isinstance(each, str | int | float)
        and not isinstance(each, bool)
        and each != ""
    ]
    return tuple(said)


def _describe_data(incident: Incident, evidence: dict[str, Any]) -> list[tuple[str, str]]:
    """Take what is known of data that is missing or unusual, in words."""
    said: list[tuple[str, str]] = []
    what = "Labels" if incident.kind in LOST_LABELS else "Rankings"
    old, new = evidence.pop("before", None), evidence.pop("after", ())
    if old is not None:
        said += [("Value before", str(old)), ("New value", ", ".join(map(str, new)))]
    count, expected = _take(evidence, "count"), evidence.pop("expected", None)
    hours = evidence.pop("hours", None)
    if count is not None and expected is not None:
        span = f" in {describe_duration(hours * HOUR)}" if isinstance(hours, int) else ""
        said.append((what, f"{count:,.0f} instead of about {expected:,.0f}{span}"))
    daily = _take(evidence, "daily")
    if daily is not None:
        said.append(("Usual", f"about {daily:,.0f} rankings a day"))
    share, usual = _take(evidence, "share"), _take(evidence, "usual")
    if share is not None:
        text = f"{100 * share:.1f}%"
        said.append(
            (
                "Share of rankings",
                text if usual is None else f"{text} instead of {100 * usual:.1f}%",
            )
        )
    value, day = _take(evidence, "value"), evidence.pop("day", None)
    lower, upper = _take(evidence, "lower"), _take(evidence, "upper")
    if value is not None and expected is not None:
        is_share = incident.kind == "relevance"
        shown = [
            f"{100 * each:.1f}%" if is_share else f"{each:.3g}"
            for each in (value, expected, lower, upper)
            if each is not None
        ]
        title = "Share without relevant documents" if is_share else "Labels per ranking"
        text = f"{shown[0]} instead of {shown[1]}"
        if len(shown) == len(("value", "expected", "lower", "upper")):
            text += f"; {shown[2]} to {shown[3]} would be usual"
        said.append((f"{title}, {day}" if day else title, text))
    labels = evidence.pop("labels", None)
    if isinstance(labels, dict) and len(labels) > 1:
        said += [
            (f"{name} labels per ranking", f"{one:.3g} instead of {other:.3g}")
            for name, (one, other) in labels.items()
        ]
    return said


def write_multiple(log_ratio: float) -> str:
    """Write a ratio from its logarithm, as a multiple.

    Examples:
        >>> [write_multiple(math.log(ratio)) for ratio in (0.02, 0.5, 3.28, 1800, 5e7)]
        ['<0.1×', '0.5×', '3.3×', '1,800×', '>1,000,000×']
    """
    if log_ratio < math.log(0.1):
        return "<0.1×"
    if log_ratio > math.log(MOST_TIMES):
        return f">{MOST_TIMES:,}×"
    ratio = math.exp(log_ratio)
    return f"{ratio:,.0f}×" if ratio >= 10 else f"{ratio:.2g}×"


NAMES = {
    "periods": "periods of evidence",
    "compared": "long-term baseline from",
}
"""What evidence is called that its key does not say."""


def _take(evidence: dict[str, Any], name: str) -> float | None:
    """Take a number; `None` where there is none."""
    return read_number(evidence.pop(name, None))


def read_number(value: object) -> float | None:
    """Return a number of evidence, or that of a mean with its interval; `None` if it is none."""
    if isinstance(value, dict):
        value = value.get("value")
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and math.isfinite(value) else None  # type: ignore[arg-type]  # a number


def _name(name: str) -> str:
    words = NAMES.get(name, name.replace("_", " "))
    return words[:1].upper() + words[1:]


def _write(value: str | float) -> str:
    if isinstance(value, str):
        return describe_times(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:,.4g}"
