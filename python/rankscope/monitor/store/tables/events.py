"""Writes rankings and labels, each event once."""

from __future__ import annotations

import json
import struct
from functools import lru_cache
from hashlib import blake2b
from typing import NamedTuple

from sqlalchemy import bindparam, func, insert, select

from rankscope.monitor.events.event import LABEL_KINDS, Ranking
from rankscope.monitor.events.outcome import Outcome
from rankscope.monitor.store.sqlite.connection import fetch_rows
from rankscope.monitor.store.tables import schema
from rankscope.monitor.store.tables.documents import pack

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from sqlalchemy import BindParameter, Connection, Dialect, Select, Table

    from rankscope.monitor.events.event import Event, Label
    from rankscope.monitor.store.tables.transaction import Transaction

AT_ONCE = 500

# Made once: to make them takes as long as to answer them.
IDS: BindParameter[list[str]] = bindparam("ids", expanding=True)
PROJECT: BindParameter[int] = bindparam("project_id")
EVENTS = select(schema.events.c.event_id, schema.events.c.seq, schema.events.c.digest).where(
    schema.events.c.project_id == PROJECT, schema.events.c.event_id.in_(IDS)
)
SHOWN = (
    select(schema.rankings.c.ranking_id, schema.events.c.seq, schema.events.c.digest)
    .join(schema.events, schema.events.c.seq == schema.rankings.c.seq)
    .where(schema.rankings.c.project_id == PROJECT, schema.rankings.c.ranking_id.in_(IDS))
)
TOLD = select(func.count()).where(
    schema.labels.c.project_id == PROJECT, schema.labels.c.ranking_id.in_(IDS)
)


# There is one for each event: these tuples are made five times as fast as records.
class Prepared(NamedTuple):
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
    ranking_ids = list(dict.fromkeys(one.event.ranking_id for one in batch))
    shown = _find_rankings(connection, project_id, ranking_ids)
    came: list[str] = []
    told: list[str] = []
    rows: dict[Table, list[tuple[object, ...]]] = {
        schema.events: [],
        schema.rankings: [],
        schema.labels: [],
    }
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
        rows[schema.events].append((seq, project_id, event.event_id, one.digest))
        if isinstance(event, Ranking):
            shown[event.ranking_id] = seq, one.digest
            came.append(event.ranking_id)
            context_id = transaction.context(project_id, event)
            shown_row = _ranking_row(event, one.items, context_id)
            rows[schema.rankings].append((seq, project_id, *shown_row))
        else:
            told.append(event.ranking_id)
            rows[schema.labels].append((seq, project_id, *_label_row(event)))
        outcomes.append(Outcome("accepted", seq))
    pending = sum(ranking_id not in shown for ranking_id in told)
    pending -= _count_labels(connection, project_id, came)
    transaction.pending[project_id] += pending
    for table, new in rows.items():
        insert_rows(connection, table, new)
    for outcome in outcomes:
        transaction.counts[project_id, outcome.status] += 1
    for code, count in rejected.items():
        transaction.counts[project_id, code] += count
    return outcomes


def _find_events(
    connection: Connection, project_id: int, event_ids: list[str]
) -> dict[str, tuple[int, bytes]]:
    rows = _ask_of(connection, EVENTS, project_id, event_ids)
    return {event_id: (seq, content) for event_id, seq, content in rows}


def _find_rankings(
    connection: Connection, project_id: int, ranking_ids: list[str]
) -> dict[str, tuple[int, bytes]]:
    rows = _ask_of(connection, SHOWN, project_id, ranking_ids)
    return {ranking_id: (seq, content) for ranking_id, seq, content in rows}


def _count_labels(connection: Connection, project_id: int, ranking_ids: list[str]) -> int:
    """Count the labels that are there of rankings that are not, or were not until now."""
    return sum(count for (count,) in _ask_of(connection, TOLD, project_id, ranking_ids))


def _ask_of(
    connection: Connection, statement: Select[Any], project_id: int, ids: list[str]
) -> Iterator[tuple[Any, ...]]:
    """Give what a statement says of many ids."""
    for start in range(0, len(ids), AT_ONCE):
        some = {"project_id": project_id, "ids": ids[start : start + AT_ONCE]}
        yield from fetch_rows(connection.execute(statement, some))


def _ranking_row(ranking: Ranking, items: bytes, context_id: int) -> tuple[object, ...]:
    return (
        ranking.ranking_id,
        ranking.time,
        ranking.query_key,
        ranking.user_id,
        context_id,
        items,
    )


def _label_row(label: Label) -> tuple[object, ...]:
    return (
        label.ranking_id,
        label.doc_id,
        label.time,
        label.event_id,
        LABEL_KINDS.index(label.kind),
        _write_names(label.labels),
        label.value,
    )


@lru_cache(maxsize=1000)
def _write_names(names: tuple[str, ...]) -> str:
    """Write labels, of which there are few different ones."""
    return json.dumps(names, separators=(",", ":"))


def insert_rows(connection: Connection, table: Table, rows: Sequence[tuple[object, ...]]) -> None:
    """Insert rows into a table.

    To let SQLAlchemy look at every value would take longer than to store it.

    Args:
        connection: A connection that writes.
        table: The table.
        rows: The values of all columns, in their order, as the driver takes them.
    """
    if not rows:
        return
    text, is_positional = _write_statement(table, connection.dialect)
    if is_positional:
        connection.exec_driver_sql(text, list(rows))
    else:
        names = table.columns.keys()
        given: list[dict[str, Any]] = [dict(zip(names, row, strict=True)) for row in rows]
        connection.exec_driver_sql(text, given)


@lru_cache(maxsize=16)
def _write_statement(table: Table, dialect: Dialect) -> tuple[str, bool]:
    """Write the statement, and say whether its parameters go by place."""
    compiled = insert(table).compile(dialect=dialect, column_keys=table.columns.keys())
    return str(compiled), dialect.positional


NAN = float("nan")
# Made once: `json.dumps` would make one for each event.
ENCODER = json.JSONEncoder(separators=(",", ":"))


def digest(event: Event) -> bytes:
    """Give the digest of an event, its id left out.

    Examples:
        >>> from rankscope.monitor.events.event import Label
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
