"""A sink that keeps what it takes, to compare two ways of ingesting the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rankscope._core import EventBatch
from rankscope.errors import InputError
from rankscope.monitor.events.batch import pack_reading
from rankscope.monitor.events.outcome import STATUSES
from rankscope.monitor.events.rejection import Decoded
from rankscope.monitor.intake.ingestion import Ingestion

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankscope.monitor.events.rejection import Reading
    from rankscope.monitor.intake.ingestion import Kind


class Collecting:
    """A sink that prepares the events it takes."""

    def __init__(self, *, takes_prepared: bool) -> None:
        self.takes_prepared = takes_prepared
        self.events: list[EventBatch] = []

    def take(self, reading: Reading | Decoded) -> list[str]:
        decoded = reading if isinstance(reading, Decoded) else pack_reading(reading)
        self.events.append(decoded.batch)
        return [STATUSES[status] for status in decoded.batch.tell(bytes(len(decoded.batch)))]


def ingest(
    given: Any,  # noqa: ANN401 - whatever is ingested
    kind: Kind,
    attributes: Sequence[str],
    *,
    now: int,
    takes_prepared: bool,
) -> object:
    """The events of something, what became of its objects, and why it ended early."""
    sink = Collecting(takes_prepared=takes_prepared)
    ingestion = Ingestion(sink, kind, now=lambda: now, attributes=attributes, is_strict=False)
    try:
        ingestion.take(given)
    except InputError as error:
        return EventBatch.join(sink.events), ingestion.ingested, str(error)
    return EventBatch.join(sink.events), ingestion.ingested
