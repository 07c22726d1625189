from __future__ import annotations

import math
import re
from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.events.times import to_datetime, to_micros
from rankscope.monitor.incidents.incident import STATUSES, Change, Notified
from rankscope.monitor.rules.kinds import PROBLEMS, Rule
from rankscope.monitor.server.pages.groups import (
    describe_evidence,
    group_incidents,
    list_episodes,
    list_steps,
    measure_length,
    name_problem,
    trace_incident,
    write_multiple,
)
from rankscope.monitor.server.pages.incidents import IncidentView

from tests.monitor.server.pages.incidents import BEGAN, make_incident, put_incidents
from tests.monitor.server.pages.site import (
    HOSTILE,
    as_json,
    check_page,
    check_texts,
    find_links,
    get,
    open_monitor,
    send,
)
from tests.monitor.server.service import NOW

PATH = "/incidents/incident_1"


def test_a_superseded_incident_is_called_so_and_asks_for_nothing(site):
    open_monitor(site.store)
    reason = "version 4 is no longer served"
    put_incidents(site, make_incident(state="superseded", resolved=to_datetime(NOW), reason=reason))
    reader = check_page(get(site, PATH))
    assert "Superseded" in reader.text
    assert "Version 4 is no longer served." in reader.text
    assert "What to do" not in reader.text
    assert "Resolve" not in reader.text
    assert "1 active" not in check_page(get(site, "/incidents")).text
    listed = site.browser().get("/v1/incidents?state=superseded").json()["incidents"]
    assert [(one["id"], one["state"]) for one in listed] == [("incident_1", "superseded")]


def test_what_happened_is_shown_whole(site):
    open_monitor(site.store)
    whole = "device=tv: " + "; ".join(f"fact {number}" for number in range(60))
    made = make_incident(reason=whole, evidence={"told": whole})
    put_incidents(site, made, incident_1=(Change(BEGAN, "worsened", "rankscope", whole),))
    text = check_page(get(site, PATH)).text
    assert text.count("fact 59") == 3
    assert "characters)" not in text


def test_without_rules_about_quality_it_says_how_to_create_one(site):
    open_monitor(site.store, watches_data=True)
    reader = check_page(get(site, "/incidents"))
    assert "No active incidents" in reader.text
    assert "/rules/new" in find_links(reader)


@pytest.mark.parametrize(("page", "group"), [(PATH, "one"), ("/incidents", "{}")])
def test_the_rest_of_a_long_list_is_a_link_away(site, page, group):
    open_monitor(site.store)
    parts = [make_incident(at, group=group.format(at)) for at in range(1, 24)]
    put_incidents(site, *parts)
    (link,) = (
        each
        for each in find_links(check_page(get(site, page)))
        if each.startswith("/v1/incidents?")
    )
    assert len(as_json(site.browser().get(link))["incidents"]) == len(parts)


def test_a_group_is_one_entry_with_its_parts(site):
    open_monitor(site.store)
    cause = {"sentence": "device=tv explains 96% of the drop"}
    parts = [make_incident(at, group="a", slice=(("device", f"d{at}"),)) for at in range(1, 8)]
    put_incidents(site, make_incident(9, group="a", severity="critical", cause=cause), *parts)
    reader = check_page(get(site, "/incidents"))
    assert "8 active incidents" in reader.text
    assert "nDCG@5 fell for device=tv, m 4 and 7 more" in reader.text
    assert "Cause: device=tv explains 96% of the drop." in reader.text
    assert "since 18 Nov 2026" in reader.text
    assert "(3 days 18 h)" in reader.text
    links = find_links(reader)
    assert all(f"/incidents/incident_{at}" in links for at in (*range(1, 8), 9))
    assert len(reader.all("article")) == 1


