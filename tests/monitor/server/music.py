"""A project with values: rankings of two versions, labels, a validation set, final windows."""

from __future__ import annotations

from rankscope.monitor.definition.configuration import Configuration
from rankscope.monitor.definition.definition import define
from rankscope.monitor.events.limits import HOUR
from rankscope.monitor.events.times import format_time
from rankscope.monitor.monitor import Monitor

from tests.monitor.server.service import NOW

START = NOW - 48 * HOUR
MUSIC = Configuration(
    definition=define(positive={"click": 1, "buy": 5}, window=3600), attributes=("device",)
)


def open_monitor(service, project="music"):
    return Monitor(service.store, project, clock=lambda: NOW)


def log_music(service, project="music"):
    """Log 24 hours of rankings and a validation set, and evaluate them."""
    monitor = open_monitor(service, project)
    monitor.configure(MUSIC, actor="test")
    key = service.make_key(project, "ingest")
    rankings = [make_search(number) for number in range(96)]
    rankings += [
        make_search(number, environment="validation", version="3", time=START - HOUR * (number + 2))
        for number in range(100, 140)
    ]
    labels = [make_click(ranking, number) for number, ranking in enumerate(rankings)]
    for path, events in (("/v1/rankings", rankings), ("/v1/labels", labels)):
        answer = service.post(path, events, key=key)
        assert answer.json()["accepted"] == len(events)
    monitor.evaluate()
    return monitor


def make_search(number, **fields):
    """A search: four an hour, on three devices, of version 3 and then of version 4."""
    made = {
        "event_id": f"e{number}",
        "ranking_id": f"r{number}",
        "time": START + number * HOUR // 4,
        "query": f"q{number % 7}",
        "user_id": f"u{number % 11}",
        "model": "search",
        "version": "3" if number < 48 else "4",
        "attributes": {"device": ("tv", "phone", "web")[number % 3]},
        "items": [{"doc_id": name, "rank": rank} for rank, name in enumerate("abcde", start=1)],
    } | fields
    return made | {"time": format_time(int(made["time"]))}


def make_click(ranking, number):
    return {
        "event_id": f"l{number}",
        "ranking_id": ranking["ranking_id"],
        "doc_id": "abcde"[number % 5],
        "time": ranking["time"],
        "labels": ["click"],
    }
