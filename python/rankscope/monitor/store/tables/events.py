"""Stores rankings and labels, each event once."""

from __future__ import annotations

import json
import struct
from collections import Counter
from functools import lru_cache
from hashlib import blake2b
from typing import NamedTuple

from sqlalchemy import bindparam, delete, func, select

from rankscope.monitor.events.event import LABEL_KINDS, Label, Ranking
from rankscope.monitor.events.outcome import Outcome
from rankscope.monitor.store.tables.documents import pack
from rankscope.monitor.store.tables.schema import (
    events,
    history_labels,
    labels,
    projects,
    rankings,
)
from rankscope.monitor.store.tables.statements import (
    POSTGRES,
    fetch_rows,
    insert_new_rows,
    insert_rows,
    look_up,
)
from rankscope.monitor.store.tables.versions import RankingSpan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from typing import Any, TypeAlias

    from sqlalchemy import Connection, Select, Table

    from rankscope.monitor.events.event import Event
    from rankscope.monitor.store.tables.transaction import RankingContext, Transaction

    PreparedEvent: TypeAlias = "PreparedRanking | PreparedLabel"
    Known: TypeAlias = dict[str, tuple[int, bytes]]
    """The numbers and digests of events by their ids."""

# Made once: making these statements takes as long as running them.
SELECT_EVENTS = look_up(
    events.c.project_id, events.c.event_id, events.c.event_id, events.c.seq, events.c.digest
)
SELECT_RANKINGS = look_up(
    rankings.c.project_id,
    rankings.c.ranking_id,
    rankings.c.ranking_id,
    rankings.c.seq,
    events.c.digest,
).outerjoin(events, events.c.seq == rankings.c.seq)
# The rankings that are known by their own ids.
SELECT_BY_RANKING = look_up(
    rankings.c.project_id,
    rankings.c.ranking_id,
    rankings.c.ranking_id,
    events.c.seq,
    events.c.digest,
).outerjoin(events, (events.c.seq == rankings.c.seq) & events.c.event_id.is_(None))
COUNT_LABELS = look_up(labels.c.project_id, labels.c.ranking_id, func.count(labels.c.seq))
SELECT_PENDING = select(projects.c.pending).where(projects.c.project_id == bindparam("project_id"))


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
    outcomes = _store_new(transaction, project_id, batch)
    if outcomes is None:
        outcomes = _store_unknown(transaction, project_id, batch)
    for status, count in Counter(status for status, _ in outcomes).items():
        transaction.counts[project_id, status] += count
    for code, count in rejected.items():
        transaction.counts[project_id, code] += count
    return outcomes


def _store_new(
    transaction: Transaction, project_id: int, batch: Sequence[PreparedEvent]
) -> list[Outcome] | None:
    """Store a batch of which all events are new, as they nearly always are.

    The keys of the tables say whether they are. Before, only ids are looked up that one table has
    and another one may not have.
    """
    connection = transaction.connection
    if connection.dialect.name == POSTGRES:
        # There, rows are copied, and one with a key that is taken ends the transaction.
        return None
    first = transaction.seq + 1
    numbered = list(enumerate(batch, first))
    shown = [(seq, event) for seq, event in numbered if isinstance(event, PreparedRanking)]
    told = [(seq, event) for seq, event in numbered if not isinstance(event, PreparedRanking)]
    labelled = list({event.ranking_id for _, event in told})
    own_ids = {name for event in batch if (name := _find_own_id(event)) is not None}
    others = [event.event_id for _, event in shown if _find_own_id(event) is None]
    known_events = _find(connection, SELECT_EVENTS, project_id, others)
    known_events |= _find(connection, SELECT_BY_RANKING, project_id, list(own_ids))
    known_rankings = _find(connection, SELECT_RANKINGS, project_id, labelled)
    hours = _find_archived(transaction, project_id, batch, known_events, known_rankings)
    ranking_ids = {event.ranking_id for _, event in shown}
    if known_events or not ranking_ids.isdisjoint(known_rankings) or not own_ids.isdisjoint(others):
        return None
    rows = [(seq, project_id, _find_own_id(event), event.digest) for seq, event in numbered]
    if insert_new_rows(connection, events, rows) < len(rows) or (
        not _insert_rankings(transaction, project_id, shown, insert_new_rows)
    ):
        for table in (events, rankings):
            connection.execute(delete(table).where(table.c.seq >= first))
        return None
    if told:
        _insert_labels(transaction, project_id, told, known_rankings.keys() | ranking_ids, hours)
    transaction.seq += len(batch)
    return [Outcome("accepted", seq) for seq, _ in numbered]


