"""The limits on one event."""

from __future__ import annotations

from dataclasses import dataclass

SECOND = 1_000_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The limits on one event: sizes, counts, and how far its time may be from now.

    Args:
        items: Documents in a ranking.
        id_bytes: Bytes of UTF-8 in an identifier, a model or a version.
        attributes: Attributes of a ranking.
        name_bytes: Bytes in the name of an attribute, or in a label.
        value_bytes: Bytes in the value of an attribute, or in a query.
        labels: Labels in one event.
        rank: The largest rank.
        depth: Lists and objects in each other.
        ahead: Microseconds by which a clock may be ahead.
        age: Microseconds by which an event may be old.
    """

    items: int = 1000
    id_bytes: int = 512
    attributes: int = 100
    name_bytes: int = 128
    value_bytes: int = 1024
    labels: int = 100
    rank: int = 1_000_000
    depth: int = 32
    ahead: int = 5 * MINUTE
    age: int = 3653 * DAY
