"""What a notification says to a person: a title and a text, in the formats that services take."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, TypeAlias

from rankscope.monitor.events.times import describe_length
from rankscope.monitor.incidents.grouping import find_cause, list_facts
from rankscope.monitor.incidents.incident import (
    CHANGED,
    DIGEST,
    SEVERITIES,
    Event,
    Incident,
    Notice,
)
from rankscope.monitor.links import Links
from rankscope.monitor.notify.markup import (
    Link,
    Name,
    Paragraph,
    Part,
    Strong,
    Text,
    write_html,
    write_markdown,
    write_text,
    write_title,
)
from rankscope.monitor.rules.kinds import PROBLEMS
from rankscope.monitor.rules.settings import EMPTY
from rankscope.monitor.rules.stream import ALL

Urgency: TypeAlias = Literal["failure", "warning", "success", "info"]


LOST = "notifications.lost"
"""The type of the notification that reports lost ones."""
TEST = "channel.test"
"""The type of test messages."""

MOST_PARTS = 10
"""Incidents that a message describes; it only counts the others."""

WORDS: Mapping[Event, str] = {
    "opened": "New incident",
    "reopened": "Incident reopened",
    "worsened": "Getting worse",
    "reminded": "Still open",
    "recovered": "Recovered",
    "superseded": "Superseded",
    "resolved": "Resolved",
}
ONGOING: frozenset[Event] = frozenset({"opened", "reopened", "worsened", "reminded"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A message to people.

    Args:
        title: What it is about, on one line.
        text: The message as plain text.
        markdown: The same as CommonMark.
        html: The same as HTML.
        urgency: How services that color messages show it.
    """

    title: str
    text: str
    markdown: str
    html: str
    urgency: Urgency = "info"


def write_message(bodies: Sequence[str], public_url: str | None = None) -> Message:
    """Return the message for notifications that are sent together.

    Examples:
        >>> body = '{"type": "notifications.lost", "project": "music", "count": 2}'
        >>> print(write_message([body]).title)
        2 notifications were not delivered (music)
    """
    messages = [_compose(json.loads(body), public_url) for body in bodies]
    if len(messages) == 1:
        ((title, paragraphs, urgency),) = messages
        return _make_message(title, paragraphs, urgency)
    joined = [
        paragraph
        for title, paragraphs, _ in messages
        for paragraph in (Paragraph((Strong(title),)), *paragraphs)
    ]
    urgencies = [urgency for _, _, urgency in messages]
    order: tuple[Urgency, ...] = ("failure", "warning", "info", "success")
    return _make_message(
        f"{len(messages)} notifications: {messages[0][0]}",
        joined,
        next(urgency for urgency in order if urgency in urgencies),
    )


def write_test(channel: str, public_url: str | None = None) -> Message:
    """Return a message that tests a channel."""
    paragraphs = [
        Paragraph(
            (
                Text("This is a test of the channel "),
                Name(channel),
                Text(". If you can read it, incidents will arrive here, too."),
            )
        ),
        *_link("Open rankscope", "/", Links(public_url) if public_url else None),
    ]
    return _make_message("Test message from rankscope", paragraphs, "info")


def _make_message(title: str, paragraphs: Sequence[Paragraph], urgency: Urgency) -> Message:
    return Message(
        title=write_title(title),
        text=write_text(paragraphs),
        markdown=write_markdown(paragraphs),
        html=write_html(paragraphs),
        urgency=urgency,
    )


def _compose(
    said: Mapping[str, Any], public_url: str | None
) -> tuple[str, list[Paragraph], Urgency]:
    """Return the title, the paragraphs and the urgency of a notification."""
    links = Links(public_url, said["project"]) if public_url else None
    if said["type"] in {CHANGED, DIGEST}:
        notice = Notice.from_dict(said)
        paragraphs = list(_describe(notice, links))
        return _name_notice(notice), paragraphs, _judge(notice)
    if said["type"] == LOST:
        count = said["count"]
        text = (
            f"{count} notifications to this channel were given up after three days without "
            "success. The history of incidents has all of them."
        )
        title = f"{count} notifications were not delivered ({said['project']})"
        link = _link("Open the incidents", "/incidents", links)
        return title, [Paragraph((Text(text),)), *link], "warning"
    return f"{said['type']} ({said['project']})", [], "info"


def _name_notice(notice: Notice) -> str:
    """Return the title of a notice."""
    event, first = notice.parts[0]
    count = len(notice.parts)
    if notice.is_digest:
        what = "1 incident is" if count == 1 else f"{count} incidents are"
        return f"Reminder: {what} still open ({notice.project})"
    word = WORDS[event]
    if first.severity == "critical" and event in ONGOING:
        word = f"CRITICAL: {word}"
    more = f" and {count - 1} more" if count > 1 else ""
    return f"{word}: {name_problem(first)} for {name_stream(first)}{more} ({notice.project})"


def _judge(notice: Notice) -> Urgency:
    ongoing = [incident for event, incident in notice.parts if event in ONGOING]
    if not ongoing:
        # Nobody knows whether what is no longer served would be good again.
        is_over = all(event != "superseded" for event, _ in notice.parts)
        return "success" if is_over else "info"
    worst = max((one.severity for one in ongoing), key=SEVERITIES.index)
    return "failure" if worst == "critical" else worst


