"""Stores rankings and labels, each event once."""

from __future__ import annotations

import json
import struct
from functools import lru_cache
from hashlib import blake2b
from typing import NamedTuple

from sqlalchemy import bindparam, func, select

from rankscope.monitor.events.event import LABEL_KINDS, Label, Ranking
from rankscope.monitor.events.outcome import Outcome
from rankscope.monitor.store.tables.documents import pack
from rankscope.monitor.store.tables.schema import events, history_labels, labels, rankings
from rankscope.monitor.store.tables.statements import fetch_rows, insert_rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any, TypeAlias

    from sqlalchemy import BindParameter, Connection, Select, Table

    from rankscope.monitor.events.event import Event
    from rankscope.monitor.store.tables.transaction import RankingContext, Transaction

    PreparedEvent: TypeAlias = "PreparedRanking | PreparedLabel"

AT_ONCE = 500
"""How many ids a statement asks for."""

# Made once: making these statements takes as long as running them.
IDS: BindParameter[list[str]] = bindparam("ids", expanding=True)
PROJECT: BindParameter[int] = bindparam("project_id")
SELECT_EVENTS = select(events.c.event_id, events.c.seq, events.c.digest).where(
    events.c.project_id == PROJECT, events.c.event_id.in_(IDS)
)
SELECT_RANKINGS = (
    select(rankings.c.ranking_id, events.c.seq, events.c.digest)
    .join(events, events.c.seq == rankings.c.seq)
    .where(rankings.c.project_id == PROJECT, rankings.c.ranking_id.in_(IDS))
)
COUNT_LABELS = select(func.count()).where(
    labels.c.project_id == PROJECT, labels.c.ranking_id.in_(IDS)
)


# There is one for each event: named tuples are made five times as fast as records.
class PreparedRanking(NamedTuple):
    """A ranking as it is stored, except for its number and its project.

    Args:
        event_id: What it is known by when it is sent again.
        ranking_id: What labels name.
        digest: 16 bytes that identify its content.
        time: When it was shown, in microseconds since 1970 in UTC.
        query_key: What repeats.
        user_id: Who saw it.
        context: Its model, version, environment and attributes.
        packed: Its documents.
    """

    event_id: str
    ranking_id: str
    digest: bytes
    time: int
    query_key: str
    user_id: str
    context: RankingContext
    packed: bytes


class PreparedLabel(NamedTuple):
    """A label as it is stored, except for its number and its project.

    Args:
        event_id: What it is known by when it is sent again.
        ranking_id: The ranking.
        digest: 16 bytes that identify its content.
        doc_id: The document.
        time: When it happened, in microseconds since 1970 in UTC.
        kind: The position of its kind in `LABEL_KINDS`.
        labels: What happened, as a list of JSON.
        value: Its grade, or `None`.
    """

    event_id: str
    ranking_id: str
    digest: bytes
    doc_id: str
    time: int
    kind: int
    labels: str
    value: float | None


def prepare(batch: Sequence[Event | PreparedEvent]) -> list[PreparedEvent]:
    """Do the work that needs no transaction, in the thread of the sender.

    Events that the core has decoded are prepared already.
    """
    return [
        _prepare_ranking(event)
        if isinstance(event, Ranking)
        else _prepare_label(event)
        if isinstance(event, Label)
        else event
        for event in batch
    ]


def _prepare_ranking(ranking: Ranking) -> PreparedRanking:
    return PreparedRanking(
        ranking.event_id,
        ranking.ranking_id,
        digest(ranking),
        ranking.time,
        ranking.query_key,
        ranking.user_id,
        (ranking.model, ranking.version, ranking.environment, ranking.attributes),
        pack(ranking.items),
    )


def _prepare_label(label: Label) -> PreparedLabel:
    return PreparedLabel(
        label.event_id,
        label.ranking_id,
        digest(label),
        label.doc_id,
        label.time,
        LABEL_KINDS.index(label.kind),
        _dump_names(label.labels),
        label.value,
    )


