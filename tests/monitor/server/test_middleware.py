from __future__ import annotations

import json
import math
from dataclasses import replace
from types import SimpleNamespace

import pytest
from prometheus_client.parser import text_string_to_metric_families
from rankscope import FileError
from rankscope.monitor.backups import BackupPlan, BackupSchedule
from rankscope.monitor.events.limits import DAY, HOUR, SECOND
from rankscope.monitor.events.times import format_time, to_datetime, to_micros
from rankscope.monitor.incidents.incident import Change
from rankscope.monitor.incidents.management import set_rule
from rankscope.monitor.rules.kinds import Rule
from rankscope.monitor.server.http.settings import Settings
from rankscope.monitor.server.metrics import write_metrics
from rankscope.monitor.server.routing import dispatcher as door
from rankscope.monitor.server.telemetry import Telemetry
from rankscope.monitor.store.keys import make_key
from rankscope.monitor.store.sqlite.store import SQLiteStore

from tests.monitor.server.music import MUSIC, START, log_music, make_click, make_search
from tests.monitor.server.pages.incidents import BEGAN, make_incident, put_incidents
from tests.monitor.server.service import NOW, Refusing, make_ranking


def test_whatever_is_wrong_with_a_key_is_told_alike(service):
    key_id = service.key.split("_")[1]
    revoked = service.make_key("music", "ingest")
    service.store.revoke_key("music", revoked.split("_")[1], NOW, "test")
    wrong = {
        "none": {},
        "empty": {"authorization": ""},
        "basic": {"authorization": f"Basic {service.key}"},
        "bare": {"authorization": service.key},
        "two": {"authorization": f"Bearer {service.key}, Bearer {service.key}"},
        "long": {"authorization": "Bearer " + "a" * 5000},
        "unknown": {"authorization": f"Bearer rk_{'0' * 16}_{'0' * 64}"},
        "secret": {"authorization": f"Bearer rk_{key_id}_{'0' * 64}"},
        "revoked": {"authorization": f"Bearer {revoked}"},
        "elsewhere": {"x-api-key": service.key},
        "cookie": {"cookie": f"key={service.key}"},
    }
    told = set()
    for headers in wrong.values():
        answer = service.post("/v1/rankings", make_ranking(1), key=None, headers=headers)
        assert answer.headers["www-authenticate"] == "Bearer"
        told.add((answer.status_code, json.dumps(answer.json()["error"])))
    assert [status for status, _ in told] == [401]
    assert service.store.counters("music") == {}
    good = {"authorization": f"bearer {service.key}"}
    assert service.post("/v1/rankings", [make_ranking(1)], key=None, headers=good).is_success
    value = f"Bearer {service.key}"
    headers = [("authorization", value), ("authorization", value)]
    made = ("POST", "/v1/rankings", b"{}", headers)
    assert service.ask_all([made])[0].status_code == 401


def test_unknown_keys_cost_no_queries(make_service, monkeypatch):
    reads = []
    read = SQLiteStore.all_keys
    monkeypatch.setattr(SQLiteStore, "all_keys", lambda store: reads.append(1) or read(store))
    monkeypatch.setattr(SQLiteStore, "find_key", None)
    service = make_service()
    for number in range(20):
        key = f"rk_{number:016x}_{number:064x}"
        assert service.post("/v1/rankings", make_ranking(1), key=key).status_code == 401
    assert service.post("/v1/rankings", make_ranking(1)).status_code == 200
    assert len(reads) == 1
    other = service.make_key("music", "ingest")
    assert service.post("/v1/rankings", make_ranking(2), key=other).status_code == 200
    assert len(reads) == 2
    service.store.revoke_key("music", other.split("_")[1], NOW, "test")
    assert service.post("/v1/rankings", make_ranking(3), key=other).status_code == 401
    assert len(reads) == 3


def test_too_many_requests_with_a_key_are_slowed_down_and_come_back_later(
    make_service, monkeypatch
):
    waited = []

    async def wait(seconds):
        waited.append(seconds)

    monkeypatch.setattr(door, "asyncio", SimpleNamespace(sleep=wait))
    service = make_service(Settings(key_rate=0.5, key_burst=2))
    other = service.make_key("music", "ingest")

    def ask(key=""):
        answer = service.post("/v1/rankings", make_ranking(1), key=key)
        return answer.status_code, answer.headers.get("retry-after")

    assert [ask(), ask(), ask(), ask(other)] == [(200, None), (200, None), (429, "2"), (200, None)]
    service.seconds = 2
    assert [ask(), ask()] == [(200, None), (429, "2")]
    assert waited == [door.REFUSING_SECONDS] * 2


