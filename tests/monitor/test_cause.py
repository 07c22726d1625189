from __future__ import annotations

from dataclasses import replace

import pytest
from rankscope.monitor.ask.cause import CauseFinder, find_baseline_span
from rankscope.monitor.ask.trace import Span
from rankscope.monitor.definition.configuration import BaselineChoice, Configuration
from rankscope.monitor.events.event import Ranking
from rankscope.monitor.events.limits import HOUR, MINUTE
from rankscope.monitor.events.times import to_datetime
from rankscope.monitor.round import make_finder
from rankscope.monitor.store.sqlite.store import SQLiteStore

from tests.monitor.notify.notices import make_incident
from tests.monitor.stories import BAD, COUNT, RULE, WEEK, search

NOW = 2 * WEEK + HOUR
EVENTS = [
    *search(1, COUNT, versions={"3": 1}, environment="validation"),
    *search(2, COUNT, versions={"3": 1}),
    *search(3, COUNT, start=WEEK, versions={"3": 0.5, "4": 0.5}),
]
CHOICES = (
    BaselineChoice(),
    BaselineChoice(kind="version"),
    BaselineChoice(kind="period", since=to_datetime(0), until=to_datetime(WEEK)),
)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    with SQLiteStore(tmp_path_factory.mktemp("cause") / "events.db") as opened:
        opened.append("music", EVENTS)
        yield opened


def find(store, choice, **given):
    asked = {"model": "ranker", "version": "4", "began": WEEK, "now": NOW}
    measure = given.pop("measure", "nDCG@5")
    return CauseFinder(store, "music", RULE, choice, threads=1).find(measure, **asked | given)


@pytest.mark.parametrize("choice", CHOICES, ids=lambda choice: choice.kind)
def test_the_cause_is_the_release_on_televisions(store, choice):
    found = find(store, choice)
    assert dict(found.slice) == {"device": "tv", "version": "4"}
    assert (found.by, found.loss, found.new_version) == ("within", "ordering", "version=4")
    assert found.share > 0.7
    assert found.p_value <= 0.025
    assert found.sentence.startswith("device=tv, version=4 fell by ordering, which explains ")
    assert found.sentence.endswith(" of the drop.")
    assert len(found.queries) == 5
    assert found.queries[0]["after"] == pytest.approx(BAD)
    assert found.to_dict()["slice"] == {"device": "tv", "version": "4"}


@pytest.mark.parametrize(
    "given",
    [{"version": "3", "began": WEEK}, {"began": NOW}, {"version": "4", "now": WEEK + HOUR}],
    ids=["no release", "no final rankings", "too early"],
)
def test_without_a_cause_there_is_none(store, given):
    assert find(store, CHOICES[0], **given) is None


def test_without_a_baseline_or_against_the_slice_there_is_no_cause(store):
    assert find(store, None) is None
    assert find(store, CHOICES[0], place=(("device", "phone"),)) is None


def test_a_rule_of_another_measure_is_explained_by_ndcg(store):
    assert find(store, CHOICES[0], measure="RR@5") == find(store, CHOICES[0])


def test_all_versions_are_compared_with_the_weeks_before(store):
    found = find(store, CHOICES[1], version="<all>")
    assert found.before["until"] == "1970-01-01T15:00:00.000000Z"
    assert dict(found.slice)["device"] == "tv"


def test_the_baseline_is_that_of_the_rule(store):
    versions = store.versions("music")
    assert find_baseline_span(CHOICES[0], versions, "ranker", "4", 0) == Span(
        environment="validation"
    )
    span = find_baseline_span(CHOICES[1], versions, "ranker", "4", 0)
    assert (span.model, span.version) == ("ranker", "3")
    assert find_baseline_span(CHOICES[1], versions, "ranker", "3", 0) is None


@pytest.mark.parametrize("place", [(("device", "tv"),), (("country", "de"),), ()])
def test_the_cause_of_a_slice_may_be_another_one_that_overlaps_it(store, place):
    assert find(store, CHOICES[0], place=place) == find(store, CHOICES[0])


def test_that_everything_fell_is_no_cause_of_one_slice(tmp_path):
    def mix(seed, start, grade):
        """Searches whose devices do not matter, with a grade of the last document."""
        events = search(seed, COUNT, start=start, versions={"3": 1})
        for number, one in enumerate(events):
            if isinstance(one, Ranking):
                device = "tv" if number % 4 else "phone"
                yield replace(one, attributes=(("device", device),))
            else:
                yield replace(one, value=grade) if one.doc_id == "e" else one

    with SQLiteStore(tmp_path / "events.db") as opened:
        opened.append("music", [*mix(2, 0, 0.0), *mix(3, WEEK, 100.0)])
        whole = find(opened, CHOICES[2], version="3")
        assert whole.sentence.startswith("Everything fell")
        assert find(opened, CHOICES[2], version="3", place=(("device", "tv"),)) is None


def test_few_rankings_of_one_of_two_models_are_compared_with_those_of_that_model(tmp_path):
    def rename(seed, count, start, version, model):
        for one in search(seed, count, start=start, versions={version: 1}):
            yield replace(one, model=model, version="1") if isinstance(one, Ranking) else one

    # About 22 rankings on televisions are final when the incident is opened.
    with SQLiteStore(tmp_path / "events.db") as opened:
        opened.append("music", list(rename(1, COUNT, 0, "3", "lambda")))
        opened.append("music", list(rename(2, COUNT, 0, "4", "trees")))
        opened.append("music", list(rename(3, 66, WEEK, "4", "lambda")))
        asked = {"model": "lambda", "version": "1", "place": (("device", "tv"),)}
        found = find(opened, CHOICES[2], **asked, now=WEEK + 66 * MINUTE + HOUR)
    assert dict(found.slice) == {"device": "tv"}
    assert found.before["model"] == "lambda"
    assert found.sentence.startswith("device=tv fell by ordering, which explains ")


def test_an_incident_found_by_early_values_is_explained_by_them(store):
    """The attribution window of a day isn't over for any ranking since the release."""
    now = to_datetime(2 * WEEK)
    configuration = Configuration(definition=replace(RULE, window=24 * 3600), baseline=CHOICES[0])
    incident = make_incident(model="ranker", version="4", slice=(), began=to_datetime(WEEK))
    find_cause = make_finder(store, "music", configuration, 1)
    assert find_cause(incident, now) is None
    found = find_cause(replace(incident, evidence={"age": "15m"}), now)
    assert found["slice"] == {"device": "tv", "version": "4"}
