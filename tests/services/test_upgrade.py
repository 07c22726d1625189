"""Two services on one PostgreSQL are upgraded one after the other, while both take events."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections import Counter
from contextlib import ExitStack

import httpx
import pytest
import sqlalchemy as sa
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from rankscope.monitor import Configuration, Monitor, define
from rankscope.monitor.events.limits import DAY
from rankscope.monitor.events.times import format_time, read_clock, to_datetime
from rankscope.monitor.store import open_reader, open_store
from rankscope.monitor.store.postgres.store import PostgresStore
from rankscope.monitor.store.tables import revisions, schema, version

from tests.monitor.store import next_release
from tests.monitor.store.conformance import read_back
from tests.monitor.store.processes import find_tests, run_python
from tests.services.running import poll

pytestmark = pytest.mark.timeout(300)

BATCH = 10
LEAST = 50
"""Events that each sender has sent at least before anything goes on."""
RETRIABLE = {"store_busy", "store_overloaded", "store_unreachable"}
CLICKS = Configuration(definition=define(positive="click", window="1h"), baseline=None)


def make_events(start, first):
    """A batch of rankings and their clicks, from one number on."""
    rankings, labels = [], []
    for number in range(first, first + BATCH):
        shown = start + number * (DAY // 20_000)
        one = {"ranking_id": f"r{number}", "time": format_time(shown), "doc_ids": list("abcde")}
        clicked = {"ranking_id": f"r{number}", "doc_id": "abcde"[number * 7 % 5], "label": "click"}
        rankings.append({**one, "version": str(number % 2)})
        labels.append({**clicked, "time": format_time(shown + 60_000_000)})
    return rankings, labels


class Services:
    """Two services on one store, each in its slot, behind what a load balancer does."""

    def __init__(self, url, folder):
        self._url = url
        self._folder = folder
        self._running = {}
        self.addresses = {}

    def start(self, slot, program):
        """Start a service, and let requests come to it once it listens."""
        words = ("serve", self._url, "--port", "0", "--every", "1", "--project", "music")
        with (self._folder / f"{slot}.log").open("a") as log:
            process = subprocess.Popen(
                [sys.executable, *program, *words],
                env=find_tests(),
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        self._running[slot] = process
        assert process.stdout is not None
        with process.stdout as output:
            line = output.readline()
        assert line.startswith("Listening on"), (self._folder / f"{slot}.log").read_text()
        self.addresses[slot] = line.split()[2].rstrip("/")

    def stop(self, slot):
        self.addresses.pop(slot, None)
        process = self._running.pop(slot, None)
        if process is not None:
            process.terminate()
            assert process.wait(60) == 0


class Sender(threading.Thread):
    """Sends events until it is told to stop, and repeats each one until it is acknowledged."""

    def __init__(self, services, slot, start):
        super().__init__(daemon=True)
        self._services = services
        self._slot = slot
        self._time = start
        self.sent = []
        self.statuses = Counter()
        self.ending = threading.Event()

    def run(self):
        with httpx.Client(timeout=60) as client:
            number = self._slot * 10_000
            while not self.ending.is_set() and len(self.sent) < 9_000:
                for path, events in zip(
                    ("/v1/rankings", "/v1/labels"), make_events(self._time, number), strict=True
                ):
                    self._send(client, path, events)
                self.sent += range(number, number + BATCH)
                number += BATCH

    def _send(self, client, path, events):
        while True:
            addresses = dict(self._services.addresses)
            address = addresses.get(self._slot) or next(iter(addresses.values()))
            try:
                answer = client.post(f"{address}{path}", json=events)
            except httpx.TransportError:
                continue  # it is being replaced
            said = answer.json()
            self.statuses[answer.status_code, said.get("error", {}).get("code", "")] += 1
            if answer.is_success:
                assert said["accepted"] + said["duplicate"] == len(events), said
                return


@pytest.mark.slow
def test_services_are_upgraded_one_after_the_other_while_both_take_events(
    cluster, tmp_path, monkeypatch
):
    url = cluster.url()
    start = (read_clock() - 3 * DAY) // DAY * DAY
    with open_store(url) as store:
        Monitor(store, "music").configure(CLICKS)
    services = Services(url, tmp_path)
    senders = [Sender(services, slot, start) for slot in (0, 1)]

    def wait_for_more():
        before = [len(sender.sent) for sender in senders]
        poll(
            lambda: all(
                len(sender.sent) >= known + LEAST or not sender.is_alive()
                for sender, known in zip(senders, before, strict=True)
            ),
            "more events",
        )

    with ExitStack() as stack:
        for slot in (0, 1):
            stack.callback(services.stop, slot)
            services.start(slot, ["-m", "rankscope"])
        for sender in senders:
            stack.callback(sender.ending.set)
            sender.start()
        wait_for_more()
        refused = run_python(next_release.__file__, "monitor", "upgrade", url)
        assert refused.returncode == 2
        assert "pg_dump" in refused.stderr
        assert "--no-backup" in refused.stderr
        upgrade = (next_release.__file__, "monitor", "upgrade", url, "--no-backup")
        with monkeypatch.context() as patched:
            patched.setenv("RANKSCOPE_TEST_KILL", "upgrade")
            assert run_python(*upgrade).returncode == -signal.SIGKILL
        done = run_python(*upgrade)  # what was killed has not happened
        assert done.returncode == 0, done.stderr
        assert "upgraded to revision 0002" in done.stdout
        wait_for_more()  # both services are of the release before
        for slot in (0, 1):
            services.stop(slot)
            services.start(slot, [next_release.__file__])
            wait_for_more()
        for sender in senders:
            sender.ending.set()
            sender.join(60)
    sent = sorted(number for sender in senders for number in sender.sent)
    statuses = sum((sender.statuses for sender in senders), Counter())
    assert {code for status, code in statuses if status >= 500} <= RETRIABLE
    assert {status for status, _ in statuses if status >= 300} <= {429, 503}, statuses

    check_events(url, f"sqlite:///{tmp_path}/twin.db", sent, start)


def check_events(url, twin_url, sent, start):
    """Compare a store with one that has got the same events in one piece."""
    now = start + 2 * DAY
    batches = [make_events(start, first) for first in sent[::BATCH]]
    with open_store(url) as store, open_store(twin_url) as twin:
        assert store.query(revisions.find_revision) == "0002"
        store.verify()
        # Every event is there once.
        assert read_back(store, "music", 1000).keys() == {f"r{number}" for number in sent}
        assert store.counters("music")["accepted"] == 2 * len(sent)
        expected = Monitor(twin, "music", clock=lambda: now)
        expected.configure(CLICKS)
        expected.log_rankings([each for rankings, _ in batches for each in rankings])
        expected.log_labels([each for _, labels in batches for each in labels])
        monitor = Monitor(store, "music", clock=lambda: now)
        since, until = to_datetime(start), to_datetime(start + DAY)
        both = []
        for each in (expected, monitor):
            each.evaluate()
            both.append(each.series("nDCG@10", since=since, until=until))
        assert both[0] == both[1]


def test_the_revisions_make_the_tables_of_the_metadata(cluster):
    url = cluster.url()
    with PostgresStore(url) as store, store._writing.connect() as connection:
        tables = sa.MetaData()
        for each in (schema.TABLES, schema.SERVER_TABLES):
            for table in each.sorted_tables:
                table.to_metadata(tables)
        context = MigrationContext.configure(connection)
        # A new store is made of the metadata, and so is the first revision until the release.
        assert compare_metadata(context, tables) == []
        for table in reversed(tables.sorted_tables):
            connection.exec_driver_sql(f"DROP TABLE {table.name}")
        connection.exec_driver_sql("DROP TABLE alembic_version")
        config = revisions._configure()
        config.attributes["connection"] = connection
        command.upgrade(config, version.find_head())
        assert compare_metadata(context, tables) == []
        connection.rollback()


def test_an_upgrade_gives_way_to_a_long_read_and_is_made_after_it(cluster):
    url = cluster.url()
    open_store(url).close()
    with open_reader(url) as reader, reader.engine.connect() as reading:
        reading.execute(sa.select(schema.projects)).all()
        upgrade = subprocess.Popen(
            [
                *(sys.executable, next_release.__file__),
                *("monitor", "upgrade", url, "--no-backup"),
            ],
            env=find_tests(),
            stdout=subprocess.PIPE,
            text=True,
        )
        with open_store(url) as store:
            wanted = sa.text("SELECT count(*) FROM pg_locks WHERE NOT granted")
            poll(lambda: store.query(lambda one: one.execute(wanted).scalar_one()), "it waits")
            for _ in range(3):  # meanwhile, others write
                store.probe().result(30)
    said, _ = upgrade.communicate(timeout=120)
    assert upgrade.returncode == 0
    assert "upgraded to revision 0002" in said
