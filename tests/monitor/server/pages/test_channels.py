from __future__ import annotations

from datetime import UTC, datetime, timedelta

from rankscope.monitor.commands.incidents import describe_incident
from rankscope.monitor.events.limits import DAY
from rankscope.monitor.events.times import format_time, to_datetime
from rankscope.monitor.incidents.incident import make_notice
from rankscope.monitor.incidents.transitions import open_incident
from rankscope.monitor.incidents.warnings import WarningRecord
from rankscope.monitor.notify.alertmanager import write_alert
from rankscope.monitor.notify.message import write_message
from rankscope.monitor.rules.kinds import Rule
from rankscope.monitor.rules.state import Finding
from rankscope.monitor.server.pages.early import describe_record

from tests.monitor.server.pages.incidents import BEGAN, make_incident, put_incidents
from tests.monitor.server.pages.site import as_json, check_page, find_links, get, open_monitor, send
from tests.monitor.server.service import NOW
from tests.monitor.server.test_webhook import TOKEN


def test_without_channels_it_says_how_to_define_one(site):
    open_monitor(site.store)
    reader = check_page(get(site, "/channels"))
    assert "Notifications only go to the log" in reader.text
    assert "rankscope serve STORE --config" in reader.text
    assert "/channels" in find_links(check_page(get(site, "/settings")))


def test_channels_are_listed_without_their_addresses(operated):
    open_monitor(operated.store)
    page = get(operated, "/channels")
    reader = check_page(page)
    for text in ("hook", "inner", "oncall", "Slack", "critical"):
        assert text in reader.text
    assert TOKEN not in page


def test_a_test_message_is_sent_and_the_page_says_what_came_of_it(operated, services):
    open_monitor(operated.store)
    path = "/channels/oncall/test"
    answer = send(operated, path, {}, "/channels")
    assert answer.status_code == 200
    assert "The test message to oncall was delivered." in check_page(answer.text).text
    assert services.names() == ["oncall"]
    services.failing["oncall"] = "status <403>"
    answer = send(operated, path, {}, "/channels")
    assert "was not delivered: status <403>" in check_page(answer.text).text
    assert send(operated, "/channels/none/test", {}, "/channels").status_code == 404


PATH = "/deletion"


def test_the_page_deletes_once_the_project_is_named(site):
    monitor = open_monitor(site.store)
    day = f"{format_time(NOW - 2 * DAY)}"[:10]
    ranking = {"ranking_id": "a b", "time": f"{day}T18:00:00Z", "user_id": "u1", "doc_ids": ["a"]}
    monitor.log_rankings([ranking, ranking | {"ranking_id": "c", "user_id": "u2"}])
    page = check_page(get(site, PATH))
    assert "Type default to confirm" in page.text
    fields = {"user": "u1", "rankings": "", "since": day, "until": "", "confirm": "music"}
    refused = send(site, PATH, fields)
    assert refused.status_code == 422
    assert "Nothing has been deleted" in refused.text
    empty = dict.fromkeys(fields, "") | {"confirm": "default"}
    assert "nothing says which rankings" in send(site, PATH, empty).text.lower()
    done = send(site, PATH, fields | {"confirm": "default"})
    assert done.status_code == 200
    assert "Deleted 1 ranking and 0 labels." in done.text
    [left] = monitor.versions()
    assert left.rankings == 1


FACTS = [
    {
        "signal": "overlap",
        "rankings": 40,
        "sentence": "Lists of version <b>4</b> overlap 41% with those of the same queries before.",
    },
    {"signal": "constant", "rankings": 1240, "sentence": "All scores are the same."},
]
WARNED = {
    "kind": "early",
    "rule": "early",
    "measure": "",
    "severity": "info",
    "model": "m",
    "version": "4",
    "slice": (("device", "tv"),),
    "began": datetime.fromtimestamp((NOW - 2 * DAY) / 1e6, UTC),
    "evidence": {
        "facts": FACTS,
        "outcome": "confirmed",
        "outcome_sentence": "Labels confirm it: nDCG@5 was 0.4; 0.9 is usual.",
    },
}


