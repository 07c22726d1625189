"""A month in which five things go wrong: which incidents open, who hears of them, when they end."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from datetime import timedelta

import pytest
from rankscope.monitor.definition.configuration import BaselineChoice, Configuration
from rankscope.monitor.definition.definition import define
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.events.times import to_datetime
from rankscope.monitor.incidents.incident import Notice
from rankscope.monitor.monitor import Monitor
from rankscope.monitor.rules.kinds import Rule

from tests.monitor.outages import (
    DAY_0,
    DAYS,
    LABELS,
    PHONE,
    RENAMED,
    SILENT,
    START,
    TV,
    log_events,
)

pytestmark = [pytest.mark.timeout(1500), pytest.mark.slow]

CONFIGURATION = Configuration(
    definition=define(measures=("nDCG@5",), positive="click", window="24h"),
    attributes=("device", "country"),
    baseline=BaselineChoice(kind="period", since=to_datetime(START), until=to_datetime(DAY_0)),
)
RULE = Rule(name="quality by device", measure="nDCG@5", slices=("device",))
STREAMS = {
    TV: ("quality", "lambda", (("device", "tv"),)),
    PHONE: ("quality", "trees", (("device", "phone"),)),
    LABELS: ("labels", "", ()),
    RENAMED: ("attributes", "", (("device", "tv"),)),
    SILENT: ("versions", "trees", ()),
}
"""What the incident of each fault is about: its kind, model and slice."""


@dataclass(frozen=True, slots=True)
class Month:
    """What has happened."""

    monitor: Monitor
    active: tuple[frozenset[tuple[object, ...]], ...]

    def find(self, fault):
        """The only incident that is about a fault."""
        found = [each for each in self.monitor.incidents("all") if key(each) == STREAMS[fault]]
        assert len(found) == 1, fault.name
        return found[0]


def key(incident):
    return incident.kind, incident.model, incident.slice


@pytest.fixture(scope="module")
def month(tmp_path_factory):
    """The month, looked at once a day."""
    now = START
    path = tmp_path_factory.mktemp("outages") / "events.db"
    with closing(Monitor.open(str(path), now=lambda: to_datetime(now))) as monitor:
        monitor.configure(CONFIGURATION)
        events = sorted(
            (event.time, at, event)
            for at, (ranking, labels) in enumerate(log_events())
            for event in (ranking, *labels)
        )
        since = START
        active = []
        for until in (DAY_0 + day * DAY + 2 * HOUR for day in range(DAYS)):
            arrived = [event for time, _, event in events if since <= time < until]
            monitor.writer.append(monitor.project, arrived)
            since = now = until
            monitor.evaluate()
            if until == DAY_0 + 2 * HOUR:
                monitor.set_rule(RULE)
            active.append(frozenset(map(key, monitor.incidents())))
        yield Month(monitor, tuple(active))


@pytest.mark.parametrize("fault", STREAMS, ids=lambda fault: fault.name)
def test_each_fault_has_an_incident_that_began_when_it_did(month, fault):
    incident = month.find(fault)
    begin = to_datetime(DAY_0 + fault.first * DAY)
    assert incident.began is not None
    assert abs(incident.began - begin) <= timedelta(days=1)
    assert begin < incident.opened <= begin + timedelta(days=3)


@pytest.mark.parametrize("fault", STREAMS, ids=lambda fault: fault.name)
def test_an_incident_ends_after_its_fault_is_repaired_and_not_before(month, fault):
    incident = month.find(fault)
    if fault.end == DAYS:
        assert incident.is_active
        return
    repaired = to_datetime(DAY_0 + fault.end * DAY)
    assert incident.recovered is not None
    assert repaired < incident.recovered <= repaired + timedelta(days=3)
    assert incident.state in {"recovered", "resolved"}


def test_a_fault_that_begins_during_another_is_not_silent(month):
    """Televisions are still bad when phones fall, and both are active at a time."""
    assert any({STREAMS[TV], STREAMS[PHONE]} <= seen for seen in month.active)
    assert any({STREAMS[RENAMED], STREAMS[SILENT]} <= seen for seen in month.active)


def test_nothing_else_is_reported(month):
    """A model whose phones fell has fallen as a whole, too."""
    others = {key(each) for each in month.monitor.incidents("all")} - set(STREAMS.values())
    # Lists in another order are warned of, too.
    warned = {("early", "lambda", (("device", "tv"),)), ("early", "trees", (("device", "phone"),))}
    assert others <= {("quality", "trees", ()), ("quality", "lambda", ())} | warned
    assert not month.active[TV.first]


def test_people_hear_of_each_incident_once_when_it_opens_and_once_when_it_ends(month):
    said = {}
    for each in month.monitor.notifications(1000):
        if each.channel != "log":
            continue
        for event, incident in Notice.from_json(each.body).parts:
            said.setdefault((incident.incident_id, event), []).append(each.notification_id)
    for fault in STREAMS:
        incident = month.find(fault)
        events = ["opened", *(["recovered"] if fault.end < DAYS else [])]
        for event in events:
            assert len(said.get((incident.incident_id, event), [])) == 1, (fault.name, event)
