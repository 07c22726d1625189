"""Writes events as JSON objects that can be read back."""

from __future__ import annotations

import json
from typing import Any

from rankscope.monitor.events.event import Event, Label, Ranking
from rankscope.monitor.events.times import format_time


def write_event(event: Event) -> bytes:
    """Write an event as one line of JSON.

    Examples:
        >>> from rankscope.monitor.events.event import Items, Label
        >>> write_event(Label("e", "r", "a", 0, ("click",)))
        b'{"event_id":"e","ranking_id":"r","time":"1970-01-01T00:00:00.000000Z","doc_id":"a","kind":"label","labels":["click"]}'
    """
    fields = {
        "event_id": event.event_id,
        "ranking_id": event.ranking_id,
        "time": format_time(event.time),
        **(_say_ranking(event) if isinstance(event, Ranking) else _say_label(event)),
    }
    return json.dumps(fields, allow_nan=False, separators=(",", ":")).encode()


def _say_ranking(ranking: Ranking) -> dict[str, Any]:
    items = ranking.items
    columns = {"rank": items.ranks, "score": items.scores, "relevance": items.relevance}
    documents: list[dict[str, Any]] = [{"doc_id": doc_id} for doc_id in items.doc_ids]
    for name, column in columns.items():
        for document, value in zip(documents, column, strict=False):
            if value is not None:
                document[name] = value
    names = ("query_key", "user_id", "model", "version", "environment")
    texts = {name: getattr(ranking, name) for name in names}
    return {
        **{name: text for name, text in texts.items() if text},
        "attributes": dict(ranking.attributes),
        "items": documents,
    }


def _say_label(label: Label) -> dict[str, Any]:
    fields: dict[str, Any] = {"doc_id": label.doc_id, "kind": label.kind}
    if label.kind != "retraction":
        fields |= {"labels": label.labels} if label.value is None else {"value": label.value}
    return fields