def test_past_incidents_are_on_pages_of_their_own_from_1_on(site):
    open_monitor(site.store)
    over = {"state": "resolved", "recovered": BEGAN, "resolved": BEGAN}
    put_incidents(
        site, *(make_incident(at, **over, began=BEGAN - timedelta(days=at)) for at in range(25))
    )
    seen = []
    for page in (1, 2, 3):
        reader = check_page(get(site, f"/incidents?page={page}"))
        found = [
            link for link in find_links(reader) if re.fullmatch("/incidents/incident_.*", link)
        ]
        assert len(set(found)) == (10 if page < 3 else 5)
        seen += dict.fromkeys(found)
    assert seen == [f"/incidents/incident_{at}" for at in range(25)]
    for page in ("0", "-1", "x", "1e3", "999999"):
        check_page(get(site, f"/incidents?page={page}", 422))


def test_the_page_of_an_incident_says_what_why_and_what_to_do(story):
    open_monitor(story.store).set_rule(Rule(name="quality", measure="nDCG@5"))
    cause = {
        "sentence": "device=tv explains 96% of the drop",
        "new_version": "version=4",
        "queries": [{"query_key": "jazz", "before": 1.0, "after": 0.5,
                     "ranking_id": "r200-0"}],
        "facts": [{"signal": "overlap", "model": "m", "slice": {"device": "tv"}, "rankings": 480,
                   "since": "2026-11-18T09:00:00.000000Z",
                   "sentence": "Lists of version 4 overlap 41%; 92% is usual."}, "odd"],
    }  # fmt: skip
    put_incidents(
        story,
        make_incident(
            1,
            group="a",
            cause=cause,
            evidence={"floor": 0.9},
            notified=(Notified(BEGAN, "opened", "oncall"),),
        ),
        make_incident(2, group="a", slice=()),
        incident_1=(Change(BEGAN, "opened", "rankscope"), Change(BEGAN, "noted", "ada", "on it")),
    )
    page = get(story, PATH)
    reader = check_page(page)
    for text in (
        "nDCG@5 fell for device=tv, m 4",
        "since 18 Nov 2026",
        "Cause: device=tv explains 96% of the drop.",
        "1.0000 before, 0.7500 since",
        "Find the cause",
        "Changed at the same time",
        "Lists of version 4 overlap 41%; 92% is usual.",
        "18 Nov 2026, 09:00 UTC",
        "480",
        "by ada on it",
        "oncall",
        "jazz",
    ):
        assert text in reader.text
    links = find_links(reader)
    assert "/incidents/incident_2" in links
    assert "/rules/quality" in links
    assert any(link.startswith("/rankings?id=r200-0") for link in links)
    trace = next(link for link in links if link.startswith("/trace?") and "after_since" in link)
    assert "device=tv, version=4" in check_page(get(story, trace)).text
    for mark in ('class="floor"', 'class="episode incident"', 'class="level"'):
        assert mark in page


def test_each_kind_of_incident_has_a_page(story):
    kinds = ("volume", "labels", "relevance", "freshness", "attributes", "versions")
    said = {"measure": "", "version": "", "rule": "data"}
    put_incidents(story, *(make_incident(at, kind=kind, **said) for at, kind in enumerate(kinds)))
    for at in range(len(kinds)):
        reader = check_page(get(story, f"/incidents/incident_{at}"))
        assert "What to do" in reader.text
        assert "/quality" in find_links(reader)
        assert reader.all("svg")


def test_an_incident_without_values_has_a_page_too(site):
    open_monitor(site.store)
    put_incidents(site, make_incident(slice=(("device", "gone"),), model="gone"))
    check_page(get(site, PATH))


def test_an_incident_is_acknowledged_snoozed_and_resolved(watched):
    monitor = open_monitor(watched.store)
    incident = monitor.incidents()[0]
    path = incident.link
    assert send(watched, f"{path}/acknowledge", {}, path).headers["location"] == path
    assert monitor.incident(incident.incident_id)[0].state == "acknowledged"
    assert "Acknowledged" in check_page(get(watched, path)).text
    assert send(watched, f"{path}/snooze", {"hours": "4"}, path).status_code == 303
    found, _ = monitor.incident(incident.incident_id)
    assert (found.state, found.snoozed_until) == ("snoozed", to_datetime(NOW + 4 * HOUR))
    assert send(watched, f"{path}/snooze", {"hours": "5"}, path).status_code == 422
    assert send(watched, f"{path}/resolve", {}, path).status_code == 303
    assert monitor.incident(incident.incident_id)[0].state == "resolved"
    assert "Snooze" not in check_page(get(watched, path)).text


