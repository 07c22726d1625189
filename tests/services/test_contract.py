"""The service does what its description says, and nothing else: Schemathesis asks a running one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from rankscope.monitor.definition.configuration import Configuration
from rankscope.monitor.definition.definition import define
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.events.times import read_clock
from rankscope.monitor.monitor import Monitor
from rankscope.monitor.rules.kinds import Rule
from rankscope.monitor.server.access.accounts import add_person, set_role
from rankscope.monitor.server.app import make_app
from rankscope.monitor.server.http.settings import Settings
from rankscope.monitor.store.keys import make_key

from tests.monitor.server.music import make_click, make_search
from tests.monitor.server.service import find_token
from tests.monitor.server.test_webhook import Recording
from tests.services.production import serve

pytestmark = pytest.mark.timeout(900)

HERE = Path(__file__).parent
EXAMPLES = 8 if os.environ.get("HYPOTHESIS_PROFILE") == "thorough" else 3
"""How many requests are drawn for each operation; those at the limits of values come besides."""
FORM = {"sec-fetch-site": "same-origin"}


@dataclass(frozen=True, slots=True)
class Running:
    """A service with a project."""

    url: str
    key: str
    cookie: str
    csrf: str
    answers: list[int]


def fill(monitor):
    """Log two days of rankings with clicks, of two versions and a validation set, and a rule."""
    definition = define(measures=["nDCG@10", "AP@10"], positive={"click": 1, "buy": 5}, window=3600)
    monitor.configure(Configuration(definition=definition, attributes=("device",)), actor="test")
    start = read_clock() - 2 * DAY
    rankings = [make_search(at, time=start + at * HOUR // 4) for at in range(96)]
    judged = {"version": "3", "environment": "validation"}
    rankings += [
        make_search(at, time=start + (at - 96) * HOUR // 4, **judged) for at in range(96, 140)
    ]
    labels = [make_click(ranking, at) for at, ranking in enumerate(rankings)]
    assert monitor.log_rankings(rankings).accepted == len(rankings)
    assert monitor.log_labels(labels).accepted == len(labels)
    monitor.set_rule(Rule(name="drop", measure="nDCG@10", period="hour"), actor="test")
    monitor.evaluate()


@contextmanager
def run_service(path):
    """Run a service in which nothing is refused for being asked too often."""
    names = ("key", "open", "failure", "sign_in", "account")
    often = dict.fromkeys([f"{name}_rate" for name in names], 1e6)
    bursts = dict.fromkeys([f"{name}_burst" for name in names], 10**7)
    answers = []
    with closing(Monitor.open(str(path))) as monitor:
        fill(monitor)
        scopes = ("ingest", "read", "admin")
        key, shown = make_key(monitor.project, scopes, name="test", now=read_clock())
        monitor.store.add_key(key, "test")
        app = make_app(
            monitor.store,
            Settings(**often, **bursts),
            write_log=lambda line: answers.append(json.loads(line).get("status", 0)),
            poster=Recording(),
        )
        with serve(app, monitor.writer) as url:
            with httpx.Client(base_url=url, headers=FORM) as browser:
                named = {"now": read_clock(), "actor": "test"}
                _, link = add_person(monitor.writer, "ann@example.com", name="", **named)
                set_role(monitor.writer, None, "ann@example.com", "operator", **named)
                fields = {"link": link, "password": "correct horse battery staple"}
                assert browser.post("/set-password", data=fields).status_code == 303
                token = find_token(browser.get("/account").text)
                cookie = "; ".join(f"{name}={value}" for name, value in browser.cookies.items())
            yield Running(url, shown.reveal(), cookie, token, answers)


@pytest.mark.slow
def test_the_service_does_what_its_description_says(tmp_path):
    with run_service(tmp_path / "contract.db") as running:
        said = httpx.get(
            f"{running.url}/openapi.json", headers={"authorization": f"Bearer {running.key}"}
        )
        described = tmp_path / "openapi.json"
        described.write_bytes(said.content)
        program = Path(sys.executable).with_name("schemathesis")
        done = subprocess.run(
            [
                program,
                *("--config-file", HERE / "contract.toml"),
                *("run", described, "--url", running.url),
                *("--max-examples", str(EXAMPLES)),
            ],
            env=os.environ
            | {
                "RANKSCOPE_KEY": running.key,
                "RANKSCOPE_COOKIE": running.cookie,
                "RANKSCOPE_CSRF": running.csrf,
                "PYTHONPATH": str(HERE),
                "NO_COLOR": "1",
            },
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert "No issues found" in done.stdout or "passed" in done.stdout
        operations = sum(map(len, said.json()["paths"].values()))
        assert f"Tested: {operations - 2}" in done.stdout  # two are turned off, and say why
        assert not any(status >= 500 for status in running.answers)
        # It went on beyond the doors: most kinds of answers are seen.
        assert {200, 201, 204, 303, 400, 401, 404, 405, 422} <= set(running.answers)