def test_bad_keys_from_an_address_do_not_shut_out_good_ones(make_service):
    service = make_service(Settings(failure_rate=1, failure_burst=3))
    answers = [service.post("/v1/rankings", {}, key="rk_x") for _ in range(5)]
    assert [answer.status_code for answer in answers] == [401, 401, 401, 429, 429]
    assert service.post("/v1/rankings", make_ranking(1)).status_code == 200


def test_too_many_requests_that_need_no_key_come_back_later(make_service):
    service = make_service(Settings(open_rate=1, open_burst=2))
    statuses = [service.ask("GET", "/healthz", key=None).status_code for _ in range(4)]
    assert statuses == [200, 200, 429, 429]
    assert service.post("/v1/rankings", make_ranking(1)).status_code == 200


def test_a_request_is_a_line_of_the_log(service):
    answer = service.post("/v1/rankings", [make_ranking(1), make_ranking(1), {}])
    line = service.last_line()
    assert line.pop("seconds") >= 0
    assert line.pop("bytes") == len(answer.request.content)
    assert line == {
        "time": "2026-11-21T18:00:00.000000Z",
        "event": "request",
        "request_id": answer.headers["x-request-id"],
        "method": "POST",
        "route": "/v1/rankings",
        "status": 200,
        "project": "music",
        "key_id": service.key.split("_")[1],
        "accepted": 1,
        "duplicate": 1,
        "conflict": 0,
        "rejected": 1,
    }


def test_the_log_is_lines_whatever_is_sent(service):
    forged = '\r\n{"event": "forged"}\x1b[31m\u2028\x85'
    key, shown = make_key("a", ["ingest"], name="test", now=0)
    service.store.add_key(replace(key, project=f"a{forged}"), "test")
    project = shown.reveal()
    for key in ("", project, None):
        service.post("/v1/rankings", make_ranking(1, user_id=forged, time=forged), key=key)
        service.ask("GET", f"/v1/{forged.encode().hex()}%0d%0aforged", key=key)
        service.ask("FORGED", "/v1/rankings", key=key)
    assert len(service.log) == 9
    for line in service.log:
        assert line.isascii()
        assert line.endswith("}\n")
        assert line[:-1].isprintable()
        assert json.loads(line)["event"] == "request"
        assert "FORGED" not in line


@pytest.mark.parametrize(
    "error", [ValueError("SELECT secret"), KeyError("/etc/secret"), OSError(5, "secret")]
)
def test_what_goes_wrong_within_is_told_to_nobody(service, make_service, error):
    broken = make_service(store=Refusing(service.store, error))
    answer = broken.post("/v1/rankings", make_ranking(1))
    assert answer.status_code == 500
    request_id = answer.headers["x-request-id"]
    assert answer.json() == {
        "error": {"code": "internal", "message": "something went wrong here"},
        "request_id": request_id,
    }
    line = broken.last_line()
    assert (line["status"], line["request_id"], line["raised"]) == (
        500,
        request_id,
        type(error).__name__,
    )
    assert any("ingest.py" in place for place in line["at"])
    assert not any("secret" in line for line in broken.log)


def test_a_store_that_has_failed_is_not_healthy(service, make_service):
    failed = make_service(store=Refusing(service.store))
    failed.store.failure = FileError("it has", code="store_failed")
    for path in ("/healthz", "/readyz"):
        assert failed.ask("GET", path, key=None).status_code == 503


LABELS = {
    *("measure", "k", "model", "version", "window", "baseline", "rule", "state", "kind"),
    *("reason", "status", "method", "route", "le"),
}


def scrape(service, project="music", key=None):
    """The samples, by name and the values of their labels, in the order of their names."""
    answer = service.ask("GET", "/metrics", key=key or service.make_key(project, "read"))
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain; version=")
    families = list(text_string_to_metric_families(answer.text))
    assert len({family.name for family in families}) == len(families)
    return {
        (sample.name, tuple(sample.labels.values())): sample.value
        for family in families
        for sample in family.samples
    }


