"""A real Alertmanager takes incidents as alerts, and resolves those that end."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial

import httpx
import pytest
import yaml
from rankscope.monitor.notify.alertmanager import AlertSchedule
from rankscope.monitor.notify.channels import Channel, Channels
from rankscope.monitor.notify.delivery import Deliverer
from rankscope.monitor.notify.http import Poster
from rankscope.monitor.notify.sending import send_test
from rankscope.monitor.store.keys import Secret
from rankscope.monitor.store.sqlite.store import SQLiteStore

from tests.monitor.notify.notices import HOSTILE, make, make_incident
from tests.monitor.notify.test_channels import put, told_of
from tests.monitor.notify.test_delivery import put_notice
from tests.monitor.rules.world import PROJECT
from tests.services.running import find_port, poll, start


@dataclass(frozen=True, slots=True)
class World:
    """A store, what delivers its notifications, and an Alertmanager."""

    url: str
    store: SQLiteStore
    deliverer: Deliverer

    def tell(self, event, incident, name):
        """Let an incident be as it is, and notify the Alertmanager."""
        put(self.store, told_of(incident, "alerts"))
        now = self.deliverer.now()
        put_notice(self.store, name, now, make((event, incident)).to_json(), ("alerts",))
        self.deliverer.step()
        (row, *_) = self.store.list_notifications(PROJECT, 1)
        assert (row.status, row.problem) == ("delivered", "")

    def alerts(self):
        answer = httpx.get(f"{self.url}/api/v2/alerts", timeout=60)
        assert answer.status_code == 200
        return answer.json()


@contextmanager
def run_alertmanager(folder, port):
    folder.mkdir(exist_ok=True)
    file = folder / "alertmanager.yml"
    file.write_text(
        yaml.safe_dump({"route": {"receiver": "nobody"}, "receivers": [{"name": "nobody"}]})
    )
    arguments = {
        "config.file": file,
        "storage.path": folder / "alerts",
        "web.listen-address": f"127.0.0.1:{port}",
        "cluster.listen-address": "",
    }
    program = [
        "prometheus-alertmanager",
        *(f"--{name}={value}" for name, value in arguments.items()),
    ]
    url = f"http://127.0.0.1:{port}"
    with start(program, folder / "alertmanager.log"):
        poll(lambda: httpx.get(f"{url}/-/ready", timeout=5).is_success, "Alertmanager to be ready")
        yield url


@contextmanager
def open_world(folder, port):
    """Run an Alertmanager beside a store."""
    channel = Channel(
        name="alerts",
        url=Secret(f"http://127.0.0.1:{port}"),
        kind="alertmanager",
        allows_http=True,
        allows_private=True,
    )
    with run_alertmanager(folder, port) as url, SQLiteStore(folder / "events.db") as store:
        deliverer = Deliverer(
            store,
            log=lambda _body: pytest.fail("there is no log"),
            poster=Poster(),
            now=lambda: round(datetime.now(UTC).timestamp() * 1_000_000),
            channels=Channels(channels=(channel,), public_url="https://rankscope.example.com"),
        )
        yield World(url, store, deliverer)


@pytest.fixture
def world(tmp_path):
    with open_world(tmp_path, find_port()) as made:
        yield made


def make_new(**said):
    """An incident that began an hour ago."""
    now = datetime.now(UTC).replace(microsecond=0)
    times = {"opened": now, "began": now - timedelta(hours=1), "updated": now}
    return make_incident(**{"project": PROJECT} | times | said)


def test_an_incident_is_one_alert_until_it_ends(world):
    incident = make_new()
    world.tell("opened", incident, "notice_1")
    (alert,) = poll(world.alerts, "an alert")
    assert alert["labels"]["incident"] == incident.incident_id
    assert alert["status"]["state"] in {"active", "unprocessed"}
    assert (
        alert["generatorURL"] == f"https://rankscope.example.com/projects/{PROJECT}{incident.link}"
    )
    worse = replace(incident, reason="nDCG@5 is 0.5, below the floor of 0.7976.")
    world.tell("worsened", worse, "notice_2")
    (again,) = world.alerts()
    assert again["fingerprint"] == alert["fingerprint"]
    assert again["annotations"]["description"] == worse.reason
    ended = replace(worse, state="recovered", recovered=datetime.now(UTC))
    world.tell("recovered", ended, "notice_3")
    poll(lambda: not world.alerts(), "no alert")
    # The same alert begins again.
    world.tell("reopened", replace(worse, state="open"), "notice_4")
    (reopened,) = poll(world.alerts, "the alert again")
    assert reopened["fingerprint"] == alert["fingerprint"]


def test_an_alertmanager_that_was_restarted_gets_its_alerts_back(tmp_path):
    with open_world(tmp_path, find_port()) as world:
        world.tell("opened", make_new(), "notice_1")
        (alert,) = poll(world.alerts, "an alert")
        # A new one, which knows nothing.
        other = find_port()
        with run_alertmanager(tmp_path / "other", other) as url:
            (channel,) = world.deliverer.channels.channels
            channels = Channels(channels=(replace(channel, url=Secret(url)),))
            deliverer = replace(world.deliverer, channels=channels, alerts=AlertSchedule())
            deliverer.step()
            (back,) = poll(replace(world, url=url).alerts, "the alert")
        assert back["fingerprint"] == alert["fingerprint"]


def test_alerts_of_names_that_mean_something_elsewhere_are_taken(world):
    for number, name in enumerate(HOSTILE):
        incident = make_new(incident_id=f"incident_{number}", model=name, slice=(("device", name),))
        world.tell("opened", incident, f"notice_{number}")
    alerts = poll(world.alerts, "alerts")
    models = {alert["labels"].get("model") for alert in alerts}
    assert models == set(HOSTILE)


def test_a_test_is_an_alert_of_its_own(world):
    (channel,) = world.deliverer.channels.channels
    send = partial(send_test, sender=world.deliverer.sender, poster=Poster(), public_url=None)
    assert send(channel, PROJECT, now=world.deliverer.now()).problem == ""
    (alert,) = poll(world.alerts, "an alert")
    assert alert["labels"] == {
        "alertname": "RankscopeTest",
        "channel": "alerts",
        "severity": "info",
    }
