"""Makes batches of events, as a store takes them."""

from __future__ import annotations

from collections.abc import Iterable

from rankscope import _core
from rankscope.monitor.events.event import Event, Ranking
from rankscope.monitor.events.rejection import Decoded, Reading, Rejection, refuse_text


def add_event(builder: _core.BatchBuilder, event: Event) -> None:
    """Add an event."""
    if not isinstance(event, Ranking):
        builder.add_label(
            event.event_id,
            event.ranking_id,
            event.doc_id,
            event.time,
            event.labels,
            event.value,
            event.kind,
        )
        return
    items = event.items
    builder.add_ranking(
        event.event_id,
        event.ranking_id,
        event.time,
        event.query_key,
        event.user_id,
        event.model,
        event.version,
        event.environment,
        event.attributes,
        items.doc_ids,
        items.ranks,
        items.scores,
        items.relevance,
    )


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
    builder = _core.BatchBuilder()
    add_event(builder, event)
    return builder.finish().digest(0)


def pack_events(events: Iterable[Event]) -> _core.EventBatch:
    """Make a batch of events, each an object of its own.

    Raises:
        RefusedError: An id has a NUL, or a text has half a character.
    """
    builder = _core.BatchBuilder()
    for event in events:
        for name in (event.event_id, event.ranking_id):
            if "\0" in name:
                raise refuse_text(name)
        try:
            add_event(builder, event)
        except UnicodeEncodeError as error:
            raise refuse_text(error.object) from error
        builder.end_object()
    return builder.finish()


def pack_reading(reading: Reading) -> Decoded:
    """Make a batch of the events that were read in Python."""
    builder = _core.BatchBuilder()
    for answer in reading.answers:
        if not isinstance(answer, Rejection):
            for event in answer:
                add_event(builder, event)
        builder.end_object()
    return Decoded(builder.finish(), reading.rejections, reading.notes, reading.unknown)
