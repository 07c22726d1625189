"""Stores a batch of events within a transaction, each one once."""

from __future__ import annotations

import json

from sqlalchemy import insert, select

from rankscope.monitor.events import LABEL_KINDS, Ranking
from rankscope.monitor.store import schema
from rankscope.monitor.store.content import digest
from rankscope.monitor.store.packing import pack
from rankscope.monitor.store.protocol import Outcome
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from sqlalchemy import Connection

    from rankscope.monitor.events import Event, Label
    from rankscope.monitor.store.transaction import Transaction

AT_ONCE = 500


@record(frozen=True, slots=True)
class Prepared:
    """An event as it is stored, but for its number and project.

    Args:
        event: The event.
        digest: What it says, in 16 bytes.
        items: Its documents, packed; empty for a label.
    """

    event: Event
    digest: bytes
    items: bytes


def prepare(events: Sequence[Event]) -> list[Prepared]:
    """Do what needs no transaction, in the thread of whoever sends the events."""
    return [
        Prepared(event, digest(event), pack(event.items) if isinstance(event, Ranking) else b"")
        for event in events
    ]


def store_events(
    transaction: Transaction,
    project: str,
    batch: Sequence[Prepared],
    rejected: Mapping[str, int],
) -> list[Outcome]:
    """Store what is new of a batch, and count all of it.

    Args:
        transaction: The transaction.
        project: The name of the project.
        batch: The events.
        rejected: By code, how many were rejected before.
    """
    project_id = transaction.project(project)
    connection = transaction.connection
    known = _find_events(connection, project_id, [one.event.event_id for one in batch])
    ranking_ids = [one.event.ranking_id for one in batch if isinstance(one.event, Ranking)]
    shown = _find_rankings(connection, project_id, ranking_ids)
    rows: dict[str, list[dict[str, Any]]] = {"events": [], "rankings": [], "labels": []}
    outcomes = []
    for one in batch:
        event = one.event
        before = known.get(event.event_id)
        if before is None and isinstance(event, Ranking):
            before = shown.get(event.ranking_id)
        if before is not None:
            seq, content = before
            outcomes.append(Outcome("duplicate" if content == one.digest else "conflict", seq))
            continue
        seq = transaction.next_seq()
        known[event.event_id] = seq, one.digest
        common = {"seq": seq, "project_id": project_id}
        rows["events"].append({**common, "event_id": event.event_id, "digest": one.digest})
        if isinstance(event, Ranking):
            shown[event.ranking_id] = seq, one.digest
            context_id = transaction.context(project_id, event)
            rows["rankings"].append(_ranking_row(event, one.items, context_id) | common)
        else:
            rows["labels"].append(_label_row(event) | common)
        outcomes.append(Outcome("accepted", seq))
    for name, new in rows.items():
        if new:
            connection.execute(insert(schema.TABLES.tables[name]), new)
    for outcome in outcomes:
        transaction.counts[project_id, outcome.status] += 1
    for code, count in rejected.items():
        transaction.counts[project_id, code] += count
    return outcomes


def _find_events(
    connection: Connection, project_id: int, event_ids: list[str]
) -> dict[str, tuple[int, bytes]]:
    table = schema.events
    found: dict[str, tuple[int, bytes]] = {}
    for start in range(0, len(event_ids), AT_ONCE):
        wanted = (table.c.project_id == project_id) & table.c.event_id.in_(
            event_ids[start : start + AT_ONCE]
        )
        rows = connection.execute(
            select(table.c.event_id, table.c.seq, table.c.digest).where(wanted)
        )
        found |= {event_id: (seq, content) for event_id, seq, content in rows}
    return found


def _find_rankings(
    connection: Connection, project_id: int, ranking_ids: list[str]
) -> dict[str, tuple[int, bytes]]:
    shown, told = schema.rankings, schema.events
    found: dict[str, tuple[int, bytes]] = {}
    for start in range(0, len(ranking_ids), AT_ONCE):
        wanted = (shown.c.project_id == project_id) & shown.c.ranking_id.in_(
            ranking_ids[start : start + AT_ONCE]
        )
        rows = connection.execute(
            select(shown.c.ranking_id, shown.c.seq, told.c.digest)
            .join(told, told.c.seq == shown.c.seq)
            .where(wanted)
        )
        found |= {ranking_id: (seq, content) for ranking_id, seq, content in rows}
    return found


def _ranking_row(ranking: Ranking, items: bytes, context_id: int) -> dict[str, Any]:
    return {
        "ranking_id": ranking.ranking_id,
        "time": ranking.time,
        "query_key": ranking.query_key,
        "user_id": ranking.user_id,
        "context_id": context_id,
        "packed": items,
    }


def _label_row(label: Label) -> dict[str, Any]:
    return {
        "event_id": label.event_id,
        "ranking_id": label.ranking_id,
        "doc_id": label.doc_id,
        "time": label.time,
        "kind": LABEL_KINDS.index(label.kind),
        "labels": json.dumps(label.labels, separators=(",", ":")),
        "value": label.value,
    }
