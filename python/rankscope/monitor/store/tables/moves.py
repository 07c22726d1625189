"""Hours whose rows are being removed from the tables, because a file has them.

A move begins in the transaction that puts the file into the manifest. From then on, reads of the
tables leave the rows of the move out, so that no event is read twice, and small transactions
remove them, so that new events don't have to wait.
"""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import delete, exists, insert, or_, select

from rankscope.monitor.events.limits import HOUR
from rankscope.monitor.store.tables.schema import (
    contexts,
    events,
    history,
    history_labels,
    history_moves,
    labels,
    rankings,
)
from rankscope.monitor.store.tables.statements import in_project

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, TypeVar

    from sqlalchemy import ColumnElement, Connection, Select, Table

    from rankscope.monitor.store.tables.transaction import Transaction

    Row = TypeVar("Row")

AT_ONCE = 100
"""How many rankings a transaction removes, with their labels."""
IN_STATEMENT = 5_000
"""How many numbers a statement names."""


class Move(NamedTuple):
    """An hour whose rows are being removed.

    Args:
        hour_id: The number of the archived hour.
        project_id: The number of its project.
        start: When it begins, in microseconds since 1970.
        seq: The number of the last event that is in the file.
    """

    hour_id: int
    project_id: int
    start: int
    seq: int


SELECT_MOVES = select(
    history.c.hour_id, history.c.project_id, history.c.start, history_moves.c.seq
).join(history_moves, history_moves.c.hour_id == history.c.hour_id)


def list_moves(connection: Connection, project: str) -> list[Move]:
    """List the moves of a project."""
    return _list(connection, SELECT_MOVES.where(in_project(history.c.project_id, project)))


def list_all_moves(connection: Connection) -> list[Move]:
    """List the moves of all projects."""
    return _list(connection, SELECT_MOVES)


def find_move(connection: Connection, hour_id: int) -> Move | None:
    """Find the move of an archived hour."""
    found = _list(connection, SELECT_MOVES.where(history.c.hour_id == hour_id))
    return found[0] if found else None


def _list(connection: Connection, wanted: Select[Any]) -> list[Move]:
    rows = connection.execute(wanted.order_by(history.c.hour_id))
    return [Move(*row) for row in rows]


def begin_move(connection: Connection, hour_id: int, seq: int) -> None:
    """Begin to remove the rows of an hour up to the number of an event."""
    connection.execute(delete(history_moves).where(history_moves.c.hour_id == hour_id))
    connection.execute(insert(history_moves), {"hour_id": hour_id, "seq": seq})


def leave_out(wanted: Select[Row], moves: Sequence[Move]) -> Select[Row]:
    """Leave rankings that are being moved out of a statement that selects rankings."""
    return wanted.where(~is_moved(moves)) if moves else wanted


def is_moved(moves: Sequence[Move]) -> ColumnElement[bool]:
    """Select the rankings that are being moved: they are in a file, too."""
    production = select(contexts.c.context_id).where(contexts.c.environment == "production")
    theirs = or_(
        *(
            (rankings.c.project_id == move.project_id)
            & rankings.c.time.between(move.start, move.start + HOUR - 1)
            # With + 0, rankings are found by their time.
            & (rankings.c.seq + 0 <= move.seq)
            for move in moves
        )
    )
    return theirs & (rankings.c.context_id + 0).in_(production)


def leave_out_labels(wanted: Select[Row], moves: Sequence[Move]) -> Select[Row]:
    """Leave labels that are being moved out of a statement that selects labels."""
    for move in moves:
        is_ranked = exists().where(
            rankings.c.project_id == labels.c.project_id,
            rankings.c.ranking_id == labels.c.ranking_id,
            is_moved([move]),
        )
        is_late = exists().where(
            history_labels.c.seq == labels.c.seq, history_labels.c.hour_id == move.hour_id
        )
        wanted = wanted.where((labels.c.seq > move.seq) | ~(is_ranked | is_late))
    return wanted


def remove_rows(transaction: Transaction, move: Move) -> bool:
    """Remove some of the rows of a move, and return whether there may be more of them.

    Labels that came after the file was written stay, as those of an archived ranking.
    """
    connection = transaction.connection
    if find_move(connection, move.hour_id) != move:
        return False  # another process has finished it
    order = (rankings.c.time, rankings.c.ranking_id)
    wanted = select(rankings.c.seq, rankings.c.ranking_id).where(is_moved([move]))
    ranked = connection.execute(wanted.order_by(*order).limit(AT_ONCE)).all()
    if ranked:
        names = [name for _, name in ranked]
        theirs = select(labels.c.seq).where(
            labels.c.project_id == move.project_id, labels.c.ranking_id.in_(names)
        )
        found = list(connection.execute(theirs).scalars())
        later = [{"seq": seq, "hour_id": move.hour_id} for seq in found if seq > move.seq]
        if later:
            connection.execute(insert(history_labels), later)
        _delete(connection, [labels, events], [seq for seq in found if seq <= move.seq])
        _delete(connection, [rankings, events], [seq for seq, _ in ranked])
        return True
    late = select(history_labels.c.seq).where(
        history_labels.c.hour_id == move.hour_id, history_labels.c.seq <= move.seq
    )
    seqs = list(connection.execute(late.limit(AT_ONCE)).scalars())
    if seqs:
        _delete(connection, [labels, events, history_labels], seqs)
        return True
    connection.execute(delete(history_moves).where(history_moves.c.hour_id == move.hour_id))
    return False


def _delete(connection: Connection, tables: Sequence[Table], seqs: Sequence[int]) -> None:
    """Delete the rows of some events."""
    for at in range(0, len(seqs), IN_STATEMENT):
        for table in tables:
            some = table.c.seq.in_(seqs[at : at + IN_STATEMENT])
            connection.execute(delete(table).where(some))
