"""The records of incidents, and the JSON that the store, the API and messages share."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st
from rankscope.monitor.incidents.incident import (
    ACTIVE,
    EVENTS,
    STATUSES,
    Incident,
    Notice,
    Notified,
    make_notice,
)
from rankscope.monitor.rules.kinds import PROBLEMS
from rankscope.records import replace

NOW = datetime(2026, 11, 8, 9, tzinfo=UTC)
TIMES = st.integers(0, 10**6).map(lambda seconds: NOW + timedelta(seconds=seconds))
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
OBJECTS = st.dictionaries(TEXTS, TEXTS | st.integers() | st.none() | st.lists(TEXTS), max_size=3)
NAMES = ("incident_id", "project", "rule", "measure", "model", "version", "reason", "group")
NOTIFIED = st.builds(Notified, TIMES, st.sampled_from(EVENTS), TEXTS)
INCIDENTS = st.builds(
    Incident,
    **dict.fromkeys(NAMES, TEXTS),
    **dict.fromkeys(("opened", "updated"), TIMES),
    **dict.fromkeys(("began", "recovered", "resolved", "snoozed_until"), TIMES | st.none()),
    kind=st.sampled_from(tuple(PROBLEMS)),
    slice=st.dictionaries(TEXTS, TEXTS, max_size=2).map(lambda pairs: tuple(pairs.items())),
    severity=st.sampled_from(["warning", "critical"]),
    state=st.sampled_from(STATUSES),
    acknowledged_by=TEXTS | st.none(),
    evidence=OBJECTS,
    cause=OBJECTS | st.none(),
    notified=st.lists(NOTIFIED, max_size=2).map(tuple),
)


@given(INCIDENTS)
def test_an_incident_is_read_back_from_its_json(incident: Incident) -> None:
    assert Incident.from_json(incident.to_json()) == incident
    assert incident.is_active is (incident.state in ACTIVE)


@given(TIMES, TEXTS, st.lists(st.tuples(st.sampled_from(EVENTS), INCIDENTS), max_size=3))
def test_a_notice_is_read_back_from_its_json(
    time: datetime, group: str, parts: list[tuple[str, Incident]]
) -> None:
    notice = make_notice("music", time, group, parts)  # type: ignore[arg-type]  # sampled
    said = tuple((event, replace(incident, notified=())) for event, incident in notice.parts)
    assert Notice.from_json(notice.to_json()) == replace(notice, parts=said)
    assert make_notice("music", time, group, parts).notice_id == notice.notice_id  # type: ignore[arg-type]


def test_the_json_of_an_incident_is_the_contract_for_scripts() -> None:
    incident = Incident(
        incident_id="incident_1",
        project="music",
        rule="quality",
        measure="nDCG@5",
        kind="quality",
        model="gbdt",
        version="42",
        slice=(("device", "tv"),),
        opened=NOW,
        updated=NOW,
        began=NOW - timedelta(days=1),
        notified=(Notified(NOW, "opened", "log"),),
    )
    assert incident.to_dict() == {
        "id": "incident_1",
        "project": "music",
        "rule": "quality",
        "measure": "nDCG@5",
        "kind": "quality",
        "severity": "warning",
        "stream": {"model": "gbdt", "version": "42", "slice": {"device": "tv"}},
        "state": "open",
        "opened": "2026-11-08T09:00:00.000000Z",
        "began": "2026-11-07T09:00:00.000000Z",
        "updated": "2026-11-08T09:00:00.000000Z",
        "recovered": None,
        "resolved": None,
        "snoozed_until": None,
        "acknowledged_by": None,
        "reason": "",
        "before": None,
        "after": None,
        "evidence": {},
        "cause": None,
        "group": "",
        "notified": [
            {
                "time": "2026-11-08T09:00:00.000000Z",
                "event": "opened",
                "channel": "log",
                "notice": "",
            }
        ],
    }
