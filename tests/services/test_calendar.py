"""A library for calendars reads the calendar of incidents."""

from __future__ import annotations

from datetime import timedelta

from icalendar import Calendar
from rankscope.monitor.events.limits import HOUR
from rankscope.monitor.events.times import to_datetime
from rankscope.monitor.links import Links
from rankscope.monitor.server.api.feeds import write_calendar

from tests.monitor.notify.notices import BEGAN, HOSTILE, NOW, make_incident

MICROS = 1_795_284_000_000_000


def test_a_calendar_has_an_event_for_each_incident_whatever_its_names_are() -> None:
    names = ["tv", *HOSTILE]
    incidents = [
        make_incident(incident_id=f"incident_{at}", model=name, slice=(("device", name),))
        for at, name in enumerate(names)
    ]
    calendar = Calendar.from_ical(write_calendar(Links("", "music"), incidents, MICROS))
    assert calendar["VERSION"] == "2.0"
    events = calendar.walk("VEVENT")
    assert len({event["UID"] for event in events}) == len(names)
    for event in events:
        assert event["SUMMARY"].startswith("New incident: nDCG@5 fell for ")
        assert event["DTSTART"].dt == BEGAN
        assert event["DTEND"].dt == to_datetime(MICROS - MICROS % HOUR + HOUR)
        assert event.errors == []


def test_an_incident_that_ended_is_an_event_that_ended_then() -> None:
    ended = NOW + timedelta(hours=2)
    incident = make_incident(state="recovered", recovered=ended)
    written = write_calendar(Links("", "music"), [incident], MICROS)
    (event,) = Calendar.from_ical(written).walk("VEVENT")
    assert event["DTEND"].dt == ended