def _describe(notice: Notice, links: Links | None) -> Iterator[Paragraph]:
    if len(notice.parts) == 1:
        yield from _describe_one(*notice.parts[0], notice.time, links)
        return
    shown = notice.parts[:MOST_PARTS]
    cause = find_cause(one for _, one in notice.parts)
    if cause and not notice.is_digest:
        yield _label("Cause", cause)
    counts = Counter(event for event, _ in notice.parts)
    if not notice.is_digest and len(counts) > 1:
        said = ", ".join(f"{WORDS[event].lower()}: {count}" for event, count in counts.items())
        yield Paragraph((Text(said),))
    for event, incident in shown:
        yield Paragraph(tuple(_summarize(event, incident, notice.time)), is_item=True)
    if len(notice.parts) > MOST_PARTS:
        yield Paragraph((Text(f"… and {len(notice.parts) - MOST_PARTS} more"),), is_item=True)
    yield from _suggest(notice)
    path = "/incidents" if notice.is_digest else notice.parts[0][1].link
    label = "Open the incidents" if notice.is_digest else "Open the incident with its group"
    yield from _link(label, path, links)


def _summarize(event: Event, incident: Incident, now: datetime) -> Iterator[Part]:
    """Describe an incident in one line."""
    yield Strong(WORDS[event])
    yield Text(": ")
    yield from _show_stream(incident)
    yield Text(f". {incident.reason}" if incident.reason else f". {name_problem(incident)}")
    if event in ONGOING:
        yield Text(f" Since {_show_since(incident.began, now)}.")


def _describe_one(
    event: Event, incident: Incident, now: datetime, links: Links | None
) -> Iterator[Paragraph]:
    """Describe one incident: what, for whom, since when, why, and what to do."""
    reason = incident.reason or f"{name_problem(incident)}."
    yield _label(WORDS[event], reason)
    yield Paragraph((Strong("For"), Text(": "), *_show_stream(incident)), is_item=True)
    began = incident.began
    if event in ONGOING:
        since = _show_since(began, now)
    else:
        ended = incident.recovered or incident.resolved or now
        since = f"{_show_time(began)} to {_show_time(ended)} ({describe_length(ended - began)})"
    yield _label("Since" if event in ONGOING else "From", since, is_item=True)
    if cause := find_cause([incident]):
        yield _label("Cause", cause, is_item=True)
    for fact in list_facts(incident.cause)[:1]:
        yield _label("Changed at the same time", str(fact["sentence"]), is_item=True)
    parts: list[Part] = [Strong("Rule"), Text(": "), Name(incident.rule)]
    yield Paragraph((*parts, Text(f" ({incident.severity})")), is_item=True)
    if event in ONGOING:
        yield _label("What to do", PROBLEMS[incident.kind].step, is_item=True)
    yield from _link("Open the incident", incident.link, links)


def _label(label: str, text: str, *, is_item: bool = False) -> Paragraph:
    return Paragraph((Strong(label), Text(f": {text}")), is_item)


def _suggest(notice: Notice) -> Iterator[Paragraph]:
    kinds = [incident.kind for event, incident in notice.parts if event in ONGOING]
    if kinds and not notice.is_digest:
        # Missing data explain a fall of quality, and not the other way round.
        kind = next((kind for kind in kinds if kind != "quality"), kinds[0])
        yield _label("What to do", PROBLEMS[kind].step)


def _link(text: str, path: str, links: Links | None) -> list[Paragraph]:
    return [Paragraph((Link(text, links(path)),))] if links else []


def name_problem(incident: Incident) -> str:
    """Name what is wrong, such as `nDCG@5 fell`."""
    problem = PROBLEMS[incident.kind]
    if problem.verb and incident.measure:
        has_risen = incident.kind == "quality" and incident.measure == EMPTY
        return f"{incident.measure} {'rose' if has_risen else problem.verb}"
    return problem.name


def name_stream(incident: Incident) -> str:
    """Name whom it is about, such as `device=tv, gbdt 42`."""
    said = [f"{name}={value}" for name, value in incident.slice]
    version = "" if incident.version == ALL else incident.version
    model = " ".join(filter(None, (incident.model, version)))
    return ", ".join([*said, *([model] if model else [])]) or "all rankings"


def _show_stream(incident: Incident) -> Iterator[Part]:
    parts: list[tuple[str, str]] = []
    if incident.slice:
        said = " and ".join(f"{name} = {value}" for name, value in incident.slice)
        parts.append(("", said))
    if incident.model:
        parts.append(("model ", incident.model))
    if incident.version:
        parts.append(("version ", incident.version))
    if not parts:
        yield Text("all rankings")
    for at, (label, name) in enumerate(parts):
        yield Text(f"{', ' if at else ''}{label}")
        yield Name(name)


def _show_since(began: datetime, now: datetime) -> str:
    return f"{_show_time(began)} ({describe_length(now - began)})"


def _show_time(moment: datetime) -> str:
    return f"{moment.day} {moment:%b %Y, %H:%M} UTC"
