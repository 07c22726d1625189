"""What Prometheus scrapes is what the store has."""

from __future__ import annotations

import math
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families
from rankscope.monitor.backups import BackupPlan, BackupSchedule
from rankscope.monitor.events.limits import DAY, HOUR, SECOND
from rankscope.monitor.events.times import to_datetime, to_micros
from rankscope.monitor.server.metrics import write_metrics
from rankscope.monitor.server.telemetry import Telemetry

from tests.monitor.server.music import START, log_music, make_click, make_search
from tests.monitor.server.service import NOW, Service

LABELS = {
    *("measure", "k", "model", "version", "window", "baseline", "rule", "state", "kind"),
    *("reason", "status", "method", "route", "le"),
}


def scrape(
    service: Service, project: str = "music", key: str | None = None
) -> dict[tuple[str, tuple[str, ...]], float]:
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


def test_values_are_those_of_the_newest_final_windows(service: Service) -> None:
    monitor = log_music(service)
    samples = scrape(service)
    for measure, k in (("nDCG@1", "1"), ("nDCG@5", "5"), ("nDCG@10", "10")):
        for version, every in (("3", "hour"), ("4", "hour"), ("3", "day"), ("4", "day")):
            series = monitor.series(measure, every=every, model="search", version=version)  # type: ignore[arg-type]
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


def test_requests_are_timed_by_the_template_of_their_route(service: Service) -> None:
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


def test_a_project_does_not_see_requests_of_others(service: Service) -> None:
    service.ask("GET", "/v1/rules", key=service.make_key("films", "read"))
    assert not any("http" in name for name, _ in scrape(service))


def test_notifications_are_counted_by_status_also_those_of_which_there_are_none(
    service: Service,
) -> None:
    samples = scrape(service)
    for status in ("waiting", "delivered", "dead", "summed"):
        assert samples["rankscope_notifications", (status,)] == 0


def test_metrics_follow_the_rules_of_prometheus(service: Service) -> None:
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


def test_what_was_discarded_is_counted_by_reason(service: Service) -> None:
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


def test_what_was_deleted_was_not_rejected(service: Service) -> None:
    monitor = log_music(service)
    gone = monitor.delete_before(to_datetime(NOW - DAY))
    samples = scrape(service)
    assert samples["rankscope_events_deleted_total", ("rankings",)] == gone.rankings > 0
    assert samples["rankscope_events_deleted_total", ("labels",)] == gone.labels > 0
    assert "rankscope_events_rejected_total" not in {name for name, _ in samples}


def test_a_project_that_is_not_configured_has_counters(service: Service) -> None:
    service.post("/v1/rankings", [{}])
    samples = scrape(service)
    assert samples["rankscope_events_ingested_total", ()] == 0
    assert ("rankscope_events_not_evaluated", ()) not in samples


def test_the_disk_and_the_store_are_looked_at(service: Service) -> None:
    key = service.make_key("music", "read")
    scrape(service, key=key)
    service.store.probe().result(30)  # the first use of the key is stored by now
    samples = scrape(service, key=key)
    assert 0 < samples["rankscope_disk_free_ratio", ()] <= 1
    assert samples["rankscope_store_bytes", ()] == service.store.path.stat().st_size
    assert samples["rankscope_store_waiting", ()] == 0


def test_the_last_backup_is_told_where_backups_are_made(service: Service, tmp_path: Path) -> None:
    monitor, telemetry = log_music(service), Telemetry()

    def read() -> dict[str, float]:
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


def test_names_that_are_markup_are_written_as_labels(service: Service) -> None:
    hostile = 'a"} 1\n<b>\\ \u202e'
    monitor = log_music(service)
    ranking = make_search(500, version=hostile, time=START)
    key = service.make_key("music", "ingest")
    assert service.post("/v1/rankings", ranking, key=key).json()["accepted"] == 1
    service.post("/v1/labels", make_click(ranking, 500), key=key)
    monitor.evaluate()
    assert ("rankscope_rankings", ("search", hostile, "hour")) in scrape(service)
