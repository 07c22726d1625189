from __future__ import annotations

from contextlib import closing
from datetime import timedelta

import pytest
from rankscope.monitor import Configuration, define
from rankscope.monitor.client.client import Client
from rankscope.monitor.client.http import Answer
from rankscope.monitor.doctor import examine
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.events.times import format_time, to_datetime
from rankscope.monitor.monitor import Monitor
from rankscope.monitor.server.pages.overview import view_overview

START = 20_003 * DAY
CONFIGURATION = Configuration(
    definition=define(measures=["nDCG@5"], positive="click", window="1h"),
    attributes=("device",),
    baseline=None,
)
LABEL = "label 'Click' isn't configured, so it doesn't count"
ATTRIBUTE = "attribute 'device' is missing in all"


class Logged:
    def __init__(self, path):
        self.hour = 0
        self.path = path
        self.monitor = Monitor.open(str(path), now=self.now, threads=1)
        self.monitor.configure(CONFIGURATION)
        self.monitor.evaluate()

    def now(self):
        return to_datetime(START + self.hour * HOUR) + timedelta(minutes=1)

    def log(self, hours, *, label="click", attribute="device", doc="b", more=""):
        """Log some hours, evaluate them, and return what doesn't match in the last of them."""
        found = []
        for hour in range(self.hour, self.hour + hours):
            rankings, labels = make_hour(hour, label, attribute, doc)
            self.hour = hour + 1
            if more:
                labels += [one | {"label": more} for one in labels]
            found = [
                *self.monitor.log_rankings(rankings).mismatches,
                *self.monitor.log_labels(labels).mismatches,
            ]
        self.monitor.evaluate()
        return found

    @property
    def incidents(self):
        return {(one.kind, one.slice) for one in self.monitor.incidents() if one.kind == "names"}


def make_hour(hour, label, attribute, doc):
    time = format_time(to_datetime(START + hour * HOUR))
    names = [f"{hour} {number}" for number in range(4)]
    rankings = [
        {
            "ranking_id": name,
            "time": time,
            "doc_ids": ["a", "b"],
            "attributes": {attribute: "tv"} if attribute else {},
        }
        for name in names
    ]
    labels = [{"ranking_id": name, "time": time, "doc_id": doc, "label": label} for name in names]
    return rankings, labels


@pytest.fixture
def logged(tmp_path):
    made = Logged(tmp_path / "events.db")
    with closing(made.monitor):
        yield made


def check_doctor(logged):
    (found,) = (one for one in examine(logged.monitor, logged.path) if one.name == "names")
    return found.is_good, found.told


def test_names_that_match_are_no_matter(logged):
    assert logged.log(26) == []
    assert check_doctor(logged)[0]
    assert view_overview(logged.monitor).mismatches == ()
    assert logged.incidents == set()


def test_names_that_look_like_others_are_named_in_the_first_hour(logged):
    found = logged.log(1, label="Click", attribute="Device")
    assert [(one.kind, one.name, one.like, one.count, one.of) for one in found] == [
        ("missing_attribute", "device", "Device", 4, 4),
        ("unknown_label", "Click", "click", 4, 4),
    ]
    assert str(found[1]) == f"{LABEL} (4 of 4 labels); it looks like 'click'"
    view = view_overview(logged.monitor)
    assert {str(one) for one in view.mismatches} == {str(one) for one in found}
    is_good, told = check_doctor(logged)
    assert not is_good
    assert LABEL in told
    assert ATTRIBUTE in told
    assert logged.incidents == set()


@pytest.mark.slow
def test_after_a_day_they_are_incidents_until_they_match(logged):
    logged.log(23, label="Click", attribute="Device")
    assert logged.incidents == set()
    logged.log(3, label="Click", attribute="Device")
    assert logged.incidents == {
        ("names", (("label", "click"),)),
        ("names", (("attribute", "device"),)),
    }
    reasons = {one.slice: one.reason for one in logged.monitor.incidents()}
    assert LABEL in reasons[(("label", "click"),)]
    logged.log(24)
    assert len(logged.incidents) == 2  # in the last day, half of the labels were of that kind
    logged.log(24)
    assert logged.incidents == set()


@pytest.mark.slow
def test_an_incident_that_a_person_resolves_stays_resolved(logged):
    logged.log(26, attribute="")
    (one,) = logged.monitor.incidents()
    assert ATTRIBUTE in one.reason
    logged.monitor.resolve(one.incident_id)
    logged.log(50, attribute="")
    assert logged.incidents == set()


def test_more_labels_than_count_are_noted_and_no_incident(logged):
    (one,) = logged.log(26, more="impression")
    assert (one.kind, one.name, one.like) == ("unknown_label", "impression", "")
    assert logged.incidents == set()
    assert [str(found) for found in view_overview(logged.monitor).mismatches] == [
        "label 'impression' isn't configured, so it doesn't count (92 of 184 labels)"
    ]


def test_labels_that_match_no_document_are_an_incident(logged):
    (told,) = logged.log(26, doc="elsewhere")
    assert (told.kind, told.count, told.of) == ("unmatched_label", 4, 4)
    assert logged.incidents == {("names", ())}
    said = "labels looked up are for documents that their rankings don't have"
    assert said in check_doctor(logged)[1]


def test_names_are_cut_to_80_characters_and_20_are_reported(logged):
    labels = [
        {"ranking_id": "r", "time": START // 1000, "doc_id": "a", "label": f"{number} {'x' * 100}"}
        for number in range(500)
    ]
    logged.hour = 1
    ingested = logged.monitor.log_labels(labels)
    assert ingested.accepted == 500
    assert len(ingested.mismatches) == 20
    assert max(len(one.name) for one in ingested.mismatches) == 80


class Telling:
    def post(self, path, body):
        assert path == "/v1/labels"
        told = {"message": f"{LABEL} ({len(body)} of 99 labels)"}
        return Answer(200, {"accepted": 1, "mismatches": [told]})


def test_the_client_warns_once(caplog):
    with Client("http://127.0.0.1:1", "", transport=Telling()) as client:
        for number in range(3):
            label = {"ranking_id": str(number) * 9**number, "doc_id": "a", "label": "click"}
            assert client.log_label({**label, "time": START // 1000})
            assert client.flush()
    assert len([one for one in caplog.records if LABEL in one.getMessage()]) == 1
