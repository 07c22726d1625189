"""The routes of incidents: what they answer, and what they refuse."""

from __future__ import annotations

import json

import httpx
import pytest
from rankscope.monitor.events.limits import HOUR
from rankscope.monitor.events.times import format_time
from rankscope.monitor.incidents.incident import Change
from rankscope.monitor.incidents.management import set_rule
from rankscope.monitor.rules.kinds import Rule

from tests.monitor.server.music import MUSIC
from tests.monitor.server.pages.incidents import BEGAN, make_incident, put_incidents
from tests.monitor.server.service import NOW, Service

RULE = Rule(name="quality", measure="nDCG@5")
HOSTILE = "<script>alert(1)</script>"


def post_to(service: Service, path: str, key: str, body: dict[str, str]) -> httpx.Response:
    headers = {"content-type": "application/json"}
    return service.ask("POST", path, json.dumps(body).encode(), key=key, headers=headers)


@pytest.fixture
def incident_id(service: Service) -> str:
    """An open incident of the project music."""
    service.store.configure("music", MUSIC.to_json(), NOW, "ada")
    set_rule(service.store, "music", MUSIC, RULE, now=NOW, actor="ada")
    incident = make_incident(project="music", model="", version=HOSTILE, slice=())
    put_incidents(service, incident, incident_1=(Change(BEGAN, "opened", "rankscope"),))
    return incident.incident_id


def test_incidents_are_listed_and_shown_with_their_history(
    service: Service, incident_id: str
) -> None:
    key = service.make_key("music", "read")
    (listed,) = service.ask("GET", "/v1/incidents", key=key).json()["incidents"]
    shown = service.ask("GET", f"/v1/incidents/{incident_id}", key=key).json()
    history = shown.pop("history")
    assert shown == listed
    assert (listed["id"], listed["state"]) == (incident_id, "open")
    assert listed["stream"] == {"model": "", "version": HOSTILE, "slice": {}}
    assert [change["action"] for change in history] == ["opened"]
    for query, count in (
        ("state=all", 1),
        ("state=resolved", 0),
        ("rule=quality", 1),
        ("rule=other", 0),
    ):
        answer = service.ask("GET", f"/v1/incidents?{query}", key=key)
        assert len(answer.json()["incidents"]) == count
    assert service.ask("GET", "/v1/incidents?state=odd", key=key).status_code == 422


def test_people_acknowledge_snooze_and_resolve(service: Service, incident_id: str) -> None:
    key = service.make_key("music", "read", "admin")
    path = f"/v1/incidents/{incident_id}"

    def post(action: str, **body: str) -> dict[str, object]:
        answer = post_to(service, f"{path}/{action}", key, body)
        assert answer.status_code == 200, answer.text
        return answer.json()  # type: ignore[no-any-return]

    assert post("acknowledge", note="mine")["state"] == "acknowledged"
    until = format_time(NOW + HOUR)
    assert post("snooze", until=until)["snoozed_until"] == until
    assert post("resolve")["state"] == "resolved"
    history = service.ask("GET", path, key=key).json()["history"]
    actor = key.split("_")[1]
    assert [(one["action"], one["actor"]) for one in history[1:]] == [
        ("acknowledged", actor),
        ("snoozed", actor),
        ("resolved", actor),
    ]
    again = post_to(service, f"{path}/resolve", key, {})
    assert (again.status_code, again.json()["error"]["code"]) == (422, "incident_state")


@pytest.mark.parametrize(
    ("action", "body"),
    [
        ("snooze", {}),
        ("snooze", {"until": "soon"}),
        ("snooze", {"until": format_time(NOW - HOUR)}),
        ("acknowledge", {"note": "a" * 2001}),
        ("acknowledge", {"note": "a\x00b"}),
        ("resolve", {"evil": "1"}),
    ],
)
def test_what_cannot_be_done_is_refused(
    service: Service, incident_id: str, action: str, body: dict[str, str]
) -> None:
    key = service.make_key("music", "read", "admin")
    answer = post_to(service, f"/v1/incidents/{incident_id}/{action}", key, body)
    assert answer.status_code == 422
    shown = service.ask("GET", f"/v1/incidents/{incident_id}", key=key).json()
    assert (shown["state"], len(shown["history"])) == ("open", 1)
