"""Incidents in words and in groups, as pages show them."""

from __future__ import annotations

import math
from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.events.times import to_micros
from rankscope.monitor.incidents.incident import STATUSES
from rankscope.monitor.rules.kinds import PROBLEMS
from rankscope.monitor.server.pages.groups import (
    describe_evidence,
    group_incidents,
    list_episodes,
    list_steps,
    measure_length,
    name_problem,
    name_stream,
    trace_incident,
    write_multiple,
)

from tests.monitor.server.pages.incidents import BEGAN, make_incident
from tests.monitor.server.service import NOW


def test_incidents_of_one_cause_are_one_group_and_those_without_are_alone() -> None:
    groups = group_incidents(
        [make_incident(1, group="a"), make_incident(2), make_incident(3, group="a")]
    )
    assert sorted([each.incident_id for each in group.parts] for group in groups) == [
        ["incident_1", "incident_3"],
        ["incident_2"],
    ]


def test_what_needs_most_care_comes_first() -> None:
    made = [make_incident(at, state=state) for at, state in enumerate(reversed(STATUSES))]
    made.append(make_incident(9, severity="critical"))
    ordered = [group.first for group in group_incidents(made)]
    assert ordered[0].severity == "critical"
    assert [each.state for each in ordered[1:]] == list(STATUSES)


def test_missing_data_name_a_group_before_the_quality_that_they_explain() -> None:
    [group] = group_incidents(
        [make_incident(1, group="a"), make_incident(2, group="a", kind="labels")]
    )
    assert group.first.kind == "labels"


def test_a_group_lasts_while_any_part_does_and_began_with_the_first_of_those() -> None:
    earlier = make_incident(1, group="a", state="resolved", began=BEGAN - timedelta(days=9))
    [group] = group_incidents([earlier, make_incident(2, group="a")])
    assert group.is_active
    assert group.began == BEGAN
    [over] = group_incidents([earlier])
    assert not over.is_active


@pytest.mark.parametrize("kind", PROBLEMS)
def test_each_kind_has_a_name_and_something_to_do(kind: str) -> None:
    incident = make_incident(kind=kind, measure="" if kind != "quality" else "nDCG@5")
    assert name_problem(incident)[0].isupper() or kind == "quality"
    assert list_steps(incident, NOW)
    over = make_incident(kind=kind, state="resolved")
    assert list_steps(over, NOW) == ()


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ({}, "device=tv, m 4"),
        ({"version": "<all>"}, "device=tv, m"),
        ({"slice": ()}, "m 4"),
        ({"slice": (), "model": "", "version": ""}, "all rankings"),
        ({"slice": (("device", "tv"), ("country", "jp"))}, "device=tv, country=jp, m 4"),
    ],
)
def test_a_stream_is_named_by_what_it_is(said: dict[str, object], name: str) -> None:
    assert name_stream(make_incident(**said)) == name


def test_an_incident_lasts_until_now_or_until_it_was_over() -> None:
    assert measure_length(make_incident(), NOW) == NOW - to_micros(BEGAN)
    over = make_incident(state="recovered", recovered=BEGAN + timedelta(hours=52))
    assert measure_length(over, NOW) == 52 * HOUR


def test_a_group_is_one_episode_and_missing_labels_are_another() -> None:
    end = BEGAN + timedelta(days=2)
    parts = [
        make_incident(1, group="a"),
        make_incident(2, group="a", began=BEGAN - timedelta(days=1)),
        make_incident(3, group="a", kind="labels", state="recovered", recovered=end),
    ]
    episodes = {each.kind: each for each in list_episodes(group_incidents(parts))}
    start = to_micros(BEGAN)
    assert (episodes["incident"].start, episodes["incident"].end) == (start - DAY, None)
    assert (episodes["labels"].start, episodes["labels"].end) == (start, to_micros(end))


def test_a_chart_marks_incidents_of_its_measure_and_of_the_data() -> None:
    groups = group_incidents([make_incident(1), make_incident(2, kind="volume", measure="")])
    assert len(list_episodes(groups, "nDCG@5")) == 2
    assert len(list_episodes(groups, "nDCG@1")) == 1


def test_a_trace_begins_where_the_problem_did_and_knows_the_version() -> None:
    asked = parse_qs(urlsplit(trace_incident(make_incident(), NOW)).query)
    assert asked["after_since"] == [f"{BEGAN:%Y-%m-%dT%H:%M}"]
    assert (asked["after_model"], asked["after_version"]) == (["m"], ["4"])
    assert asked["measure"] == ["nDCG@5"]
    assert not any(name.startswith("before") for name in asked)


def test_a_trace_of_a_cause_has_what_it_was_held_against() -> None:
    before = {"since": "2026-11-01T00:00", "until": "2026-11-08T00:00", "version": "3"}
    incident = make_incident(cause={"sentence": "x", "before": before})
    asked = parse_qs(urlsplit(trace_incident(incident, NOW)).query)
    assert {name: asked[f"before_{name}"] for name in before} == {
        name: [value] for name, value in before.items()
    }


def test_a_trace_of_what_is_over_ends_there() -> None:
    over = make_incident(state="resolved", recovered=BEGAN + timedelta(days=1, minutes=5))
    asked = parse_qs(urlsplit(trace_incident(over, NOW)).query)
    assert asked["after_until"] == [f"{BEGAN + timedelta(days=1):%Y-%m-%dT%H:%M}"]


def test_evidence_is_told_in_words() -> None:
    evidence = {
        "value": {"value": 0.75, "lower": 0.7, "upper": 0.8},
        "floor": 0.9,
        "baseline": {"value": 1.0},
        "log_evidence": math.log(36),
        "needed": math.log(12),
        "lane": "4h",
        "usual_rankings": 1200,
        "nothing": None,
    }
    assert describe_evidence(make_incident(evidence=evidence)) == (
        ("nDCG@5", "0.7500, below the floor of 0.9000"),
        ("Before", "1.0000"),
        ("Evidence", "3× the alert level"),
        ("Based on", "early values, 4h after the ranking"),
        ("Usual rankings", "1,200"),
    )


def test_evidence_has_one_value_before_and_one_after() -> None:
    evidence = {"value": 0.71, "expected": 0.84, "baseline": 0.82, "floor": 0.81, "fall": 0.15}
    assert describe_evidence(make_incident(evidence=evidence)) == (
        ("nDCG@5", "0.7100, below the floor of 0.8100"),
        ("Before, for this mix of slices", "0.8400"),
    )


def test_a_group_lasts_since_it_began() -> None:
    later = make_incident(began=BEGAN + timedelta(days=1))
    assert measure_length(later, NOW, BEGAN) == NOW - to_micros(BEGAN)


def test_evidence_of_any_size_can_be_written() -> None:
    assert [write_multiple(found) for found in (-math.inf, 1e9)] == ["<0.1×", ">1,000,000×"]


@pytest.mark.parametrize(
    ("judged", "lane", "is_final", "title"),
    [
        ("value", "final", True, "nDCG@5"),
        ("value", "1 h", False, "nDCG@5"),
        ("discount", "final", False, "Discount by rank of relevant documents"),
    ],
)
def test_a_discount_is_not_called_a_value_of_the_measure(
    judged: str, lane: str, title: str, *, is_final: bool
) -> None:
    evidence = {"value": 0.25, "floor": 0.5, "judged": judged, "lane": lane}
    incident = make_incident(measure="nDCG@5", evidence=evidence)
    assert incident.has_final_evidence is is_final
    assert describe_evidence(incident)[0] == (title, "0.2500, below the floor of 0.5000")
