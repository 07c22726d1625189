"""What an event says, in 16 bytes: equal for equal content, whatever version packs it."""

from __future__ import annotations

import json
import struct
from hashlib import blake2b

from rankscope.monitor.events import Ranking

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.monitor.events import Event

NAN = float("nan")
# Made once: `json.dumps` would make one for each event.
ENCODER = json.JSONEncoder(separators=(",", ":"))


def digest(event: Event) -> bytes:
    """Give the digest of an event, its id left out.

    Examples:
        >>> from rankscope.monitor.events import Label
        >>> click = Label("e", "r", "d", 0, ("click",))
        >>> digest(click) == digest(Label("other", "r", "d", 0, ("click",)))
        True
        >>> digest(click) == digest(Label("e", "r", "d", 1, ("click",)))
        False
    """
    if not isinstance(event, Ranking):
        said = ["label", event.ranking_id, event.doc_id, event.time, event.labels]
        return _hash([*said, event.kind], struct.pack("<d", _number(event.value)))
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
    # No id has NUL in it, so that ids end to end are one text only.
    ids = "\0".join(items.doc_ids).encode()
    ranks = struct.pack(f"<{count}q", *items.ranks)
    numbers = [*items.scores, *items.relevance]
    return _hash(head, ids, ranks, struct.pack(f"<{len(numbers)}d", *map(_number, numbers)))


def _hash(head: list[object], *parts: bytes) -> bytes:
    said = ENCODER.encode(head).encode()
    return blake2b(b"\0".join((said, *parts)), digest_size=16).digest()


def _number(value: float | None) -> float:
    # Zeros are equal, whatever their sign.
    return NAN if value is None else value + 0.0
