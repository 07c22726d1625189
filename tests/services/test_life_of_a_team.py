"""The life of a team without a stop: from its file to a restored store, with everything real."""

from __future__ import annotations

import json
import sys
from contextlib import ExitStack, contextmanager
from datetime import timedelta

import httpx
import oidc_provider_mock
import psycopg
import pytest
from rankscope.monitor.events.limits import DAY, HOUR, MINUTE
from rankscope.monitor.events.times import format_time, read_clock
from rankscope.monitor.setup.file import read_setup
from rankscope.monitor.setup.plan import apply_projects
from rankscope.monitor.store import open_store

from tests.monitor.store import next_release
from tests.monitor.store.processes import find_tests, run_python
from tests.services.conftest import watch_pages
from tests.services.postgres import Cluster
from tests.services.running import command, find_port, poll, start
from tests.services.test_alertmanager import run_alertmanager
from tests.services.test_backups import dump

# The provider of the tests uses what its own library is about to drop.
pytestmark = [pytest.mark.timeout(500), pytest.mark.filterwarnings("ignore")]

FILE = """\
public_url = "http://localhost:{port}"

[sign-in.oidc]
issuer = "{issuer}"
client_id = "rankscope"

[channels.oncall]
alertmanager = "{alertmanager}"
allow_http = true
allow_private = true

[projects.music]
baseline = "none"

[projects.music.definition]
measures = {measures}
window = "1m"
attribution.positive = {{ click = 1 }}

[projects.music.rules.empty]
kind = "limit"
measure = "no_results"
above = 0.05

[projects.music.roles]
editor = ["group:search"]
"""
EACH_HOUR = 40


@contextmanager
def run_provider():
    """Run a provider that knows Ann, who searches."""
    said = {"email": "ann@example.com", "email_verified": True, "name": "Ann", "groups": ["search"]}
    ann = oidc_provider_mock.User(sub="ann", claims=said)
    with oidc_provider_mock.run_server_in_thread(
        require_nonce=True, user_claims=(ann,), access_token_max_age=timedelta(minutes=5)
    ) as server:
        yield f"http://localhost:{server.server_port}"


