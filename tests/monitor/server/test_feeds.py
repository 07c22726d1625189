"""Incidents as an Atom feed and as a calendar, in which names from the data mean nothing."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from itertools import pairwise
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rankscope.monitor.events.limits import HOUR
from rankscope.monitor.events.times import to_datetime
from rankscope.monitor.incidents.incident import STATUSES, write_incident
from rankscope.monitor.links import Links
from rankscope.monitor.notify.channels import Channels
from rankscope.monitor.server.api.feeds import (
    OCTETS,
    _escape,
    _fold,
    write_atom,
    write_calendar,
)
from rankscope.monitor.server.http.settings import Settings
from rankscope.monitor.store.tables.incidents import put_incidents
from rankscope.records import replace

from tests.generated import examples
from tests.monitor.notify.notices import BEGAN, HOSTILE, NOW, make_incident
from tests.monitor.server.service import NOW as MICROS
from tests.monitor.server.service import Service

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from rankscope.monitor.incidents.incident import Incident

ATOM = "{http://www.w3.org/2005/Atom}"
URL = "https://rankscope.example.com"
PAGES = f"{URL}/projects/music"
ESCAPED = re.compile(r"\\(.)")
PATHS = ("/v1/incidents.atom", "/v1/incidents.ics")


def read_atom(feed: bytes) -> list[dict[str, str]]:
    """The entries of a feed: their texts and their link."""
    root = ET.fromstring(feed)  # noqa: S314 - what we have just written
    assert root.tag == f"{ATOM}feed"
    entries = []
    for entry in root.iter(f"{ATOM}entry"):
        found = {one.tag.removeprefix(ATOM): one.text or "" for one in entry}
        (link,) = entry.iter(f"{ATOM}link")
        entries.append(found | {"link": link.attrib["href"]})
    return entries


def read_calendar(calendar: bytes) -> list[dict[str, str]]:
    """The events of a calendar: their properties, unfolded and unescaped as RFC 5545 says."""
    assert calendar.endswith(b"\r\n")
    lines = calendar[:-2].split(b"\r\n")
    assert all(len(line) <= OCTETS and b"\n" not in line and b"\r" not in line for line in lines)
    for line in lines:
        line.decode()  # no line ends within a character
    unfolded = calendar.replace(b"\r\n ", b"").decode()
    events: list[dict[str, str]] = []
    depth = []
    for line in unfolded.removesuffix("\r\n").split("\r\n"):
        name, colon, value = line.partition(":")
        assert colon
        if name == "BEGIN":
            depth.append(value)
            if value == "VEVENT":
                events.append({})
        elif name == "END":
            assert depth.pop() == value
        elif depth == ["VCALENDAR", "VEVENT"]:
            assert name not in events[-1]
            events[-1][name] = ESCAPED.sub(
                lambda found: "\n" if found[1] in "nN" else found[1], value
            )
    assert depth == []
    return events


def test_a_feed_has_an_entry_for_each_incident() -> None:
    incidents = [make_incident(), make_incident(incident_id="incident_2", state="acknowledged")]
    entries = read_atom(write_atom(Links(URL, "music"), incidents))
    assert [one["link"] for one in entries] == [f"{PAGES}{one.link}" for one in incidents]
    assert entries[0]["title"] == "New incident: nDCG@5 fell for device=tv, gbdt 42 (music)"
    assert entries[0]["published"] == "2026-11-08T15:30:00.000000Z"
    assert "below the floor of 0.7976" in entries[0]["content"]
    assert len({one["id"] for one in entries}) == 2
    assert all(re.fullmatch(r"urn:uuid:[0-9a-f-]{36}", one["id"]) for one in entries)


def test_an_entry_keeps_its_id_and_is_updated() -> None:
    before = make_incident()
    after = replace(before, state="recovered", recovered=NOW, updated=NOW + timedelta(hours=1))
    (old,), (new,) = (read_atom(write_atom(Links("", "music"), [one])) for one in (before, after))
    assert old["id"] == new["id"]
    assert old["updated"] < new["updated"]
    assert new["title"].startswith("Recovered: ")
    # Without a public address, links are relative to the host of the feed.
    assert new["link"] == "/projects/music/incidents/incident_1"


def test_incidents_of_two_projects_are_not_one_entry() -> None:
    both = [Links("", project) for project in ("music", "films")]
    ids = {read_atom(write_atom(links, [make_incident()]))[0]["id"] for links in both}
    assert len(ids) == 2


def test_an_empty_feed_is_a_feed() -> None:
    assert read_atom(write_atom(Links("", "music"), [])) == []
    assert b"<updated>1970-01-01T00:00:00.000000Z</updated>" in write_atom(Links("", "music"), [])
    assert read_calendar(write_calendar(Links("", "music"), [], MICROS)) == []


@pytest.mark.parametrize("state", STATUSES)
def test_an_event_lasts_as_long_as_its_incident(state: str) -> None:
    ended = NOW + timedelta(hours=2)
    times = {"recovered": {"recovered": ended}, "superseded": {"resolved": ended}}
    times["resolved"] = times["superseded"]
    incident = make_incident(state=state, **times.get(state, {}))
    for minutes in (0, 59):
        now = MICROS - MICROS % HOUR + minutes * HOUR // 60
        (event,) = read_calendar(write_calendar(Links(URL, "music"), [incident], now))
        assert event["DTSTART"] == f"{BEGAN:%Y%m%dT%H%M%SZ}"
        until = to_datetime(MICROS - MICROS % HOUR + HOUR)
        ends = until if incident.is_active else ended
        assert event["DTEND"] == f"{ends:%Y%m%dT%H%M%SZ}"
        assert event["URL"] == f"{PAGES}/incidents/incident_1"
        assert event["CATEGORIES"] == f"quality,warning,{state}"


def test_an_event_never_ends_before_it_begins() -> None:
    early = BEGAN - timedelta(days=1)
    incident = make_incident(state="recovered", recovered=early)
    (event,) = read_calendar(write_calendar(Links("", "music"), [incident], 0))
    assert event["DTEND"] == event["DTSTART"]


def make_hostile(name: str) -> Incident:
    """An incident whose names are all one text."""
    return make_incident(rule=name, model=name, version=name, slice=((name, name),), reason=name)


@pytest.mark.parametrize("name", HOSTILE, ids=ascii)
def test_hostile_names_neither_end_an_entry_nor_begin_another(name: str) -> None:
    incident = make_hostile(name)
    (entry,) = read_atom(write_atom(Links(URL, name), [incident]))
    assert entry["title"].startswith("New incident: nDCG@5 fell for ")
    (event,) = read_calendar(write_calendar(Links(URL, name), [incident], MICROS))
    assert event["SUMMARY"].startswith("New incident: nDCG@5 fell for ")
    assert "\n" not in event["SUMMARY"]
    assert set(event) == {
        *("UID", "DTSTAMP", "DTSTART", "DTEND", "SUMMARY"),
        *("DESCRIPTION", "CATEGORIES", "TRANSP", "URL"),
    }


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=300)


@given(name=TEXTS)
@examples(100)
def test_every_text_gives_a_feed_and_a_calendar(name: str) -> None:
    incident = make_hostile(name)
    assert len(read_atom(write_atom(Links(URL, name), [incident]))) == 1
    assert len(read_calendar(write_calendar(Links(URL, name), [incident], MICROS))) == 1


@given(text=TEXTS)
@examples(100)
def test_a_text_of_a_calendar_is_read_back_but_for_controls(text: str) -> None:
    line = f"SUMMARY:{_escape(text)}"
    (event,) = read_calendar(
        b"".join(
            piece
            for each in ("BEGIN:VCALENDAR", "BEGIN:VEVENT", line, "END:VEVENT", "END:VCALENDAR")
            for piece in _fold(each)
        )
    )
    expected = text.replace("\r\n", "\n").replace("\r", "\n")
    kept = (one for one in expected if one in "\t\n" or not (one < " " or one == "\x7f"))
    assert event["SUMMARY"] == "".join(kept)


@pytest.mark.parametrize("character", ["x", "é", "😀"])
@pytest.mark.parametrize("length", range(70, 80))
def test_lines_are_folded_at_75_octets_between_characters(character: str, length: int) -> None:
    line = "a" * length + character * 100
    pieces = list(_fold(line))
    assert b"".join(pieces).replace(b"\r\n ", b"") == f"{line}\r\n".encode()
    for piece, after in pairwise(pieces):
        octets = len(piece) - len(b"\r\n")
        # No character more would have fitted.
        width = len(after.decode().removeprefix(" ")[0].encode())
        assert octets <= OCTETS < octets + width


@pytest.fixture
def public(tmp_path: Path) -> Iterator[Service]:
    """A service that knows its address, with an incident."""
    made = Service(tmp_path, Settings(notifying=Channels(public_url=URL)))
    for rule, number in (("quality", 1), ("volume", 2)):
        incident = make_incident(rule=rule, incident_id=f"incident_{number}")
        row = write_incident(incident)
        made.store.transact(
            lambda transaction, row=row: put_incidents(
                transaction.connection, transaction.project("music"), [row], []
            )
        ).result()
    yield made
    made.store.close()


def test_the_routes_give_what_is_asked_for(public: Service) -> None:
    key = public.make_key("music", "read")
    for path, kind in zip(PATHS, ("application/atom+xml", "text/calendar"), strict=True):
        read = read_atom if kind.endswith("xml") else read_calendar
        for query, count in (("", 2), ("?limit=1", 1), ("?rule=volume", 1), ("?rule=none", 0)):
            answer = public.ask("GET", f"{path}{query}", key=key)
            assert answer.status_code == 200
            assert answer.headers["content-type"] == f"{kind}; charset=utf-8"
            assert len(read(answer.content)) == count
        assert URL in answer.text or count == 0


def test_who_has_the_newest_feed_gets_no_other(public: Service) -> None:
    key = public.make_key("music", "read")
    for path in PATHS:
        tag = public.ask("GET", path, key=key).headers["etag"]
        again = public.ask("GET", path, key=key, headers={"if-none-match": tag})
        assert (again.status_code, again.content) == (304, b"")


def test_a_feed_is_of_the_project_of_the_key_and_no_key_is_in_an_address(public: Service) -> None:
    films = public.make_key("films", "read")
    for path, read in zip(PATHS, (read_atom, read_calendar), strict=True):
        assert read(public.ask("GET", path, key=films).content) == []
        assert public.ask("GET", path, key=None).status_code == 401
        assert public.ask("GET", path).status_code == 403  # of a key that sends events
        assert public.ask("GET", f"{path}?key={films}", key=None).status_code == 400
        browser = public.browser()
        browser.sign_in(films)
        assert browser.get(path).status_code == 200


def test_times_of_calendars_are_utc() -> None:
    (event,) = read_calendar(write_calendar(Links("", "music"), [make_incident()], MICROS))
    for name in ("DTSTAMP", "DTSTART", "DTEND"):
        datetime.strptime(event[name], "%Y%m%dT%H%M%SZ")  # noqa: DTZ007 - the Z says so
