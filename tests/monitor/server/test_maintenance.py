"""Deleting over HTTP, and on the page."""

from __future__ import annotations

import json
from typing import Any

import pytest
from rankscope.monitor.events.limits import HOUR
from rankscope.monitor.events.times import format_time
from rankscope.monitor.monitor import Monitor

from tests.monitor.server.music import START, log_music
from tests.monitor.server.service import NOW, Service


def ask(service: Service, path: str, body: dict[str, Any], *scopes: str) -> Any:  # noqa: ANN401 - JSON
    key = service.make_key("music", *(scopes or ("admin",)))
    return service.ask("POST", path, json.dumps(body).encode(), key=key)


def count(monitor: Monitor) -> int:
    return sum(one.rankings for one in monitor.store.versions("music"))


def test_the_rankings_of_a_user_are_deleted_and_the_audit_log_does_not_name_them(
    service: Service,
) -> None:
    monitor = log_music(service)
    before = count(monitor)
    theirs = sum(number % 11 == 3 for number in [*range(96), *range(100, 140)])
    answer = ask(service, "/v1/deletions", {"user": "u3"})
    assert answer.status_code == 200
    assert answer.json() == {"rankings": theirs, "labels": theirs}
    assert count(monitor) == before - theirs
    entry = monitor.store.audit("music")[-1]
    assert (entry.action, entry.subject) == ("events.delete", "rankings of one user")
    assert entry.actor != "local"
    assert ask(service, "/v1/deletions", {"user": "u3"}).json() == {"rankings": 0, "labels": 0}


def test_rankings_are_deleted_by_id_within_a_span(service: Service) -> None:
    monitor = log_music(service)
    before = count(monitor)
    body = {"rankings": ["r0", "r95"], "until": format_time(START + HOUR)}
    assert ask(service, "/v1/deletions", body).json() == {"rankings": 1, "labels": 1}
    assert count(monitor) == before - 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "body",
    [
        {},
        {"user": ""},
        {"rankings": []},
        {"rankings": ["r"] * 1001},
        {"since": "2026-11-21"},
        {"users": "u3"},
        {"user": "u3", "since": format_time(NOW), "until": format_time(START)},
    ],
)
def test_nothing_is_deleted_by_a_request_that_is_wrong(service: Service, body: Any) -> None:  # noqa: ANN401 - JSON
    monitor = log_music(service)
    before = count(monitor)
    assert ask(service, "/v1/deletions", body).status_code == 422
    assert count(monitor) == before


def test_who_may_not_delete_is_refused(service: Service) -> None:
    log_music(service)
    for scopes in (("read",), ("edit",), ("ingest",)):
        assert ask(service, "/v1/deletions", {"user": "u3"}, *scopes).status_code == 403


def test_old_events_are_deleted_and_their_values_stay(service: Service) -> None:
    monitor = log_music(service)
    before = monitor.series("nDCG@5", every="hour").values
    answer = ask(service, "/v1/retention", {"before": format_time(START + 6 * HOUR)})
    assert answer.json()["rankings"] >= 24
    monitor.evaluate()
    assert monitor.series("nDCG@5", every="hour").values == before
    refused = ask(service, "/v1/retention", {"before": format_time(NOW)})
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "open_windows")
