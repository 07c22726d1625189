"""Reads rankings and their labels as columns, a chunk at a time."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context

from sqlalchemy import LargeBinary, bindparam, cast, select, tuple_

from rankscope.errors import FileError
from rankscope.monitor.store.deadline import check_deadline
from rankscope.monitor.store.sqlite.connection import fetch_rows
from rankscope.monitor.store.tables import schema
from rankscope.monitor.store.tables.documents import offsets_of, unpack_columns
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence
    from typing import Any, TypeVar

    import numpy as np
    from numpy.typing import NDArray
    from sqlalchemy import ColumnElement, Engine, Select

    from rankscope.monitor.events.event import Environment
    from rankscope.monitor.store.tables.documents import ItemColumns, Texts

    T = TypeVar("T")


@record(frozen=True, slots=True)
class Context:
    """What many rankings have in common.

    Args:
        model: The model that ranked.
        version: Its version.
        environment: Where.
        attributes: Names and values, by name.
    """

    model: str
    version: str
    environment: Environment
    attributes: tuple[tuple[str, str], ...]


@record(frozen=True, slots=True)
class LabelColumns:
    """Labels of rankings, ranking by ranking, and within one in the order in which they count.

    Args:
        rankings: The place in the chunk of the ranking of each.
        doc_ids: The offsets of the ids of their documents, and the ids in UTF-8, end to end.
        times: Microseconds since 1970 in UTC.
        kinds: Places in `LABEL_KINDS`.
        names: Which labels there are: each different list of labels once.
        codes: The place of its list among those.
        values: Grades, NaN where there is none.
        event_ids: The offsets of what they are known by, and the ids, where they were asked for.
    """

    rankings: NDArray[np.int64]
    doc_ids: Texts
    times: NDArray[np.int64]
    kinds: NDArray[np.int8]
    names: tuple[tuple[str, ...], ...]
    codes: NDArray[np.int64]
    values: NDArray[np.float64]
    event_ids: Texts | None = None


@record(frozen=True, slots=True)
class Chunk:
    """Rankings one after another, and their labels.

    Args:
        seqs: The numbers under which they are stored.
        times: When they were shown, in microseconds since 1970 in UTC.
        contexts: The numbers of what they have in common, as `Store.contexts` has them.
        ranking_ids: The offsets of their ids, and the ids in UTF-8, end to end.
        query_keys: Likewise, what repeats.
        user_ids: Likewise, who saw them.
        items: Their documents.
        labels: Their labels.
        event_ids: What they are known by, where that was asked for.
    """

    seqs: NDArray[np.int64]
    times: NDArray[np.int64]
    contexts: NDArray[np.int64]
    ranking_ids: Texts
    query_keys: Texts
    user_ids: Texts
    items: ItemColumns
    labels: LabelColumns
    event_ids: Texts | None = None


CHUNK = 5_000
"""How many rankings are read at once: their columns are as large as what a core keeps near it."""


def read_chunks(
    engine: Engine,
    is_theirs: ColumnElement[bool],
    is_then: ColumnElement[bool],
    size: int,
    *,
    event_ids: bool,
) -> Generator[Chunk]:
    """Read rankings, some at a time, with all their labels.

    Args:
        engine: Makes connections that do not write.
        is_theirs: Whether a ranking is of the project.
        is_then: Whether it was shown when it should have been.
        size: How many rankings a chunk has.
        event_ids: Whether chunks have the ids of events.

    Yields:
        Rankings in the order of time, then of `ranking_id`; all of one moment.

    Raises:
        DeadlineError: It takes longer than the read that it is part of may.
    """
    rankings = _select_rankings(event_ids=event_ids).where(is_theirs, is_then)
    labels = _select_labels(event_ids=event_ids).where(is_theirs)
    with engine.connect() as connection:
        result = connection.execute(rankings)
        while rows := fetch_rows(result, size):
            check_deadline()
            (_, first, _, first_id, *_), (_, last, _, last_id, *_) = rows[0], rows[-1]
            ends = {
                "first": first,
                "first_id": _decode(first_id),
                "last": last,
                "last_id": _decode(last_id),
            }
            yield _make_chunk(rows, fetch_rows(connection.execute(labels, ends)))


def _select_rankings(*, event_ids: bool) -> Select[Any]:
    shown, said = schema.rankings, schema.events
    columns = (
        shown.c.seq,
        shown.c.time,
        shown.c.context_id,
        _utf8(shown.c.ranking_id),
        _utf8(shown.c.query_key),
        _utf8(shown.c.user_id),
        shown.c.packed,
    )
    wanted = (
        select(*columns, _utf8(said.c.event_id)).join(said, said.c.seq == shown.c.seq)
        if event_ids
        else select(*columns)
    )
    return wanted.order_by(shown.c.time, shown.c.ranking_id)


def _select_labels(*, event_ids: bool) -> Select[Any]:
    """Select the labels of the rankings from `first` and `first_id` to `last` and `last_id`."""
    shown, told = schema.rankings, schema.labels
    order = (shown.c.time, shown.c.ranking_id)
    return (
        select(
            shown.c.seq,
            _utf8(told.c.doc_id),
            told.c.time,
            told.c.kind,
            told.c.labels,
            told.c.value,
            *([_utf8(told.c.event_id)] if event_ids else []),
        )
        .join_from(
            shown,
            told,
            # Not the column itself, so that rankings come first, not all labels of the project.
            (told.c.project_id == shown.c.project_id + 0)
            & (told.c.ranking_id == shown.c.ranking_id),
        )
        .where(
            tuple_(*order) >= tuple_(bindparam("first"), bindparam("first_id")),
            tuple_(*order) <= tuple_(bindparam("last"), bindparam("last_id")),
        )
        .order_by(*order, told.c.time, told.c.event_id)
    )


def _utf8(column: ColumnElement[str]) -> ColumnElement[bytes]:
    return cast(column, LargeBinary)


def _make_chunk(rows: Sequence[Any], told: Sequence[Any]) -> Chunk:
    columns = zip(*rows, strict=True)
    seqs, times, contexts, ranking_ids, query_keys, user_ids, pieces, *event_ids = columns
    places = {seq: place for place, seq in enumerate(seqs)}
    return Chunk(
        _integers(seqs),
        _integers(times),
        _integers(contexts),
        _texts(ranking_ids),
        _texts(query_keys),
        _texts(user_ids),
        unpack_columns(pieces),
        _make_labels(told, places, event_ids=bool(event_ids)),
        _texts(event_ids[0]) if event_ids else None,
    )


def _make_labels(rows: Sequence[Any], places: dict[int, int], *, event_ids: bool) -> LabelColumns:
    import numpy as np  # noqa: PLC0415 - loads with the first array

    columns = list(zip(*rows, strict=True)) or [()] * (7 if event_ids else 6)
    seqs, doc_ids, times, kinds, said, values, *known_by = columns
    different = {text: code for code, text in enumerate(dict.fromkeys(said))}
    return LabelColumns(
        _integers([places[seq] for seq in seqs]),
        _texts(doc_ids),
        _integers(times),
        np.array(kinds, dtype=np.int8),
        tuple(tuple(json.loads(text)) for text in different),
        _integers([different[text] for text in said]),
        np.array(values, dtype=np.float64),
        _texts(known_by[0]) if known_by else None,
    )


def _integers(values: Sequence[int]) -> Any:  # noqa: ANN401 - an array
    import numpy as np  # noqa: PLC0415 - loads with the first array

    return np.array(values, dtype=np.int64)


def _texts(values: Sequence[bytes]) -> Texts:
    import numpy as np  # noqa: PLC0415 - loads with the first array

    sizes = np.fromiter(map(len, values), np.int64, len(values))
    joined = b"".join(values)
    _decode(joined)
    return offsets_of(sizes), np.frombuffer(joined, np.uint8)


def _decode(text: bytes) -> str:
    try:
        return text.decode()
    except UnicodeDecodeError as error:
        raise FileError(
            f"expected text in UTF-8, found {text[error.start : error.start + 10]!r}",
            hint="restore a backup",
            code="store_damaged",
        ) from error


def read_ahead(pieces: Generator[T]) -> Iterator[T]:
    """Give what comes, and let a thread of its own make the next.

    Args:
        pieces: Makes them; it is closed in the end, however that comes.
    """
    nothing = object()
    # The thread reads under the deadline of the request.
    context = copy_context()

    def make_next() -> T | object:
        return next(pieces, nothing)

    with ThreadPoolExecutor(1, "rankscope-reader") as thread:
        try:
            coming = thread.submit(context.run, make_next)
            while (piece := coming.result()) is not nothing:
                coming = thread.submit(context.run, make_next)
                yield piece  # type: ignore[misc]  # what is not nothing is a piece
        finally:
            thread.submit(context.run, pieces.close).result()
