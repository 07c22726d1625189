"""Incidents as a feed for readers (Atom, RFC 4287) and as a calendar (iCalendar, RFC 5545)."""

from __future__ import annotations

import re
from typing import Annotated
from uuid import NAMESPACE_URL, uuid5
from xml.etree import ElementTree as ET

from pydantic import Field
from typing_extensions import TypedDict

from rankscope.monitor.events.limits import HOUR
from rankscope.monitor.events.times import EPOCH, format_time, to_datetime, to_micros
from rankscope.monitor.incidents.incident import make_notice
from rankscope.monitor.notify.message import write_message
from rankscope.monitor.server.api.fields import Limit, Name
from rankscope.monitor.server.routing.endpoint import Endpoint
from rankscope.monitor.server.routing.static import Content
from rankscope.records import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from datetime import datetime
    from typing import TypeAlias

    from starlette.responses import Response

    from rankscope.monitor.incidents.incident import Event, Incident, Status
    from rankscope.monitor.links import Links
    from rankscope.monitor.monitor import Monitor
    from rankscope.monitor.notify.message import Message
    from rankscope.monitor.server.routing.endpoint import Call
    from rankscope.monitor.server.routing.pool import MonitorPool

    Write: TypeAlias = Callable[[Links, Sequence[Incident], int], bytes]

ATOM = "application/atom+xml"
CALENDAR = "text/calendar"
NAMESPACE = "http://www.w3.org/2005/Atom"
LAST: Mapping[Status, Event] = {
    "open": "opened",
    "acknowledged": "opened",
    "snoozed": "opened",
    "recovered": "recovered",
    "superseded": "superseded",
    "resolved": "resolved",
}
"""What a message says of an incident in a state."""
NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
NO_TEXT = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
OCTETS = 75
"""A line of a calendar has at most so many octets before its break."""


class FeedQuery(TypedDict, total=False):
    """Which incidents are in a feed."""

    rule: Annotated[Name, Field(description="The rule that found them (default: all).")]
    limit: Limit


def make_feed_endpoints(pool: MonitorPool, public_url: str | None) -> tuple[Endpoint, ...]:
    """Make the endpoints of the feed and the calendar of incidents."""

    def make(path: str, media_type: str, write: Write, summary: str) -> Endpoint:
        async def answer(call: Call) -> Response:
            links = replace(call.links, base=public_url or call.links.base)

            def work(monitor: Monitor) -> bytes:
                rule, limit = call.query.get("rule"), call.query.get("limit", 100)
                found = monitor.incidents("all", rule=rule, limit=limit)
                return write(links, found, monitor.clock())

            content = await pool.read(call, work)
            kind = f"{media_type}; charset=utf-8"
            return Content(content, kind, "private, no-cache").answer(call.request)

        return Endpoint(
            "GET",
            path,
            "read",
            answer,
            summary=summary,
            query=FeedQuery,
            gives=media_type,
            also={304: None},
        )

    return (
        make(
            "/v1/incidents.atom",
            ATOM,
            lambda links, incidents, _now: write_atom(links, incidents),
            "Return incidents as an Atom feed, those that were opened last first.",
        ),
        make(
            "/v1/incidents.ics",
            CALENDAR,
            write_calendar,
            "Return incidents as a calendar, from when each began to when it ended.",
        ),
    )


