"""The page, the API, the command line and messages give one account of an incident.

When it began, the values before and after, and the cause are each decided in one place.
"""

from __future__ import annotations

from typing import Any

from rankscope.monitor.commands.incidents import describe_incident
from rankscope.monitor.events.times import format_time, to_datetime
from rankscope.monitor.incidents.incident import Incident, make_notice
from rankscope.monitor.incidents.transitions import open_incident
from rankscope.monitor.notify.alertmanager import write_alert
from rankscope.monitor.notify.message import write_message
from rankscope.monitor.rules.kinds import Rule
from rankscope.monitor.rules.state import Finding

from tests.monitor.server.pages.incidents import BEGAN, make_incident, put_incidents
from tests.monitor.server.pages.site import as_json, check_page, get, open_monitor
from tests.monitor.server.service import NOW, Service

CAUSE = {
    "sentence": "device=tv, version=4 fell by ordering, which explains 87% of the drop.",
    "slice": {"device": "tv", "version": "4"},
    "p_value": 0.005,
    "contribution": -0.05,
}
OTHER = CAUSE | {"sentence": "Everything fell by truncation.", "slice": {}, "p_value": 0.001}
PAIR = "fell from 1.0000 to 0.7500"


def write(*incidents: Incident) -> str:
    """The message that tells of incidents."""
    parts = [("opened", each) for each in incidents]
    return write_message([make_notice("default", to_datetime(NOW), "a", parts).to_json()]).text  # type: ignore[arg-type]  # an event


def test_all_accounts_of_an_incident_are_one(site: Service) -> None:
    open_monitor(site.store)
    incident = make_incident(cause=CAUSE, group="a", evidence={"floor": 0.9})
    put_incidents(site, incident)
    [said] = as_json(site.browser().get("/v1/incidents"))["incidents"]
    assert (said["before"], said["after"]) == (1.0, 0.75)
    assert said["began"] == format_time(BEGAN)
    page = check_page(get(site, incident.link)).text
    listed = check_page(get(site, "/incidents")).text
    printed, message = describe_incident(said), write(incident)
    alert = write_alert(incident, NOW)
    texts = [page, listed, printed, message, str(alert["annotations"])]
    for text in texts:
        assert PAIR in " ".join(text.split())
        assert CAUSE["sentence"] in " ".join(text.split())
    day = f"{BEGAN.day} {BEGAN:%b %Y}"
    for text in (page, listed, message):
        assert day in text
    assert f"since {BEGAN:%Y-%m-%dT%H:%M:%SZ}" in printed
    assert alert["startsAt"] == format_time(BEGAN)
    opened = f"{incident.opened.day} {incident.opened:%b %Y}"
    for text in (listed, printed, message):
        assert opened not in text


def test_a_group_has_one_cause_however_its_parts_are_ordered(site: Service) -> None:
    open_monitor(site.store)
    parts = [
        make_incident(1, group="a", model="n", cause=OTHER),
        make_incident(2, group="a", cause=CAUSE),
    ]
    for ordered in (parts, parts[::-1]):
        assert write(*ordered).count("Cause: ") == 1
        assert f"Cause: {CAUSE['sentence']}" in write(*ordered)
    put_incidents(site, *parts)
    assert f"Cause: {CAUSE['sentence']}" in check_page(get(site, "/incidents")).text


def test_an_incident_begins_when_it_was_opened_where_nothing_else_is_known() -> None:
    now = to_datetime(NOW)
    rule = Rule(name="quality", measure="nDCG@5")
    said: dict[str, Any] = {"kind": "quality", "verdict": "bad"}
    unknown = open_incident("music", rule, Finding(**said), now).incident
    known = open_incident("music", rule, Finding(**said, began=BEGAN), now).incident
    assert (unknown.began, known.began) == (now, BEGAN)
