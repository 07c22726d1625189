"""The digest of an event, which tells one that is sent again from another one with its id."""

from __future__ import annotations

import json
import struct
from hashlib import blake2b

from rankscope.monitor.events.event import Ranking

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from rankscope.monitor.events.event import Event

NAN = float("nan")
# Made once: `json.dumps` would make one for each event.
ENCODER = json.JSONEncoder(separators=(",", ":"))


def digest(event: Event) -> bytes:
    """Return the digest of the content of an event, without its id.

    Examples:
        >>> from rankscope.monitor.events.event import Label
        >>> click = Label("e", "r", "d", 0, ("click",))
        >>> digest(click) == digest(Label("other", "r", "d", 0, ("click",)))
        True
        >>> digest(click) == digest(Label("e", "r", "d", 1, ("click",)))
        False
    """
    if not isinstance(event, Ranking):
        head = ["label", event.ranking_id, event.doc_id, event.time, event.labels, event.kind]
        return _hash(head, struct.pack("<d", _to_number(event.value)))
    items = event.items
    count = len(items)
    head = [
        "ranking",
        event.ranking_id,
        event.time,
        event.query_key,
        event.user_id,
        event.model,
        event.version,
        event.environment,
        event.attributes,
        count,
        len(items.scores),
    ]
    # No id contains NUL, so that different lists of ids are different texts.
    ids = "\0".join(items.doc_ids).encode()
    ranks = struct.pack(f"<{count}q", *items.ranks)
    numbers = [*items.scores, *items.relevance]
    return _hash(head, ids, ranks, struct.pack(f"<{len(numbers)}d", *map(_to_number, numbers)))


def _hash(head: list[Any], *parts: bytes) -> bytes:
    encoded = ENCODER.encode(head).encode()
    return blake2b(b"\0".join((encoded, *parts)), digest_size=16).digest()


def _to_number(value: float | None) -> float:
    # Adding 0.0 makes the two zeros one: they are equal, whatever their sign.
    return NAN if value is None else value + 0.0
