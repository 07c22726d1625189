"""A service that runs, with the story in it: events come over HTTP as time goes by."""

from __future__ import annotations

import gzip
import json
import socket
import threading
from collections import Counter
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import httpx
from rankscope._demo.story import Clock, play, prepare
from rankscope.monitor.client.client import Client
from rankscope.monitor.intake.ingestion import Ingested
from rankscope.monitor.monitor import Monitor
from rankscope.monitor.server.app import make_app
from rankscope.monitor.server.http.settings import Settings
from rankscope.monitor.server.run.service import make_server
from rankscope.monitor.store.keys import make_key

if TYPE_CHECKING:
    from rankscope._demo.story import Story
    from rankscope.monitor.incidents.incident import Event, Incident

AT_ONCE = 2_000


class Sending(Monitor):
    """A monitor to which nothing is logged but over HTTP: rankings packed, labels by a client."""

    url: str
    key: str

    def log_rankings(self, rankings, **_named):
        """Post them as packed lines."""
        done = Counter()
        objects = list(rankings)
        for at in range(0, len(objects), AT_ONCE):
            lines = "\n".join(map(json.dumps, objects[at : at + AT_ONCE]))
            answer = httpx.post(
                f"{self.url}/v1/rankings",
                content=gzip.compress(lines.encode()),
                headers={
                    "authorization": f"Bearer {self.key}",
                    "content-encoding": "gzip",
                    "content-type": "application/x-ndjson",
                },
                timeout=300,
            )
            assert answer.status_code == 200, answer.text
            done.update({name: answer.json()[name] for name in STATUSES})
        return tell(done)

    def log_labels(self, labels, **_named):
        """Log them with the client, all of them before it goes on."""
        with Client(self.url, self.key) as client:
            for label in labels:
                client.log_label(label)
            assert client.flush(300)
            counts = client.counts()
        assert (counts.dropped, counts.invalid, counts.refused) == (0, 0, 0)
        return tell(Counter({name: getattr(counts, name) for name in STATUSES}))


STATUSES = ("accepted", "duplicate", "conflict", "rejected")


def tell(counts):
    """Counts as a monitor tells them."""
    found = {name: counts[name] for name in STATUSES}
    return Ingested(**found, reasons={}, notes={}, unknown={}, refused=())


@dataclass(frozen=True, slots=True)
class Production:
    """A service that runs, and what happened in it."""

    story: Story
    monitor: Monitor
    url: str
    key: str
    events: tuple[tuple[Event, Incident], ...]
    became: dict[str, int]


@contextmanager
def serve(app, store):
    """Run an application on a port of this machine, and give its URL."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = make_server(app, store, host="127.0.0.1", port=0)
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(30)


@contextmanager
def run_production(story, path):
    """Run the service, and play the story into it over HTTP."""
    clock = Clock(story.start)
    with closing(Sending.open(str(path), now=clock)) as monitor:
        keys = {}
        for scopes in (("ingest",), ("read", "admin")):
            key, shown = make_key(monitor.project, scopes, name="story", now=clock.time)
            monitor.store.add_key(key, "test")
            keys[scopes] = shown.reveal()
        monitor.key = keys["ingest",]
        app = make_app(
            monitor.store, Settings(), write_log=lambda _line: None, now=lambda: clock.time
        )
        with serve(app, monitor.writer) as monitor.url:
            prepare(story, monitor)
            became = Counter()
            events = []
            for step in play(story, monitor, clock):
                events += step.events
                for done in (step.rankings, step.labels):
                    became.update({name: getattr(done, name) for name in STATUSES})
            yield Production(
                story, monitor, monitor.url, keys["read", "admin"], tuple(events), dict(became)
            )
