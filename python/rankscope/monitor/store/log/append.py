"""Stores rankings and labels, each event once."""

from __future__ import annotations

from collections import Counter

from sqlalchemy import bindparam, delete, select

from rankscope.monitor.events.event import ENVIRONMENTS
from rankscope.monitor.events.outcome import Outcome
from rankscope.monitor.store.log.events import PreparedLabel, PreparedRanking
from rankscope.monitor.store.log.ids import EVENT, RANKING, SHIFT, Entry, Ids, shorten
from rankscope.monitor.store.tables.schema import pending, projects
from rankscope.monitor.store.tables.statements import fetch_rows, insert_rows, is_among

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankscope.monitor.store.log.events import PreparedEvent
    from rankscope.monitor.store.transaction import Transaction

# Made once: making these statements takes as long as running them.
COUNT_PENDING = select(projects.c.pending).where(projects.c.project_id == bindparam("project_id"))
SELECT_WAITING = select(pending).where(
    pending.c.project_id == bindparam("project_id"), is_among(pending.c.ranking_id, "texts")
)
DELETE_PENDING = delete(pending).where(is_among(pending.c.seq, "seqs"))


def store_events(
    transaction: Transaction,
    project: str,
    batch: Sequence[PreparedEvent],
    rejected: Mapping[str, int],
) -> list[Outcome]:
    """Store the new events of a batch, and count all of them and those rejected before, by code."""
    project_id = transaction.project(project)
    outcomes = _store_new(transaction, project_id, batch) if batch else []
    for status, count in Counter(status for status, _ in outcomes).items():
        transaction.counts[project_id, status] += count
    for code, count in rejected.items():
        transaction.counts[project_id, code] += count
    return outcomes


def _store_new(
    transaction: Transaction, project_id: int, batch: Sequence[PreparedEvent]
) -> list[Outcome]:
    texts = [text for event in batch for text in event[:2]]
    ids = Ids(transaction.connection, project_id, texts)
    outcomes = []
    shown: list[str] = []
    labels: list[tuple[int, PreparedLabel]] = []
    for event in batch:
        is_ranking = isinstance(event, PreparedRanking)
        content = shorten(event.digest)
        before = ids.find(event.event_id, EVENT)
        if before is None and is_ranking:
            before = ids.find(event.ranking_id, RANKING)
        if before is not None:
            is_same = before.digest == content
            outcomes.append(Outcome("duplicate" if is_same else "conflict", before.seq))
            continue
        seq = transaction.next_seq()
        if isinstance(event, PreparedRanking):
            _add_ids(ids, event, Entry(seq, content, event.time, 0))
            transaction.log.add_ranking(project_id, event, seq)
            shown.append(event.ranking_id)
        else:
            ids.add(event.event_id, Entry(seq, content, 0, EVENT))
            labels.append((seq, event))
        outcomes.append(Outcome("accepted", seq))
    ids.write()
    if shown:
        labels = _take_waiting(transaction, project_id, shown) + labels
    _place(transaction, project_id, labels, ids)
    return outcomes


def _add_ids(ids: Ids, ranking: PreparedRanking, entry: Entry) -> None:
    """Add the id of a ranking, and that of its event where it is another one."""
    environment = ENVIRONMENTS.index(ranking.context[2]) << SHIFT
    if ranking.event_id == ranking.ranking_id:
        ids.add(ranking.ranking_id, entry._replace(role=EVENT | RANKING | environment))
        return
    ids.add(ranking.event_id, entry._replace(role=EVENT))
    ids.add(ranking.ranking_id, entry._replace(role=RANKING | environment))


def _place(
    transaction: Transaction, project_id: int, labels: list[tuple[int, PreparedLabel]], ids: Ids
) -> None:
    """Store labels in the hours of their rankings; those without one wait for it."""
    waiting = []
    for seq, label in labels:
        ranking = ids.find(label.ranking_id, RANKING)
        if ranking is None:
            event_id, ranking_id, content, *rest = label
            waiting.append((seq, project_id, event_id, ranking_id, *rest, content))
        else:
            transaction.log.add_label(project_id, label, seq, ranking.time, ranking.environment)
    insert_rows(transaction.connection, pending, waiting)
    transaction.pending[project_id] += len(waiting)


def _take_waiting(
    transaction: Transaction, project_id: int, ranking_ids: Sequence[str]
) -> list[tuple[int, PreparedLabel]]:
    """Take the labels that wait for some rankings."""
    connection = transaction.connection
    stored = connection.execute(COUNT_PENDING, {"project_id": project_id}).scalar_one()
    if not stored + transaction.pending[project_id]:
        return []
    asked = {"project_id": project_id, "texts": ranking_ids}
    rows = fetch_rows(connection.execute(SELECT_WAITING, asked))
    connection.execute(DELETE_PENDING, {"seqs": [seq for seq, *_ in rows]})
    transaction.pending[project_id] -= len(rows)
    return [
        (seq, PreparedLabel(event_id, ranking_id, bytes(content), *rest))
        for seq, _, event_id, ranking_id, *rest, content in rows
    ]