def make_events(now, *, hours):
    """Rankings of the last hours, of which every second one is empty, and clicks on the others."""
    rankings, labels = [], []
    for number in range(hours * EACH_HOUR):
        shown = now - (hours + 1) * HOUR + number * (HOUR // EACH_HOUR)
        ranking = {
            "ranking_id": f"r{number}",
            "time": format_time(shown),
            "user_id": f"u{number % 7}",
            "doc_ids": [] if number % 2 else list("abc"),
        }
        rankings.append(ranking)
        if number % 2 == 0:
            click = {"ranking_id": f"r{number}", "doc_id": "abc"[number % 3], "label": "click"}
            labels.append({**click, "time": format_time(shown + MINUTE // 4)})
    return rankings, labels


@contextmanager
def serve(url, file, port, program):
    """Run a service of a release, and give its address."""
    words = ("serve", url, "--port", str(port), "--every", "1", "--config", str(file))
    log = file.with_name(f"{port}-{len(program)}.log")
    with start([sys.executable, *program, *words], log) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line.startswith("Listening on"), log.read_text()
        yield f"http://localhost:{port}"


@pytest.mark.slow
def test_a_team_lives_without_a_stop(  # noqa: PLR0915 - each step follows from the one before
    tmp_path, browser, monkeypatch
):
    monkeypatch.setenv("RANKSCOPE_OIDC_SECRET", "a secret")
    monkeypatch.setenv("PYTHONPATH", find_tests()["PYTHONPATH"])
    ports, file = [find_port() for _ in range(3)], tmp_path / "rankscope.toml"
    now = read_clock()
    with ExitStack() as stack:
        cluster = stack.enter_context(Cluster())
        issuer = stack.enter_context(run_provider())
        alertmanager = stack.enter_context(run_alertmanager(tmp_path / "alerts", ports[2]))
        url = cluster.url()

        def write_file(measures):
            said = {"port": ports[0], "issuer": issuer, "alertmanager": alertmanager}
            file.write_text(FILE.format(measures=json.dumps(measures), **said))

        # A project comes from a file, two days ago.
        write_file(["nDCG@2"])
        with open_store(url) as store:
            apply_projects(store, read_setup(str(file)).projects, now=now - 2 * DAY, actor="ops")
        assert command("monitor", "apply", url, str(file)) == "music: no changes\n"
        project = ("--project", "music")
        made = ("monitor", "key", "make", url, "sender", *project, "--json")
        said = json.loads(command(*made, "--scope", "ingest", "read", "admin"))
        key = {"authorization": f"Bearer {said['key']}"}
        first = stack.enter_context(serve(url, file, ports[0], ("-m", "rankscope")))
        second = stack.enter_context(ExitStack())
        other = second.enter_context(serve(url, file, ports[1], ("-m", "rankscope")))

        # Events come over HTTP to both services.
        rankings, labels = make_events(now, hours=30)
        for path, events, address in (("rankings", rankings, first), ("labels", labels, other)):
            answer = httpx.post(f"{address}/v1/{path}", json=events, headers=key, timeout=60)
            assert answer.json()["accepted"] == len(events), answer.text

        # An incident is one alert.
        def find_incident():
            found = httpx.get(f"{first}/v1/incidents", headers=key, timeout=60).json()
            return next(iter(found["incidents"]), None)

        def list_alerts():
            return httpx.get(f"{alertmanager}/api/v2/alerts").json()

        incident = poll(find_incident, "an incident")
        assert incident["rule"] == "empty"
        (alert,) = poll(list_alerts, "an alert")
        assert alert["generatorURL"] == f"{first}/projects/music/incidents/{incident['id']}"

        # Ann signs in through the provider, where the alert leads her, and acknowledges it.
        make_page = stack.enter_context(
            watch_pages(browser, lambda _: True, lambda text: "Failed to load" in text)
        )
        page = make_page()
        page.goto(alert["generatorURL"])
        page.get_by_role("link", name="Continue with").click()
        page.get_by_role("button", name="ann").click()
        page.wait_for_url("**/projects/music/incidents/*")
        page.get_by_role("button", name="Acknowledge").click()
        page.get_by_text("acknowledged").first.wait_for()
        assert poll(find_incident, "the incident")["state"] == "acknowledged"
        (same,) = list_alerts()
        assert same["fingerprint"] == alert["fingerprint"]

        # A user is deleted, and the definition changed, beside the services.
        gone = sum(ranking["user_id"] == "u1" for ranking in rankings)
        deleted = command("monitor", "delete", url, *project, "--user", "u1")
        assert f"rankings\t{gone}\n" in deleted
        write_file(["nDCG@2", "RR@2"])
        assert "RR@2" in command("monitor", "apply", url, str(file))
        assert command("monitor", "plan", url, str(file)).strip() == "music: no changes"

        # One of two services is upgraded, and both take events.
        upgraded = run_python(next_release.__file__, "monitor", "upgrade", url, "--no-backup")
        assert upgraded.returncode == 0, upgraded.stderr
        second.close()
        other = second.enter_context(serve(url, file, ports[1], (next_release.__file__,)))
        for number, address in enumerate((first, other)):
            event = {**rankings[0], "ranking_id": f"after {number}", "user_id": "u2"}
            answer = httpx.post(f"{address}/v1/rankings", json=[event], headers=key, timeout=60)
            assert answer.json()["accepted"] == 1, answer.text

        # The store is backed up and restored elsewhere, with equal values.
        def is_evaluated():
            answer = httpx.get(f"{first}/v1/quality", headers=key, timeout=60)
            return answer.json()["behind"] == 0

        poll(is_evaluated, "values of the new definition")
        dump(url, tmp_path / "rankings.dump")
        with psycopg.connect(url.partition("&schema")[0], autocommit=True) as connection:
            connection.execute("CREATE DATABASE drill ENCODING 'UTF8' TEMPLATE template0")
        drill = url.replace("/postgres?", "/drill?")
        words = ("--verify", "--against", url)
        restored = command("monitor", "restore", str(tmp_path / "rankings.dump"), drill, *words)
        assert restored.count(": equal") == 2, restored

        # Who did what.
        lines = command("monitor", "audit", url, "--ndjson").splitlines()
        told = {(each["actor"], each["action"]) for each in map(json.loads, lines)}
        assert ("ann@example.com", "sign_in") in told
        assert ("ann@example.com", "incident.acknowledge") in told