def test_values_are_those_of_the_newest_final_windows(service):
    monitor = log_music(service)
    samples = scrape(service)
    for measure, k in (("nDCG@1", "1"), ("nDCG@5", "5"), ("nDCG@10", "10")):
        for version, every in (("3", "hour"), ("4", "hour"), ("3", "day"), ("4", "day")):
            series = monitor.series(measure, every=every, model="search", version=version)
            at = max(at for at, is_final in enumerate(series.is_final) if is_final)
            for ending, column in (("", series.values), ("_lower", series.lower)):
                name = f"rankscope_ndcg{ending}"
                told = samples.get((name, (k, measure, "search", version, every)))
                assert told == (None if math.isnan(column[at]) else column[at])
            place = ("search", version, every)
            length = HOUR if every == "hour" else DAY
            ends = samples["rankscope_window_end_timestamp_seconds", place]
            assert ends == (to_micros(series.times[at]) + length) / SECOND
            assert samples["rankscope_rankings", place] == series.rankings[at]
            coverage = samples["rankscope_label_coverage_ratio", place]
            assert coverage == series.labelled[at] / series.rankings[at]
        baseline = monitor.baseline()
        assert baseline is not None
        told = samples["rankscope_ndcg_baseline", ("validation", k, measure)]
        assert told == baseline.means[measure].value
    assert samples["rankscope_evaluated_timestamp_seconds", ()] == NOW / SECOND
    assert samples["rankscope_events_not_evaluated", ()] == 0
    newest = START + 95 * HOUR // 4  # of 96 rankings, four an hour; those for validation are older
    assert samples["rankscope_newest_ranking_timestamp_seconds", ()] == newest / SECOND


def test_requests_are_timed_by_the_template_of_their_route(service):
    key = service.make_key("music", "read")
    paths = ["/v1/rankings/a", "/v1/rankings/a/b", "/v1/rules", "/v1/series?measure=x"]
    for path in [*paths, "/nothing/a", "/healthz"]:
        service.ask("GET", path, key=key)
    service.ask("GET", "/v1/rules", key="rk_x")
    service.ask("PUT", "/v1/rules/a", b"{}", key=key)
    samples = scrape(service)
    counted = {
        place: value
        for (name, place), value in samples.items()
        if name == "rankscope_http_requests_total"
    }
    assert counted == {
        ("GET", "/v1/rankings/{ranking_id:id}", "409"): 2,
        ("GET", "/v1/rules", "200"): 1,
        ("GET", "/v1/series", "409"): 1,
        ("PUT", "/v1/rules/{name}", "403"): 1,
    }
    name = "rankscope_http_request_duration_seconds_bucket"
    assert samples[name, ("+Inf", "GET", "/v1/rankings/{ranking_id:id}")] == 2


def test_metrics_follow_the_rules_of_prometheus(service):
    log_music(service)
    key = service.make_key("music", "read")
    service.ask("GET", "/metrics", key=key)
    text = service.ask("GET", "/metrics", key=key).text
    families = list(text_string_to_metric_families(text))
    for family in families:
        assert family.documentation.endswith(".") or not family.name.startswith("rankscope"), family
        names = {sample.name for sample in family.samples}
        if family.type == "counter":
            assert names <= {f"{family.name}_total"}
        if any(unit in family.name for unit in ("duration", "timestamp")):
            assert family.name.endswith("_seconds")
        # What could be an ID of a user, a document or a query is no label.
        labels = {label for sample in family.samples for label in sample.labels}
        assert labels <= LABELS | {family.name}, family.name
    series = [(sample.name, *sample.labels.items()) for one in families for sample in one.samples]
    assert len(series) == len(set(series))


def test_what_was_discarded_is_counted_by_reason(service):
    log_music(service)
    service.post("/v1/rankings", [{}, {"ranking_id": "r"}])
    service.ask("POST", "/v1/rankings", b"{")
    counted = service.counters()
    samples = scrape(service)
    assert samples["rankscope_events_ingested_total", ()] == counted["accepted"]
    reasons = {"accepted", "duplicate", "conflict", "unknown_field", "request:json_syntax"}
    for reason in counted.keys() - reasons:
        assert samples["rankscope_events_rejected_total", (reason,)] == counted[reason]
    assert samples["rankscope_requests_refused_total", ("json_syntax",)] == 1