def write_atom(links: Links, incidents: Sequence[Incident]) -> bytes:
    """Return incidents of a project as an Atom feed."""
    project = links.project or ""
    feed = ET.Element("feed", {"xmlns": NAMESPACE})
    _add(feed, "id", _name(project, ""))
    _add(feed, "title", f"Incidents of {project}")
    _add(feed, "updated", _format(max((one.updated for one in incidents), default=EPOCH)))
    _add(ET.SubElement(feed, "author"), "name", "rankscope")
    ET.SubElement(feed, "link", {"rel": "alternate", "href": links("/incidents")})
    for incident in incidents:
        message = _describe(incident, links)
        entry = ET.SubElement(feed, "entry")
        _add(entry, "id", _name(project, incident.incident_id))
        _add(entry, "title", message.title)
        _add(entry, "updated", _format(incident.updated))
        _add(entry, "published", _format(incident.opened))
        ET.SubElement(entry, "link", {"rel": "alternate", "href": links(incident.link)})
        for term in (incident.state, incident.kind, incident.severity):
            ET.SubElement(entry, "category", {"term": term})
        _add(entry, "content", message.html).set("type", "html")
    written: bytes = ET.tostring(feed, "utf-8", xml_declaration=True)
    return written


def write_calendar(links: Links, incidents: Sequence[Incident], now: int) -> bytes:
    """Return incidents as a calendar; those that last end with the hour, and move on with it."""
    project = links.project or ""
    until = to_datetime(now - now % HOUR + HOUR)
    lines = [
        "BEGIN:VCALENDAR",
        "VERSION:2.0",
        "PRODID:-//rankscope//incidents//EN",
        f"X-WR-CALNAME:{_escape(f'Incidents of {project}')}",
    ]
    for incident in incidents:
        message = _describe(incident, links)
        begins = incident.began or incident.opened
        ends = until if incident.is_active else incident.recovered or incident.resolved or until
        lines += [
            "BEGIN:VEVENT",
            f"UID:{_name(project, incident.incident_id)}",
            f"DTSTAMP:{_stamp(incident.updated)}",
            f"DTSTART:{_stamp(begins)}",
            f"DTEND:{_stamp(max(ends, begins))}",
            f"SUMMARY:{_escape(message.title)}",
            f"DESCRIPTION:{_escape(message.text)}",
            f"CATEGORIES:{incident.kind},{incident.severity},{incident.state}",
            "TRANSP:TRANSPARENT",
            *([f"URL:{links(incident.link)}"] if links.is_absolute else []),
            "END:VEVENT",
        ]
    lines.append("END:VCALENDAR")
    return b"".join(piece for line in lines for piece in _fold(line))


def _describe(incident: Incident, links: Links) -> Message:
    """Return the message that says how an incident stands; it calls nobody, as all messages."""
    parts = [(LAST[incident.state], incident)]
    notice = make_notice(incident.project, incident.updated, incident.group or "group", parts)
    return write_message([notice.to_json()], links.base if links.is_absolute else None)


def _name(project: str, incident_id: str) -> str:
    return uuid5(NAMESPACE_URL, f"rankscope:{len(project)}:{project}:{incident_id}").urn


def _add(parent: ET.Element, name: str, text: str) -> ET.Element:
    element = ET.SubElement(parent, name)
    element.text = NO_XML.sub("\ufffd", text)
    return element


def _format(moment: datetime) -> str:
    return format_time(to_micros(moment))


def _stamp(moment: datetime) -> str:
    return f"{moment:%Y%m%dT%H%M%SZ}"


def _escape(text: str) -> str:
    r"""Return a text as a calendar has it.

    Examples:
        >>> print(_escape("a,b;c\\d\r\nEND:VEVENT"))
        a\,b\;c\\d\nEND:VEVENT
    """
    text = NO_TEXT.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    for mark in "\\;,":
        text = text.replace(mark, f"\\{mark}")
    return text.replace("\n", "\\n")


def _fold(line: str) -> Iterator[bytes]:
    """Yield a line as lines of at most 75 octets, each with its break, between characters."""
    rest = line.encode()
    lead = b""
    while len(lead) + len(rest) > OCTETS:
        end = OCTETS - len(lead)
        # The following bytes of a character are 0b10xxxxxx.
        while rest[end] & 0xC0 == 0x80:
            end -= 1
        yield lead + rest[:end] + b"\r\n"
        rest, lead = rest[end:], b" "
    yield lead + rest + b"\r\n"