def test_a_group_is_acknowledged_at_once(watched):
    monitor = open_monitor(watched.store)
    incident = monitor.incidents()[0]
    answer = send(watched, f"{incident.link}/acknowledge", {"scope": "group"}, "/incidents")
    assert answer.headers["location"] == "/incidents"
    group = [each for each in monitor.incidents("all") if each.group == incident.group]
    assert {each.state for each in group if each.is_active} == {"acknowledged"}


@pytest.mark.parametrize("text", HOSTILE)
def test_texts_of_events_are_only_texts(hostile, text):
    put_incidents(
        hostile,
        make_incident(
            version=text,
            slice=(("device", text),),
            reason=text,
            rule="quality",
            evidence={"note": text},
            cause={"sentence": text, "new_version": text, "queries": [{"query_key": text}]},
            acknowledged_by=text,
            state="acknowledged",
        ),
        incident_1=(Change(BEGAN, "noted", text, text),),
    )
    for path in ("/", "/incidents", PATH, "/rules"):
        check_texts(get(hostile, path))
    told = as_json(hostile.browser().get(f"/v1{PATH}"))
    assert told["reason"] == text


def test_reminders_do_not_make_the_history_longer():
    moments = [BEGAN + timedelta(days=day) for day in range(4)]
    changes = tuple(Change(at, "reminded", "rankscope") for at in reversed(moments))
    notified = tuple(Notified(at, "reminded", to) for at in moments for to in ("log", "oncall"))
    view = IncidentView(
        incident=make_incident(notified=notified),
        changes=(*changes, Change(BEGAN, "opened", "rankscope")),
        related=(),
        now=NOW,
        title="",
        every="day",
        chart=None,
        series=None,
    )
    assert [(one.action, times) for one, times in view.history] == [("reminded", 4), ("opened", 1)]
    assert [(one.channel, one.time, times) for one, times in view.deliveries] == [
        ("oncall", moments[-1], 4),
        ("log", moments[-1], 4),
    ]


@pytest.mark.parametrize(
    ("kind", "evidence", "said"),
    [
        (
            "attributes",
            {"before": "tv", "after": ["television"], "count": 0, "expected": 382.6, "hours": 168},
            [
                ("Value before", "tv"),
                ("New value", "television"),
                ("Rankings", "0 instead of about 383 in 7 days"),
            ],
        ),
        (
            "labels",
            {
                "day": "9 Oct 2026",
                "value": 0.8993,
                "expected": 1.8282,
                "lower": 1.426,
                "upper": 2.23,
            },
            [
                (
                    "Labels per ranking, 9 Oct 2026",
                    "0.899 instead of 1.83; 1.43 to 2.23 would be usual",
                )
            ],
        ),
        (
            "attributes",
            {"share": 0.25, "usual": 0.01},
            [("Share of rankings", "25.0% instead of 1.0%")],
        ),
    ],
)
def test_the_evidence_about_data_is_in_words(kind, evidence, said):
    assert list(describe_evidence(make_incident(kind=kind, evidence=evidence))) == said


def test_a_group_is_ordered_and_named_by_what_needs_most_care_and_lasts_while_any_part_does():
    made = [make_incident(at, state=state) for at, state in enumerate(reversed(STATUSES))]
    made.append(make_incident(9, severity="critical"))
    ordered = [group.first for group in group_incidents(made)]
    assert ordered[0].severity == "critical"
    assert [each.state for each in ordered[1:]] == list(STATUSES)
    [group] = group_incidents(
        [make_incident(1, group="a"), make_incident(2, group="a", kind="labels")]
    )
    assert group.first.kind == "labels"
    earlier = make_incident(1, group="a", state="resolved", began=BEGAN - timedelta(days=9))
    [group] = group_incidents([earlier, make_incident(2, group="a")])
    assert group.is_active
    assert group.began == BEGAN
    [over] = group_incidents([earlier])
    assert not over.is_active