def test_an_early_warning_lists_its_facts_and_what_labels_say(story):
    open_monitor(story.store)
    warning, fall = make_incident(1, **WARNED), make_incident(2)
    put_incidents(story, warning, fall)
    page = get(story, warning.link)
    reader = check_page(page)
    assert all(fact["sentence"] in reader.text for fact in FACTS)
    assert "<b>4</b>" not in page
    assert "Labels confirm it: nDCG@5 was 0.4; 0.9 is usual." in reader.text
    assert "1,240" in reader.text
    # Scores aren't logged: only the chart of overlap is there, and it has a sentence.
    assert "Overlap with the earlier list over time" in reader.text
    charts = [str(each["id"]) for each in reader.all("svg") if each.get("role") == "img"]
    assert sum(each.startswith("signal-") for each in charts) == 1
    assert "usual: mean of the 7 days before" in reader.text
    marks = [each["class"] for each in reader.all("rect") if "episode early" in str(each["class"])]
    # Once in the legend, and once in the chart.
    assert len(marks) == 2
    for path in ("/", "/incidents"):
        text = check_page(get(story, path)).text
        assert "1 active incident and 1 early warning" in text


def test_an_early_warning_without_facts_is_a_page_like_others(story):
    open_monitor(story.store)
    warning = make_incident(1, **WARNED | {"evidence": {"facts": ["odd", {"signal": 7}]}})
    put_incidents(story, warning)
    assert "What changed" not in check_page(get(story, warning.link)).text


def test_precision_is_told_from_five_warnings_on():
    def tell(confirmed, refuted, unknown=0):
        return describe_record(
            WarningRecord(
                warnings=confirmed + refuted + unknown,
                confirmed=confirmed,
                not_confirmed=refuted,
                unknown=unknown,
                lead=timedelta(hours=30, seconds=7) if confirmed else None,
            )
        )

    assert tell(0, 0) == ""
    assert "too few" in tell(3, 1, unknown=8)
    # Wilson's interval of 4 of 5 is 37.6% to 96.4%.
    assert "Precision: 80% (95% interval: 38% to 96%)." in tell(4, 1)
    assert "labels confirmed 4, and didn't confirm 1." in tell(4, 1)
    assert tell(0, 5).endswith("Precision: 0% (95% interval: 0% to 43%).")
    assert tell(0, 0, unknown=1) == (
        "1 in the last 90 days: labels don't tell of 1. That is too few to tell how often warnings "
        "are right."
    )
    assert tell(1, 0).endswith("one came 1 day 6 h before labels would have shown it.")
    ending = "Confirmed ones came 1 day 6 h before labels would have shown them, on average."
    assert tell(2, 0).endswith(ending)
    assert tell(4, 1).endswith(ending)


CAUSE = {
    "sentence": "device=tv, version=4 fell by ordering, which explains 87% of the drop.",
    "slice": {"device": "tv", "version": "4"},
    "p_value": 0.005,
    "contribution": -0.05,
}
OTHER = CAUSE | {"sentence": "Everything fell by truncation.", "slice": {}, "p_value": 0.001}
PAIR = "fell from 1.0000 to 0.7500"


def write(*incidents):
    parts = [("opened", each) for each in incidents]
    return write_message([make_notice("default", to_datetime(NOW), "a", parts).to_json()]).text


def test_all_accounts_of_an_incident_are_one(site):
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


def test_a_group_has_one_cause_however_its_parts_are_ordered(site):
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


def test_an_incident_begins_when_it_was_opened_where_nothing_else_is_known():
    now = to_datetime(NOW)
    rule = Rule(name="quality", measure="nDCG@5")
    said = {"kind": "quality", "verdict": "bad"}
    unknown = open_incident("music", rule, Finding(**said), now).incident
    known = open_incident("music", rule, Finding(**said, began=BEGAN), now).incident
    assert (unknown.began, known.began) == (now, BEGAN)
