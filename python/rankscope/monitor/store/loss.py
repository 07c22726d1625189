"""Notices that a store has less than it acknowledged, and finds what explains it."""

from __future__ import annotations

from sqlalchemy import select, update

from rankscope.errors import FileError
from rankscope.monitor.store import schema
from rankscope.monitor.store.filesystem import beside
from rankscope.monitor.store.high_water import HighWater, Mark

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

    from sqlalchemy import Connection

MARK = ".high-water"
LAST_RESORT = "restore a backup, or open the store with accept_loss=True to go on without them"


def check_mark(stored: Mark | None, mark: Mark | None, path: Path, *, has_log: bool) -> None:
    """Refuse a store that has less than it acknowledged.

    Args:
        stored: Which store it is, and its last event and transaction; `None` where there is no
            store, or an empty file.
        mark: How far it acknowledged; `None` where there is no mark.
        path: The file.
        has_log: Whether there was a log before the store was opened.

    Raises:
        FileError: It has less, or the mark is of another store. The hint offers `accept_loss=True`
            only where no file beside the store explains the difference.
    """
    if stored is None:
        if mark is not None and not mark.is_new:
            message = f"expected the store that acknowledged {_count(mark)}, found an empty one"
            is_there = path.exists() and path.stat().st_size > 0
            raise _lost(path, message, _miss_log(path) if is_there and not has_log else "")
        return
    if mark == stored or (mark is None and stored.is_new):
        return
    if mark is None:
        message = f"expected the high-water mark of a store of {_count(stored)}, found none"
        hint = f"put back its file {path.name}{MARK}; if it is gone, open with accept_loss=True"
        raise _lost(path, message, _explain(stored, path) or hint)
    if mark.store != stored.store:
        if mark.is_new:
            return
        message = f"expected the store that acknowledged {_count(mark)}, found another one"
        hint = f"put the store and the {MARK} of the same backup together: they are of two stores"
        raise _lost(path, message, _explain(stored, path) or hint)
    if not mark.is_ahead_of(stored):
        return
    what, said, found = (
        ("events", mark.seq, stored.seq)
        if mark.seq > stored.seq
        else ("transactions", mark.commit, stored.commit)
    )
    lost = said - found
    message = (
        f"expected {what} up to number {said}, which were acknowledged, found them up to "
        f"{found}: {lost} {'is' if lost == 1 else 'are'} lost"
    )
    hint = _explain(stored, path)
    if not hint and not has_log:
        hint = _miss_log(path)
    raise _lost(path, message, hint)


def accept_loss(connection: Connection, stored: Mark, mark: Mark | None) -> Mark:
    """Go on after a loss: no number is used twice, and what is lost is recorded."""
    seq, commit = stored.seq, stored.commit
    if mark is not None:
        seq, commit = max(seq, mark.seq), max(commit, mark.commit)
    rows = dict(map(tuple, connection.execute(select(schema.meta))))
    values = {
        "last_seq": seq,
        "last_commit": commit + 1,  # this is a transaction, too
        "lost_events": int(rows["lost_events"]) + seq - stored.seq,
        "lost_commits": int(rows["lost_commits"]) + commit - stored.commit,
    }
    for name, value in values.items():
        changed = update(schema.meta).where(schema.meta.c.name == name)
        connection.execute(changed.values(value=str(value)))
    return Mark(stored.store, seq, commit + 1)


def _miss_log(path: Path) -> str:
    return (
        f"put back its log {path.name}-wal, which has what is missing: it was deleted, or left "
        "behind when the store was moved. If it is gone, restore a backup"
    )


def _explain(stored: Mark, path: Path) -> str:
    """Find the mark that belongs to a store among the files beside it, and say how to use it."""
    for file in sorted(path.parent.glob(f"*{MARK}")):
        if file == beside(path, MARK):
            continue
        try:
            mark = HighWater(file).read()
        except (FileError, OSError):
            continue
        if mark == stored:
            return (
                f"this is the store, or the backup, whose mark is {file.name}, beside it: copy "
                f"that to {path.name}{MARK}"
            )
    return ""


def _count(mark: Mark) -> str:
    return f"{mark.seq} events" if mark.seq else f"{mark.commit} transactions"


def _lost(path: Path, message: str, hint: str = "") -> FileError:
    return FileError(message, hint=hint or LAST_RESORT, code="store_lost", file=str(path))