def test_what_was_deleted_was_not_rejected(service):
    monitor = log_music(service)
    gone = monitor.delete_before(to_datetime(NOW - DAY))
    samples = scrape(service)
    assert samples["rankscope_events_deleted_total", ("rankings",)] == gone.rankings > 0
    assert samples["rankscope_events_deleted_total", ("labels",)] == gone.labels > 0
    assert "rankscope_events_rejected_total" not in {name for name, _ in samples}


def test_a_project_that_is_not_configured_has_counters_of_its_own(service):
    service.ask("GET", "/v1/rules", key=service.make_key("films", "read"))
    samples = scrape(service)
    assert not any("http" in name for name, _ in samples)
    for status in ("waiting", "delivered", "dead", "summed"):
        assert samples["rankscope_notifications", (status,)] == 0
    service.post("/v1/rankings", [{}])
    samples = scrape(service)
    assert samples["rankscope_events_ingested_total", ()] == 0
    assert ("rankscope_events_not_evaluated", ()) not in samples


def test_the_disk_and_the_store_are_looked_at(service):
    key = service.make_key("music", "read")
    scrape(service, key=key)
    service.store.probe().result(30)  # the first use of the key is stored by now
    samples = scrape(service, key=key)
    assert 0 < samples["rankscope_disk_free_ratio", ()] <= 1
    assert samples["rankscope_store_bytes", ()] == service.store.path.stat().st_size
    assert samples["rankscope_store_waiting", ()] == 0


def test_the_last_backup_is_told_where_backups_are_made(service, tmp_path):
    monitor, telemetry = log_music(service), Telemetry()

    def read():
        families = text_string_to_metric_families(write_metrics(monitor, telemetry).decode())
        start = "rankscope_backup_"
        samples = [each for family in families for each in family.samples]
        return {
            each.name.removeprefix(start): each.value
            for each in samples
            if each.name.startswith(start)
        }

    assert read() == {}
    plan = BackupPlan(str(tmp_path / "backups"), 2 * HOUR, 1)
    telemetry.backups = BackupSchedule(service.store, plan, now=lambda: NOW)
    told = {"interval_seconds": 7200.0, "last_success_timestamp_seconds": 0.0}
    assert read() == {**told, "last_success_bytes": 0.0}
    telemetry.backups.step()
    assert telemetry.backups.last is not None
    told["last_success_timestamp_seconds"] = NOW / SECOND
    assert read() == {**told, "last_success_bytes": float(telemetry.backups.last.size)}


def test_names_that_are_markup_are_written_as_labels(service):
    hostile = 'a"} 1\n<b>\\ \u202e'
    monitor = log_music(service)
    ranking = make_search(500, version=hostile, time=START)
    key = service.make_key("music", "ingest")
    assert service.post("/v1/rankings", ranking, key=key).json()["accepted"] == 1
    service.post("/v1/labels", make_click(ranking, 500), key=key)
    monitor.evaluate()
    assert ("rankscope_rankings", ("search", hostile, "hour")) in scrape(service)


RULE = Rule(name="quality", measure="nDCG@5")
HOSTILE = "<script>alert(1)</script>"


def post_to(service, path, key, body):
    headers = {"content-type": "application/json"}
    return service.ask("POST", path, json.dumps(body).encode(), key=key, headers=headers)


@pytest.fixture
def incident_id(service):
    service.store.configure("music", MUSIC.to_json(), NOW, "ada")
    set_rule(service.store, "music", MUSIC, RULE, now=NOW, actor="ada")
    incident = make_incident(project="music", model="", version=HOSTILE, slice=())
    put_incidents(service, incident, incident_1=(Change(BEGAN, "opened", "rankscope"),))
    return incident.incident_id


def test_incidents_are_listed_and_shown_with_their_history(service, incident_id):
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


def test_people_acknowledge_snooze_and_resolve(service, incident_id):
    key = service.make_key("music", "read", "admin")
    path = f"/v1/incidents/{incident_id}"

    def post(action, **body):
        answer = post_to(service, f"{path}/{action}", key, body)
        assert answer.status_code == 200, answer.text
        return answer.json()

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
def test_what_cannot_be_done_is_refused(service, incident_id, action, body):
    key = service.make_key("music", "read", "admin")
    answer = post_to(service, f"/v1/incidents/{incident_id}/{action}", key, body)
    assert answer.status_code == 422
    shown = service.ask("GET", f"/v1/incidents/{incident_id}", key=key).json()
    assert (shown["state"], len(shown["history"])) == ("open", 1)
