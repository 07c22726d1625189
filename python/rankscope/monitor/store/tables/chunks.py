"""Reads rankings and their labels as columns, a chunk at a time."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context

from sqlalchemy import bindparam, select, tuple_

from rankscope.deferred import np
from rankscope.errors import FileError
from rankscope.monitor.store.deadline import check_deadline
from rankscope.monitor.store.records import Chunk, LabelColumns
from rankscope.monitor.store.tables.documents import offsets_of, unpack_columns
from rankscope.monitor.store.tables.moves import leave_out
from rankscope.monitor.store.tables.rankings import EVENT_ID
from rankscope.monitor.store.tables.schema import events, labels, rankings
from rankscope.monitor.store.tables.statements import (
    FIRST,
    LAST,
    Utf8,
    fetch_rows,
    in_project,
    parse_stored,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping, Sequence
    from typing import Any, TypeVar

    from numpy.typing import NDArray
    from sqlalchemy import Connection, Select

    from rankscope.monitor.store.records import Texts
    from rankscope.monitor.store.tables.moves import Move

    T = TypeVar("T")

STREAMED = {"stream_results": True}
"""Rows come as they are read, and not all at once, where the driver has a choice."""
CHUNK = 5_000
"""How many rankings are read at once, so that their columns fit into the cache of a core."""


def read_chunks(
    connection: Connection,
    project: str,
    since: int | None,
    until: int | None,
    size: int,
    *,
    event_ids: bool,
    moves: Sequence[Move] = (),
) -> Generator[Chunk]:
    """Read rankings with all their labels, all as of one moment."""
    times = FIRST if since is None else since, LAST if until is None else until - 1
    is_theirs = in_project(rankings.c.project_id, project)
    wanted = _select_rankings(event_ids=event_ids).where(is_theirs, rankings.c.time.between(*times))
    their_labels = leave_out(_select_labels(event_ids=event_ids).where(is_theirs), moves)
    result = connection.execute(leave_out(wanted, moves), execution_options=STREAMED)
    while rows := fetch_rows(result, size):
        check_deadline()
        (_, first, _, first_id, *_), (_, last, _, last_id, *_) = rows[0], rows[-1]
        ends = {
            "first": first,
            "first_id": _decode(first_id),
            "last": last,
            "last_id": _decode(last_id),
        }
        yield _make_chunk(rows, fetch_rows(connection.execute(their_labels, ends)))


def _select_rankings(*, event_ids: bool) -> Select[Any]:
    columns = (
        rankings.c.seq,
        rankings.c.time,
        rankings.c.context_id,
        Utf8(rankings.c.ranking_id),
        Utf8(rankings.c.query_key),
        Utf8(rankings.c.user_id),
        rankings.c.packed,
    )
    wanted = (
        select(*columns, Utf8(EVENT_ID)).join(events, events.c.seq == rankings.c.seq)
        if event_ids
        else select(*columns)
    )
    return wanted.order_by(rankings.c.time, rankings.c.ranking_id)


def _select_labels(*, event_ids: bool) -> Select[Any]:
    """Select the labels of the rankings from `first` and `first_id` to `last` and `last_id`."""
    order = (rankings.c.time, rankings.c.ranking_id)
    return (
        select(
            rankings.c.seq,
            Utf8(labels.c.doc_id),
            labels.c.time,
            labels.c.kind,
            labels.c.labels,
            labels.c.value,
            *([Utf8(labels.c.event_id), labels.c.seq] if event_ids else []),
        )
        .join_from(
            rankings,
            labels,
            # With + 0, rankings are looked up first, and not all labels of the project.
            (labels.c.project_id == rankings.c.project_id + 0)
            & (labels.c.ranking_id == rankings.c.ranking_id),
        )
        .where(
            tuple_(*order) >= tuple_(bindparam("first"), bindparam("first_id")),
            tuple_(*order) <= tuple_(bindparam("last"), bindparam("last_id")),
        )
        .order_by(*order, labels.c.time, labels.c.event_id)
    )


def _make_chunk(rows: Sequence[Any], label_rows: Sequence[Any]) -> Chunk:
    columns = zip(*rows, strict=True)
    seqs, times, contexts, ranking_ids, query_keys, user_ids, pieces, *event_ids = columns
    positions = {seq: position for position, seq in enumerate(seqs)}
    return Chunk(
        _integers(seqs),
        _integers(times),
        _integers(contexts),
        _texts(ranking_ids),
        _texts(query_keys),
        _texts(user_ids),
        unpack_columns(pieces),
        make_labels(label_rows, positions, event_ids=bool(event_ids)),
        _texts(event_ids[0]) if event_ids else None,
    )


def make_labels(
    rows: Sequence[Any], positions: Mapping[Any, int], *, event_ids: bool
) -> LabelColumns:
    """Make columns of labels."""
    columns = list(zip(*rows, strict=True)) or [()] * (8 if event_ids else 6)
    seqs, doc_ids, times, kinds, texts, values, *ids = columns
    codes = {text: code for code, text in enumerate(dict.fromkeys(texts))}
    return LabelColumns(
        _integers([positions[seq] for seq in seqs]),
        _texts(doc_ids),
        _integers(times),
        np.array(kinds, dtype=np.int8),
        tuple(tuple(parse_stored(text)) for text in codes),
        _integers([codes[text] for text in texts]),
        np.array(values, dtype=np.float64),
        _texts(ids[0]) if ids else None,
        _integers(ids[1]) if ids else None,
    )


def _integers(values: Sequence[int]) -> NDArray[np.int64]:

    return np.array(values, dtype=np.int64)


def _texts(values: Sequence[bytes]) -> Texts:

    sizes = np.fromiter(map(len, values), np.int64, len(values))
    joined = b"".join(values)
    _decode(joined)
    return offsets_of(sizes), np.frombuffer(joined, np.uint8)


def _decode(text: bytes) -> str:
    try:
        return text.decode()
    except UnicodeDecodeError as error:
        raise FileError(
            f"a stored text is not UTF-8: {text[error.start : error.start + 10]!r}",
            hint="restore a backup",
            code="store_damaged",
        ) from error


def read_ahead(pieces: Generator[T]) -> Iterator[T]:
    """Iterate over pieces while a thread makes the next one."""
    end = object()
    # The thread reads under the deadline of the caller.
    context = copy_context()

    def make_next() -> T | object:
        return next(pieces, end)

    with ThreadPoolExecutor(1, "rankscope-reader") as thread:
        try:
            coming = thread.submit(context.run, make_next)
            while (piece := coming.result()) is not end:
                coming = thread.submit(context.run, make_next)
                yield piece  # type: ignore[misc]  # everything but the end is a piece
        finally:
            thread.submit(context.run, pieces.close).result()