def _insert_rankings(
    transaction: Transaction,
    project_id: int,
    shown: Sequence[tuple[int, PreparedRanking]],
    insert: Callable[[Connection, Table, list[tuple[Any, ...]]], int],
) -> bool:
    """Insert rankings."""
    if not shown:
        return True
    times: dict[RankingContext, list[int]] = {}
    for _, event in shown:
        times.setdefault(event.context, []).append(event.time)
    numbers = {content: transaction.context(project_id, content) for content in times}
    rows = [
        (seq, project_id, ranking_id, time, query_key, user_id, numbers[context], packed)
        for seq, (_, ranking_id, _, time, query_key, user_id, context, packed) in shown
    ]
    # Labels of which the ranking is stored here do not wait any more.
    waiting = 0
    if _has_pending(transaction, project_id):
        ranking_ids = [event.ranking_id for _, event in shown]
        ((waiting,),) = _select(transaction.connection, COUNT_LABELS, project_id, ranking_ids)
    if insert(transaction.connection, rankings, rows) < len(rows):
        return False
    for content, shown_at in times.items():
        span = RankingSpan(len(shown_at), min(shown_at), max(shown_at))
        transaction.add_rankings(numbers[content], span)
    transaction.pending[project_id] -= waiting
    return True


def _has_pending(transaction: Transaction, project_id: int) -> bool:
    """Return whether there are labels that wait for their ranking."""
    stored = transaction.connection.execute(SELECT_PENDING, {"project_id": project_id})
    return bool(stored.scalar_one() + transaction.pending[project_id])


def _insert_labels(
    transaction: Transaction,
    project_id: int,
    told: Sequence[tuple[int, PreparedLabel]],
    known: Collection[str],
    hours: Mapping[str, int],
) -> None:
    """Insert labels, and count those whose rankings are not among those known."""
    rows = [
        (seq, project_id, ranking_id, doc_id, time, event_id, kind, names, value)
        for seq, (event_id, ranking_id, _, doc_id, time, kind, names, value) in told
    ]
    insert_rows(transaction.connection, labels, rows)
    late = [(seq, hours[event.ranking_id]) for seq, event in told if event.ranking_id in hours]
    insert_rows(transaction.connection, history_labels, late)
    pending = sum(event.ranking_id not in known for _, event in told)
    transaction.pending[project_id] += pending


def _store_unknown(
    transaction: Transaction, project_id: int, batch: Sequence[PreparedEvent]
) -> list[Outcome]:
    """Store the events of a batch that are new, after looking up which ones are."""
    connection = transaction.connection
    event_ids = [event.event_id for event in batch]
    own_ids = [name for event in batch if (name := _find_own_id(event)) is not None]
    ranking_ids = list(dict.fromkeys(event.ranking_id for event in batch))
    known_events = _find(connection, SELECT_EVENTS, project_id, event_ids)
    known_events |= _find(connection, SELECT_BY_RANKING, project_id, own_ids)
    known_rankings = _find(connection, SELECT_RANKINGS, project_id, ranking_ids)
    hours = _find_archived(transaction, project_id, batch, known_events, known_rankings)
    shown: list[tuple[int, PreparedRanking]] = []
    told: list[tuple[int, PreparedLabel]] = []
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
        known_events[event.event_id] = seq, event.digest
        if isinstance(event, PreparedRanking):
            known_rankings[event.ranking_id] = seq, event.digest
            shown.append((seq, event))
        else:
            told.append((seq, event))
        outcomes.append(Outcome("accepted", seq))
    new: list[tuple[int, PreparedEvent]] = [*shown, *told]
    rows = [(seq, project_id, _find_own_id(event), event.digest) for seq, event in new]
    insert_rows(connection, events, rows)
    _insert_rankings(transaction, project_id, shown, insert_rows)
    if told:
        _insert_labels(transaction, project_id, told, known_rankings, hours)
    return outcomes


def _find_own_id(event: PreparedEvent) -> str | None:
    """Return the id of an event, `None` for a ranking that is known by its `ranking_id`."""
    is_ranking = isinstance(event, PreparedRanking)
    return None if is_ranking and event.event_id == event.ranking_id else event.event_id


def _find_archived(
    transaction: Transaction,
    project_id: int,
    batch: Sequence[PreparedEvent],
    known_events: Known,
    known_rankings: Known,
) -> dict[str, int]:
    """Add events and rankings that are archived to those that are known."""
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
    connection: Connection, statement: Select[Any], project_id: int, ids: Sequence[str]
) -> Known:
    """Find which ids are stored, with the numbers and digests of their events."""
    rows = _select(connection, statement, project_id, ids) if ids else []
    return {name: (seq, content) for name, seq, content in rows if seq is not None}


def _select(
    connection: Connection, statement: Select[Any], project_id: int, ids: Sequence[str]
) -> list[tuple[Any, ...]]:
    asked = {"project_id": project_id, "texts": ids}
    return fetch_rows(connection.execute(statement, asked))


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
