"""A sink that keeps what it takes, to compare two ways of ingesting the same."""

from __future__ import annotations

from rankscope._core import EventBatch
from rankscope.errors import InputError
from rankscope.monitor.events.batch import pack_reading
from rankscope.monitor.events.outcome import STATUSES
from rankscope.monitor.events.rejection import Decoded
from rankscope.monitor.intake.ingestion import Ingestion


class Collecting:
    def __init__(self, *, takes_prepared):
        self.takes_prepared = takes_prepared
        self.events = []

    def take(self, reading):
        decoded = reading if isinstance(reading, Decoded) else pack_reading(reading)
        self.events.append(decoded.batch)
        return [STATUSES[status] for status in decoded.batch.tell(bytes(len(decoded.batch)))]


def ingest(given, kind, attributes, *, now, takes_prepared):
    """The events of something, what became of its objects, and why it ended early."""
    sink = Collecting(takes_prepared=takes_prepared)
    ingestion = Ingestion(sink, kind, now=lambda: now, attributes=attributes, is_strict=False)
    try:
        ingestion.take(given)
    except InputError as error:
        return EventBatch.join(sink.events), ingestion.ingested, str(error)
    return EventBatch.join(sink.events), ingestion.ingested