@pytest.mark.parametrize("kind", PROBLEMS)
def test_each_kind_has_a_name_and_something_to_do(kind):
    incident = make_incident(kind=kind, measure="" if kind != "quality" else "nDCG@5")
    assert name_problem(incident)[0].isupper() or kind == "quality"
    assert list_steps(incident, NOW)
    over = make_incident(kind=kind, state="resolved")
    assert list_steps(over, NOW) == ()


def test_an_incident_lasts_until_now_or_until_it_was_over():
    assert measure_length(make_incident(), NOW) == NOW - to_micros(BEGAN)
    later = make_incident(began=BEGAN + timedelta(days=1))  # in a group that began before
    assert measure_length(later, NOW, BEGAN) == NOW - to_micros(BEGAN)
    over = make_incident(state="recovered", recovered=BEGAN + timedelta(hours=52))
    assert measure_length(over, NOW) == 52 * HOUR


def test_a_group_is_one_episode_and_missing_labels_are_another():
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


def test_a_chart_marks_incidents_of_its_measure_and_of_the_data():
    groups = group_incidents([make_incident(1), make_incident(2, kind="volume", measure="")])
    assert len(list_episodes(groups, "nDCG@5")) == 2
    assert len(list_episodes(groups, "nDCG@1")) == 1


def ask_trace(**said):
    return parse_qs(urlsplit(trace_incident(make_incident(**said), NOW)).query)


def test_a_trace_begins_and_ends_with_the_problem_and_knows_its_version_and_cause():
    asked = ask_trace()
    assert asked["after_since"] == [f"{BEGAN:%Y-%m-%dT%H:%M}"]
    assert (asked["after_model"], asked["after_version"]) == (["m"], ["4"])
    assert asked["measure"] == ["nDCG@5"]
    assert not any(name.startswith("before") for name in asked)
    before = {"since": "2026-11-01T00:00", "until": "2026-11-08T00:00", "version": "3"}
    asked = ask_trace(cause={"sentence": "x", "before": before})
    assert {name: asked[f"before_{name}"] for name in before} == {
        name: [value] for name, value in before.items()
    }
    asked = ask_trace(state="resolved", recovered=BEGAN + timedelta(days=1, minutes=5))
    assert asked["after_until"] == [f"{BEGAN + timedelta(days=1):%Y-%m-%dT%H:%M}"]


def test_evidence_is_told_in_words():
    evidence = {
        "value": 0.76,
        "lower": 0.7,
        "upper": 0.8,
        "floor": 0.9,
        "log_evidence": math.log(36),
        "needed": math.log(12),
        "lane": "4h",
        "usual_rankings": 1200,
        "nothing": None,
    }
    assert describe_evidence(make_incident(evidence=evidence)) == (
        ("nDCG@5", "1.0000 before, 0.7500 since"),
        ("Newest value", "0.7600 (0.7000 to 0.8000), floor 0.9000"),
        ("Evidence", "3× the alert level"),
        ("Based on", "early values, 4h after the ranking"),
        ("Usual rankings", "1,200"),
    )


def test_evidence_of_any_size_can_be_written():
    million = 1_000_000
    for found, said in (
        (-math.inf, "<0.1×"),
        (math.log(million - 1), "999,999×"),
        (math.log(million), "1,000,000×"),
        (math.log(million + 1), ">1,000,000×"),
        (1e9, ">1,000,000×"),
    ):
        assert write_multiple(found) == said


@pytest.mark.parametrize(
    ("judged", "lane", "is_final", "title"),
    [
        ("value", "final", True, "nDCG@5"),
        ("value", "1 h", False, "nDCG@5"),
        ("discount", "final", False, "Discount by rank of relevant documents"),
    ],
)
def test_a_discount_is_not_called_a_value_of_the_measure(judged, lane, title, *, is_final):
    evidence = {"floor": 0.5, "judged": judged, "lane": lane}
    incident = make_incident(measure="nDCG@5", evidence=evidence)
    assert incident.has_final_evidence is is_final
    assert describe_evidence(incident)[0] == (
        title,
        "1.0000 before, 0.7500 since",
    )
