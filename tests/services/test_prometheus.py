"""Prometheus reads a service that runs; the rules and the dashboard that are shipped fit it."""

from __future__ import annotations

import json
import re
import subprocess
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from rankscope.monitor.definition.configuration import BaselineChoice, Configuration
from rankscope.monitor.definition.definition import define
from rankscope.monitor.monitor import Monitor
from rankscope.monitor.rules.limit import LimitRule

from tests.monitor.server.music import log_music
from tests.monitor.server.service import Service
from tests.services.running import Prometheus, command, poll, post, run_prometheus, run_service

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
RULES = DEPLOY / "prometheus" / "rankscope.rules.yml"
DASHBOARD = DEPLOY / "grafana" / "dashboards" / "rankscope.json"
CASES = Path(__file__).with_name("alert_rules.yml")
METRIC = re.compile(r"\b(?:rankscope|process)_[a-z_]+\b")
LABEL = re.compile(r"\{[^}]*\}|\b(?:by|on) \([^)]*\)")
HOURS = 30


def promtool(*arguments, given=None):
    """Run promtool, which has to succeed, and return what it printed."""
    done = subprocess.run(
        ["promtool", *arguments],  # noqa: S607 - as the system has it
        input=given,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def list_alerts():
    """The alerts that are shipped."""
    return [
        rule for group in yaml.safe_load(RULES.read_text())["groups"] for rule in group["rules"]
    ]


def list_queries():
    """The expressions of the dashboard for the project `default` and hours."""
    panels = json.loads(DASHBOARD.read_text())["panels"]
    values = {"$project": "default", "$window": "hour", "$__rate_interval": "1m"}
    queries = []
    for panel in panels:
        for target in panel.get("targets", ()):
            query = target["expr"]
            for name, value in values.items():
                query = query.replace(name, value)
            assert "$" not in query
            queries.append(query)
    return queries


def find_metrics(expression):
    """The metrics that an expression names, without the labels."""
    return set(METRIC.findall(LABEL.sub("", expression)))


def test_promtool_finds_nothing_to_improve_in_metrics(tmp_path):
    service = Service(tmp_path)
    log_music(service)
    key = service.make_key("music", "read")
    service.ask("GET", "/v1/rules", key=key)
    text = service.ask("GET", "/metrics", key=key).text
    assert promtool("check", "metrics", given=text) == ""
    service.store.close()


def test_promtool_accepts_the_rules_and_the_configuration():
    assert f"{len(list_alerts())} rules found" in promtool("check", "rules", str(RULES))
    promtool("check", "config", "--syntax-only", str(DEPLOY / "prometheus" / "prometheus.yml"))


def test_each_alert_fires_when_it_should_and_not_before():
    names = {rule["alert"] for rule in list_alerts()}
    cases = yaml.safe_load(CASES.read_text())
    asked = [case for group in cases["tests"] for case in group["alert_rule_test"]]
    for is_firing in (True, False):
        assert {one["alertname"] for one in asked if bool(one["exp_alerts"]) == is_firing} == names
    promtool("test", "rules", str(CASES))


def test_each_alert_says_what_is_wrong_and_what_to_do():
    for rule in list_alerts():
        assert rule["alert"].startswith("Rankscope")
        assert rule["labels"]["severity"] in {"warning", "critical"}
        assert set(rule["annotations"]) == {"summary", "description"}


@dataclass(frozen=True, slots=True)
class Watched:
    """A service, and the Prometheus that reads it."""

    prometheus: Prometheus
    job: dict[str, Any]


@pytest.fixture(scope="module")
def watched(tmp_path_factory):
    """A service with values, an alert, and requests; Prometheus is configured as it is shipped."""
    folder = tmp_path_factory.mktemp("prometheus")
    store = folder / "music.db"
    fill(store)
    keys = {
        scopes: command("monitor", "key", "make", str(store), "-".join(scopes), "--scope", *scopes)
        for scopes in (("admin", "ingest"), ("read",))
    }
    configuration = yaml.safe_load((DEPLOY / "prometheus" / "prometheus.yml").read_text())
    (job,) = configuration["scrape_configs"]
    (folder / "key").write_text(keys["read",])
    options = ("--every", "0.5", "--name", "rankscope", "--backup-to", str(folder / "backups"))
    with run_service(store, *options) as url:
        key = keys["admin", "ingest"].strip()
        assert post(url, key, "/v1/rankings", make_ranking(datetime.now(UTC), 0)).is_success
        assert post(url, key, "/v1/rankings", {"ranking_id": "r"}).json()["rejected"] == 1
        assert post(url, key, "/v1/rankings", "no events").status_code == 422
        (given,) = job["static_configs"]
        given["targets"] = [url.removeprefix("http://")]
        job["authorization"]["credentials_file"] = str(folder / "key")
        configuration["global"] = {"scrape_interval": "1s", "evaluation_interval": "1s"}
        configuration["rule_files"] = [str(RULES)]
        with run_prometheus(folder, configuration) as prometheus:
            yield Watched(prometheus, job)


def fill(path):
    """Log thirty hours of rankings with labels, a baseline, and a rule that alerts."""
    now = datetime.now(UTC)
    since = now - timedelta(hours=HOURS)
    definition = define(measures=["nDCG@5", "RR@5"], positive="click", window="1h")
    with closing(Monitor.open(str(path))) as monitor:
        baseline = BaselineChoice(kind="period", since=since, until=since + timedelta(hours=3))
        monitor.configure(Configuration(definition=definition, baseline=baseline))
        rankings = [make_ranking(since, at) for at in range(HOURS * 10)]
        clicks = [
            {"event_id": f"l{at}", "ranking_id": one["ranking_id"], "doc_id": "abc"[at % 3]}
            | {"time": one["time"], "labels": ["click"]}
            for at, one in enumerate(rankings)
        ]
        assert monitor.log_rankings(rankings).accepted == len(rankings)
        assert monitor.log_labels(clicks).accepted == len(clicks)
        monitor.evaluate()
        rule = LimitRule(name="volume", kind="limit", measure="rankings", above=1.0)
        monitor.set_rule(rule)
        monitor.evaluate(is_replay=True)


def make_ranking(since, number):
    """One of ten rankings an hour."""
    return {
        "event_id": f"e{number}-{since.timestamp()}",
        "ranking_id": f"r{number}-{since.timestamp()}",
        "time": (since + timedelta(minutes=6 * number)).isoformat(),
        "version": "4",
        "items": [{"doc_id": name, "rank": rank} for rank, name in enumerate("abc", start=1)],
    }


def test_prometheus_reads_the_service_and_evaluates_the_rules(watched):
    def find_target():
        (target,) = watched.prometheus.ask("targets")["activeTargets"] or [{"health": ""}]
        return target if target["health"] == "up" else None

    target = poll(find_target, "the target to be up")
    assert (target["lastError"], target["labels"]["project"]) == ("", "default")

    def find_rules():
        rules = [
            rule for group in watched.prometheus.ask("rules")["groups"] for rule in group["rules"]
        ]
        return rules if rules and all(rule["health"] != "unknown" for rule in rules) else None

    rules = poll(find_rules, "the rules to be evaluated")
    assert {rule["name"] for rule in rules} == {rule["alert"] for rule in list_alerts()}
    assert {rule["health"] for rule in rules} == {"ok"}


def test_a_rule_that_alerts_is_an_alert_of_prometheus(watched):
    def find_alerts():
        alerts = watched.prometheus.ask("alerts")["alerts"]
        return [one["labels"] for one in alerts if one["state"] == "firing"]

    (labels,) = poll(find_alerts, "an alert")
    assert labels["alertname"] == "RankscopeRuleAlerts"
    assert (labels["rule"], labels["project"]) == ("volume", "default")


def test_the_time_of_the_last_evaluation_moves_on_although_nothing_arrives(watched):
    changed = "changes(rankscope_evaluated_timestamp_seconds[10m]) > 1"
    poll(lambda: watched.prometheus.query(changed), "another evaluation")


def test_the_alerts_name_metrics_that_the_service_has(watched):
    named = set().union(*(find_metrics(rule["expr"]) for rule in list_alerts()))
    assert len(named) > 10
    poll(
        lambda: named <= set(watched.prometheus.ask("label/__name__/values")),
        f"all of {sorted(named)}",
    )


def test_no_panel_of_the_dashboard_is_empty(watched):
    for query in list_queries():
        assert find_metrics(query)
        poll(lambda query=query: watched.prometheus.query(query), f"a value of {query}")


def test_the_dashboard_finds_the_project(watched):
    (variable,) = (
        one
        for one in json.loads(DASHBOARD.read_text())["templating"]["list"]
        if one["name"] == "project"
    )
    metric = re.fullmatch(r"label_values\((\w+), project\)", variable["definition"])
    assert metric is not None
    (found,) = poll(lambda: watched.prometheus.query(metric[1]), "the project")
    assert found["metric"]["project"] == "default"


def test_no_two_panels_of_the_dashboard_overlap():
    taken = set()
    for panel in json.loads(DASHBOARD.read_text())["panels"]:
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= 24
        cells = {
            (place["x"] + column, place["y"] + row)
            for column in range(place["w"])
            for row in range(place["h"])
        }
        assert not cells & taken, panel["title"]
        taken |= cells