def store_events(
    transaction: Transaction,
    project: str,
    batch: Sequence[PreparedEvent],
    rejected: Mapping[str, int],
) -> list[Outcome]:
    """Store the new events of a batch, and count all of them and those rejected before, by code."""
    project_id = transaction.project(project)
    connection = transaction.connection
    event_ids = [event.event_id for event in batch]
    ranking_ids = list(dict.fromkeys(event.ranking_id for event in batch))
    known_events = _find(connection, SELECT_EVENTS, project_id, event_ids)
    known_rankings = _find(connection, SELECT_RANKINGS, project_id, ranking_ids)
    hours = _find_archived(transaction, project_id, batch, known_events, known_rankings)
    new_rankings: list[str] = []
    labelled: list[str] = []
    rows: dict[Table, list[tuple[object, ...]]] = {events: [], rankings: [], labels: []}
    outcomes = []
    for event in batch:
        before = known_events.get(event.event_id)
        if before is None and isinstance(event, PreparedRanking):
            before = known_rankings.get(event.ranking_id)
        if before is not None:
            seq, stored = before
            outcomes.append(Outcome("duplicate" if stored == event.digest else "conflict", seq))
            continue
        seq = transaction.next_seq()
        event_id, ranking_id, content = event[:3]
        known_events[event_id] = seq, content
        rows[events].append((seq, project_id, event_id, content))
        if isinstance(event, PreparedRanking):
            known_rankings[ranking_id] = seq, content
            new_rankings.append(ranking_id)
            context_id = transaction.context(project_id, event.context, event.time)
            rows[rankings].append(
                (
                    seq,
                    project_id,
                    ranking_id,
                    event.time,
                    event.query_key,
                    event.user_id,
                    context_id,
                    event.packed,
                )
            )
        else:
            labelled.append(ranking_id)
            rows[labels].append(
                (
                    seq,
                    project_id,
                    ranking_id,
                    event.doc_id,
                    event.time,
                    event_id,
                    event.kind,
                    event.labels,
                    event.value,
                )
            )
        outcomes.append(Outcome("accepted", seq))
    # Labels that came before their ranking do not wait any more.
    waited = _select(connection, COUNT_LABELS, project_id, new_rankings)
    pending = sum(ranking_id not in known_rankings for ranking_id in labelled)
    transaction.pending[project_id] += pending - sum(count for (count,) in waited)
    rows[history_labels] = [
        (seq, hours[ranking_id]) for seq, _, ranking_id, *_ in rows[labels] if ranking_id in hours
    ]
    for table, new in rows.items():
        insert_rows(connection, table, new)
    for outcome in outcomes:
        transaction.counts[project_id, outcome.status] += 1
    for code, count in rejected.items():
        transaction.counts[project_id, code] += count
    return outcomes


def _find_archived(
    transaction: Transaction,
    project_id: int,
    batch: Sequence[PreparedEvent],
    known_events: dict[str, tuple[int, bytes]],
    known_rankings: dict[str, tuple[int, bytes]],
) -> dict[str, int]:
    """Add events and rankings that are archived to those that are known.

    Returns:
        The numbers of the hours of these rankings, by their ids.
    """
    archived, connection = transaction.archived, transaction.connection
    if archived is None:
        return {}
    ids = {event.event_id for event in batch}
    events_there = archived.find_events(connection, project_id, ids - known_events.keys())
    known_events |= {name: (seq, digest(event)) for name, (seq, event) in events_there.items()}
    ids = {event.ranking_id for event in batch if event.event_id not in known_events}
    rankings_there = archived.find_rankings(connection, project_id, ids - known_rankings.keys())
    known_rankings |= {
        name: (seq, digest(ranking)) for name, (seq, ranking, _) in rankings_there.items()
    }
    return {name: hour_id for name, (_, _, hour_id) in rankings_there.items()}


def _find(
    connection: Connection, statement: Select[Any], project_id: int, ids: list[str]
) -> dict[str, tuple[int, bytes]]:
    """Find which ids are stored, with the numbers and digests of their events."""
    rows = _select(connection, statement, project_id, ids)
    return {name: (seq, content) for name, seq, content in rows}


def _select(
    connection: Connection, statement: Select[Any], project_id: int, ids: list[str]
) -> Iterator[tuple[Any, ...]]:
    for start in range(0, len(ids), AT_ONCE):
        some = {"project_id": project_id, "ids": ids[start : start + AT_ONCE]}
        yield from fetch_rows(connection.execute(statement, some))


@lru_cache(maxsize=1000)
def _dump_names(names: tuple[str, ...]) -> str:
    """Write a list of labels as JSON; there are few different ones."""
    return json.dumps(names, separators=(",", ":"))


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
