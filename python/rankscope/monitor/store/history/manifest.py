"""The manifest of a store: which hours are archived, and where events of an id may be."""

from __future__ import annotations

from hashlib import blake2b
from itertools import pairwise

from sqlalchemy import bindparam, delete, func, insert, select, text, union, update

from rankscope.monitor.events.limits import HOUR
from rankscope.monitor.store.arrays import write_texts
from rankscope.monitor.store.history.files import ArchivedHour
from rankscope.monitor.store.history.tally import list_rows, read_tally, write_tally
from rankscope.monitor.store.tables.moves import find_move, is_moved
from rankscope.monitor.store.tables.schema import (
    contexts,
    history,
    history_contexts,
    history_ids,
    history_labels,
    history_values,
    labels,
    rankings,
)
from rankscope.monitor.store.tables.statements import (
    FIRST,
    LAST,
    Utf8,
    fetch_rows,
    floor_time,
    in_project,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any, Literal, TypeAlias

    from sqlalchemy import Connection

    from rankscope.monitor.store.records import Chosen, Texts
    from rankscope.monitor.store.tables.transaction import Transaction
    from rankscope.monitor.store.tables.versions import RankingSpan

    Kind: TypeAlias = Literal["event", "ranking", "user"]

AT_ONCE = 500
"""How many ids a statement asks for."""
PARTS = 64
"""In how many transactions the ids of deleted hours are removed."""
RANGE = 2**64 // PARTS
FIND_ANY = select(history.c.hour_id).where(history.c.project_id == bindparam("project_id")).limit(1)
ADD_IDS = text("INSERT INTO history_ids (key, start) VALUES (:key, :start) ON CONFLICT DO NOTHING")
HOUR_COLUMNS = (
    history.c.hour_id,
    history.c.start,
    history.c.path,
    history.c.rankings,
    history.c.labels,
    history.c.first_seq,
    history.c.last_seq,
    history.c.size,
    history.c.checksum,
)


def list_archived(
    connection: Connection, project: str, since: int | None = None, until: int | None = None
) -> list[ArchivedHour]:
    """List the archived hours of a project that may have rankings of a span, by time."""
    first = FIRST if since is None else since - since % HOUR
    wanted = select(*HOUR_COLUMNS).where(
        in_project(history.c.project_id, project),
        history.c.start.between(first, LAST if until is None else until - 1),
    )
    return [to_hour(row) for row in connection.execute(wanted.order_by(history.c.start))]


def list_all_archived(connection: Connection) -> list[ArchivedHour]:
    """List the archived hours of all projects."""
    return [to_hour(row) for row in connection.execute(select(*HOUR_COLUMNS))]


def has_archived(connection: Connection, project_id: int) -> bool:
    """Return whether a project has archived hours."""
    return connection.execute(FIND_ANY, {"project_id": project_id}).first() is not None


def find_hour(connection: Connection, project_id: int, start: int) -> ArchivedHour | None:
    """Find an archived hour by its start."""
    wanted = select(*HOUR_COLUMNS).where(
        history.c.project_id == project_id, history.c.start == start
    )
    row = connection.execute(wanted).one_or_none()
    return None if row is None else to_hour(row)


def list_to_archive(connection: Connection, project: str, before: int) -> list[int]:
    """List the starts of the hours that have something to archive, and end by some time.

    They have rankings of production in the tables, or labels of archived rankings.
    """
    start = floor_time(rankings.c.time, HOUR)
    ranked = (
        select(start)
        .join(contexts, contexts.c.context_id == rankings.c.context_id)
        .where(
            in_project(rankings.c.project_id, project),
            rankings.c.time < before - before % HOUR,
            contexts.c.environment == "production",
        )
    )
    labelled = (
        select(history.c.start)
        .join(history_labels, history_labels.c.hour_id == history.c.hour_id)
        .where(in_project(history.c.project_id, project), history.c.start <= before - HOUR)
    )
    return sorted(set(connection.execute(union(ranked, labelled)).scalars()))


def list_changed(connection: Connection, project: str, after: int) -> list[ArchivedHour]:
    """List the archived hours of a project that have events after a number, by time."""
    later = (
        select(history_labels.c.seq)
        .where(history_labels.c.hour_id == history.c.hour_id, history_labels.c.seq > after)
        .exists()
    )
    wanted = select(*HOUR_COLUMNS).where(
        in_project(history.c.project_id, project), (history.c.last_seq > after) | later
    )
    return [to_hour(row) for row in connection.execute(wanted.order_by(history.c.start))]


def list_late_labels(connection: Connection, hour_id: int) -> list[tuple[Any, ...]]:
    """List the labels that came after an hour was archived, as `make_labels` takes them."""
    columns = (
        labels.c.ranking_id,
        Utf8(labels.c.doc_id),
        labels.c.time,
        labels.c.kind,
        labels.c.labels,
        labels.c.value,
        Utf8(labels.c.event_id),
        labels.c.seq,
    )
    wanted = (
        select(*columns)
        .join(history_labels, history_labels.c.seq == labels.c.seq)
        .where(history_labels.c.hour_id == hour_id)
    )
    move = find_move(connection, hour_id)
    if move is None:
        return fetch_rows(connection.execute(wanted))
    # Labels of rankings that still have to leave the tables are not listed as late ones yet.
    moved = (
        select(*columns)
        .join(
            rankings,
            (rankings.c.project_id == labels.c.project_id)
            & (rankings.c.ranking_id == labels.c.ranking_id),
        )
        .where(labels.c.seq > move.seq, is_moved([move]))
    )
    return [
        row
        for statement in (wanted.where(history_labels.c.seq > move.seq), moved)
        for row in fetch_rows(connection.execute(statement))
    ]


def has_late_labels(connection: Connection, hour: ArchivedHour | None, after: int) -> bool:
    """Return whether labels of rankings of an archived hour came after an event."""
    if hour is None:
        return False
    wanted = select(history_labels.c.seq).where(
        history_labels.c.hour_id == hour.hour_id, history_labels.c.seq > after
    )
    return connection.execute(wanted.limit(1)).first() is not None


def count_contexts(
    connection: Connection, project: str, since: int, until: int
) -> list[tuple[int, int, int]]:
    """Count the rankings of archived hours that begin in a span, by hour and context."""
    wanted = (
        select(history.c.start, history_contexts.c.context_id, history_contexts.c.rankings)
        .join(history_contexts, history_contexts.c.hour_id == history.c.hour_id)
        .where(in_project(history.c.project_id, project), history.c.start.between(since, until - 1))
    )
    return [(start, context, count) for start, context, count in connection.execute(wanted)]


def make_key(project_id: int, kind: Kind, name: str) -> int:
    """Return the key under which an id is listed: 8 bytes of a hash, as a signed number."""
    return _hash(f"{project_id} {kind} ".encode() + name.encode())


def make_keys(project_id: int, kind: Kind, column: Texts) -> Iterator[int]:
    """Iterate over the keys of a column of ids."""
    head = f"{project_id} {kind} ".encode()
    starts, text = column
    whole = text.tobytes()
    return (_hash(head + whole[start:end]) for start, end in pairwise(starts.tolist()))


def make_user_keys(project_id: int, column: Texts) -> Iterator[int]:
    """Iterate over the keys of the users of rankings, each once."""
    users = write_texts(column).unique().to_pylist()
    return (make_key(project_id, "user", user) for user in users if user)


def _hash(said: bytes) -> int:
    return int.from_bytes(blake2b(said, digest_size=8).digest(), "little", signed=True)


def find_places(
    connection: Connection, project_id: int, kind: Kind, ids: Iterable[str]
) -> dict[int, tuple[ArchivedHour, list[str]]]:
    """Find the archived hours that may have some ids, and which of the ids."""
    keys: dict[int, list[str]] = {}
    for name in ids:
        keys.setdefault(make_key(project_id, kind, name), []).append(name)
    found: dict[int, tuple[ArchivedHour, list[str]]] = {}
    wanted = (
        select(history_ids.c.key, *HOUR_COLUMNS)
        .join(history, history.c.start == history_ids.c.start)
        .where(
            history.c.project_id == project_id,
            history_ids.c.key.in_(bindparam("keys", expanding=True)),
        )
    )
    listed = list(keys)
    for at in range(0, len(listed), AT_ONCE):
        some = {"keys": listed[at : at + AT_ONCE]}
        for key, *columns in connection.execute(wanted, some):
            hour = ArchivedHour(*columns)
            found.setdefault(hour.hour_id, (hour, []))[1].extend(keys[key])
    return found


def list_with_rankings(connection: Connection, project: str, chosen: Chosen) -> list[ArchivedHour]:
    """List the archived hours that may have some rankings, by time."""
    hours = list_archived(connection, project, chosen.since, chosen.until)
    if not hours:
        return []
    project_id = connection.execute(
        select(history.c.project_id).where(history.c.hour_id == hours[0].hour_id)
    ).scalar_one()
    starts = {hour.start for hour in hours}
    if chosen.ranking_ids is not None:
        keys = [make_key(project_id, "ranking", name) for name in chosen.ranking_ids]
        starts &= _find_starts(connection, keys)
    if chosen.user_id is not None:
        starts &= _find_starts(connection, [make_key(project_id, "user", chosen.user_id)])
    return [hour for hour in hours if hour.start in starts]


def _find_starts(connection: Connection, keys: Sequence[int]) -> set[int]:
    """Find the starts of the hours for which some keys are listed."""
    wanted = select(history_ids.c.start).where(
        history_ids.c.key.in_(bindparam("keys", expanding=True))
    )
    return {
        start
        for at in range(0, len(keys), AT_ONCE)
        for start in connection.execute(wanted, {"keys": keys[at : at + AT_ONCE]}).scalars()
    }


def write_hour(
    connection: Connection,
    project_id: int,
    hour: ArchivedHour,
    spans: dict[int, RankingSpan],
) -> int:
    """Write an hour to the manifest, in place of what it had there, and return its number.

    Its values are those of what it had, and no longer listed.
    """
    replaced = list_rows(connection, history.c.hour_id == hour.hour_id)
    row = {**hour._asdict(), "project_id": project_id}
    hour_id = row.pop("hour_id")
    tally = read_tally(connection)
    if hour_id:
        connection.execute(delete(history_values).where(history_values.c.hour_id == hour_id))
        connection.execute(update(history).where(history.c.hour_id == hour_id).values(row))
        connection.execute(delete(history_contexts).where(history_contexts.c.hour_id == hour_id))
    else:
        made = insert(history).values(row).returning(history.c.hour_id)
        hour_id = connection.execute(made).scalar_one()
    connection.execute(
        insert(history_contexts),
        [{"hour_id": hour_id, "context_id": one, **span._asdict()} for one, span in spans.items()],
    )
    written = list_rows(connection, history.c.hour_id == hour_id)
    write_tally(connection, tally.change(replaced, written))
    return int(hour_id)


def drop_hour(connection: Connection, hour_id: int) -> None:
    """Remove an hour from the manifest, which has no late labels any more."""
    tally = read_tally(connection).change(list_rows(connection, history.c.hour_id == hour_id), [])
    connection.execute(delete(history_values).where(history_values.c.hour_id == hour_id))
    connection.execute(delete(history_contexts).where(history_contexts.c.hour_id == hour_id))
    connection.execute(delete(history).where(history.c.hour_id == hour_id))
    write_tally(connection, tally)


def add_ids(transaction: Transaction, start: int, keys: Sequence[int]) -> None:
    """List ids as being in an hour, perhaps before its file is in the manifest."""
    transaction.connection.execute(ADD_IDS, [{"key": key, "start": start} for key in keys])


def purge_ids(connection: Connection, first: int, last: int) -> None:
    """Remove the ids of hours that are not archived any more, of keys from one to another."""
    connection.execute(
        delete(history_ids).where(
            history_ids.c.key.between(first, last),
            history_ids.c.start.not_in(select(history.c.start)),
        )
    )


def divide_keys() -> Iterator[tuple[int, int]]:
    """Divide all keys into ranges; the ids of a range are removed at once."""
    for part in range(PARTS):
        yield -(2**63) + part * RANGE, -(2**63) + (part + 1) * RANGE - 1


def sample_keys(keys: Iterable[int]) -> list[int]:
    """Choose a key of each range that has any."""
    return list({(key + 2**63) // RANGE: key for key in keys}.values())


def has_ids(connection: Connection, start: int, keys: Sequence[int]) -> bool:
    """Return whether all of a few keys are listed for an hour."""
    wanted = select(func.count()).where(history_ids.c.start == start, history_ids.c.key.in_(keys))
    return connection.execute(wanted).scalar_one() == len(keys)


def to_hour(row: Any) -> ArchivedHour:  # noqa: ANN401 - a row of any statement with its columns
    """Return the hour of a row that has `HOUR_COLUMNS`."""
    found: ArchivedHour = ArchivedHour(*row)
    return found
