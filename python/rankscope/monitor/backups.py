"""Backups of a store in a folder or a bucket, each of one moment, and how one is restored.

```text
PLACE/2026-11-21T18-00-00.000000Z/store.db      the database
PLACE/2026-11-21T18-00-00.000000Z/backup.json   what belongs to the backup; written last
```

A backup has the size and the checksum of the database, and no secrets.
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from sqlalchemy import create_engine
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool

from rankscope._inputs.remote import check_url
from rankscope._show.table import show
from rankscope._writing import replacing
from rankscope.errors import FileError, FormatError, UsageError
from rankscope.monitor.backup_places import (
    BackupFolder,
    BackupPlace,
    Published,
    open_place,
)
from rankscope.monitor.events.limits import DAY, MINUTE
from rankscope.monitor.events.times import format_time, read_time
from rankscope.monitor.store.sqlite.files import ENDINGS, PRIVATE, beside
from rankscope.monitor.store.sqlite.high_water import MARK, HighWater, Mark, sync_folder
from rankscope.monitor.store.sqlite.startup import read_facts
from rankscope.monitor.store.sqlite.store import SQLiteReader
from rankscope.monitor.store.store import StoreReader

DATABASE, MANIFEST, BEGUN = "store.db", "backup.json", "begun"
NAME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}-[0-9]{2}-[0-9]{2}\.[0-9]{6}Z")
MOST_BYTES = 1 << 16
"""The largest list of a backup."""
UNFINISHED = DAY
"""After so long, a backup that has no list isn't being made any more."""
RETRY = 10 * MINUTE
FORMAT = 1
UNREADABLE = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError)


@dataclass(frozen=True, slots=True)
class Backup:
    """A backup that is complete.

    Args:
        place: The folder or the URL of all backups of the store.
        name: Its name, which says when it was made.
        mark: The store, its last event and its last transaction.
        database: The file of the database.
        skipped: What is wrong with newer backups, if this one was restored instead of them.
    """

    place: str
    name: str
    mark: Mark
    database: Published
    skipped: tuple[FileError, ...] = ()

    @property
    def time(self) -> int:
        """When it was made, in microseconds since 1970 in UTC."""
        return _read_name(self.name)

    @property
    def size(self) -> int:
        """The number of bytes of its database."""
        return self.database.size

    @property
    def location(self) -> str:
        """Its folder or URL."""
        return f"{self.place}/{self.name}"


def make_backup(store: StoreReader, location: str, *, now: int) -> Backup:
    """Copy a store as it is at one moment while other processes use it.

    Args:
        store: The store.
        location: A folder or a URL such as `s3://bucket/folder` that is empty, or has backups of
            this store.
        now: The time, in microseconds since 1970 in UTC.

    Raises:
        UsageError: It is no such place, or the store is in PostgreSQL.
        FileError: Something cannot be read or written. What was written then is no backup.
    """
    opened = _check_kind(store)
    url = check_url(location).rstrip("/")
    name = format_time(now).replace(":", "-")
    place = open_place(url)
    place.claim(opened.read_mark().store.hex())
    try:
        place.put(Path(os.devnull), f"{name}/{BEGUN}")
        within = Path(url, name) if isinstance(place, BackupFolder) else None
        with TemporaryDirectory(dir=within) as folder:
            part = Path(folder) / DATABASE
            os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, PRIVATE))
            mark = opened.copy(part)
            made = Backup(url, name, mark, place.put(part, f"{name}/{DATABASE}"))
            part.write_text(_write(made), "ascii")
            place.put(part, f"{name}/{MANIFEST}")
    except BaseException:
        for path in (MANIFEST, DATABASE):  # first what would make it a backup
            with suppress(OSError, FileError):
                place.remove(f"{name}/{path}")
        raise
    finally:
        with suppress(OSError, FileError):
            place.remove(f"{name}/{BEGUN}")
    return made


def prune_backups(location: str, keep: int, *, now: int) -> int:
    """Remove all but the newest backups of a place, and what was left of others.

    Returns:
        The number of backups that were removed.
    """
    place = open_place(check_url(location).rstrip("/"))
    found = _list_parts(place)
    complete = [name for name, parts in found.items() if MANIFEST in parts]
    unfinished = found.keys() - complete
    old = {name for name in unfinished if _read_name(name) < now - UNFINISHED}
    removed = complete[:-keep]
    for name in (*removed, *sorted(old)):
        # First what makes it a backup, so that none is ever incomplete.
        for part in sorted(found[name], key=lambda each: each != MANIFEST):
            place.remove(f"{name}/{part}")
    return len(removed)


def find_backup(location: str) -> Backup | None:
    """Find a backup by its folder or URL, or the newest one of a place; `None` if it has none."""
    url = check_url(location).rstrip("/")
    place, _, name = url.rpartition("/")
    if NAME.fullmatch(name):
        return _read(place, name)
    parts = _list_parts(open_place(url))
    names = [name for name, each in parts.items() if MANIFEST in each]
    return _read(url, names[-1]) if names else None


def restore_backup(location: str, target: Path) -> Backup:
    """Restore a backup as a new store: all of it or nothing.

    Args:
        location: The folder or URL of a backup, or of several: then the newest one is restored that
            is not damaged.
        target: The path of the new store.

    Returns:
        The backup that was restored; its `skipped` says what is wrong with newer ones.

    Raises:
        UsageError: There is no backup.
        FileError: The backup, or every one of a place, is damaged; or a file cannot be read, or is
            in the way.
    """
    url = check_url(location).rstrip("/")
    place, _, name = url.rpartition("/")
    if NAME.fullmatch(name):
        return _restore(place, name, target)
    found = _list_parts(open_place(url))
    failures: list[FileError] = []
    for name, parts in reversed(found.items()):
        try:
            if MANIFEST not in parts:
                reason = "it is not finished" if BEGUN in parts else f"{MANIFEST} is missing"
                raise _damaged(f"{url}/{name}", reason)
            return replace(_restore(url, name, target), skipped=tuple(failures))
        except FileError as error:
            if error.code != "backup_damaged":
                raise
            failures.append(error)
    if not failures:
        raise UsageError(
            f"{show(location)} has no backup",
            hint="name a folder or a URL to which rankscope monitor backup or rankscope serve has "
            "written, or one of the backups in it",
            code="no_backup",
        )
    reasons = [
        f"{str(error.file).removeprefix(f'{url}/')}: {error.message.partition(': ')[2]}"
        for error in failures
    ]
    raise FileError(
        f"every backup is damaged: {'; '.join(reasons)}",
        hint="use another place; nothing was restored",
        code="backup_damaged",
        file=url,
    )


def _restore(url: str, name: str, target: Path) -> Backup:
    backup = _read(url, name)
    there = [each for ending in ENDINGS if os.path.lexists(each := beside(target, ending))]
    if there or not target.parent.is_dir():
        raise FileError(
            f"{there[0].name} exists already" if there else "the folder does not exist",
            hint="restore to the path of a new file",
            code="io",
            file=str(target),
        )
    marked = beside(target, MARK)
    try:
        with replacing(target, mode=PRIVATE) as part:
            open_place(backup.place).fetch(backup.database, part)
            _check_database(part, backup)
            with closing(HighWater(marked)) as high_water:
                high_water.start(backup.mark)
    except BaseException:
        marked.unlink(missing_ok=True)
        raise
    sync_folder(target.parent)
    return backup


@dataclass(frozen=True, slots=True)
class BackupPlan:
    """When a service makes backups, and where.

    Args:
        location: The folder or the URL of the backups.
        every: The time from one to the next, in microseconds.
        keep: How many to keep.
    """

    location: str
    every: int
    keep: int


class BackupSchedule:
    """Makes backups of a store from time to time, and removes old ones.

    When the last one was made is read from the place, so that it doesn't matter when the service
    was started.

    Args:
        store: The store.
        plan: When, and where.
        now: Returns the time, in microseconds since 1970 in UTC.

    Attributes:
        last: The last backup, `None` before the first one.

    Raises:
        UsageError: The place is none, or the store is in PostgreSQL.
    """

    def __init__(self, store: StoreReader, plan: BackupPlan, *, now: Callable[[], int]) -> None:
        opened, url = _check_kind(store), check_url(plan.location)
        if "://" not in url:  # a bucket may be out of reach for a while
            open_place(url).claim(opened.read_mark().store.hex())
        self._store = store
        self.plan = plan
        self._now = now
        self._next = 0
        self.last: Backup | None = None

    def step(self) -> None:
        """Make a backup if it is time; after an error, it is tried again later."""
        now, plan = self._now(), self.plan
        if now < self._next:
            return
        self._next = now + min(RETRY, plan.every)
        self.last = self.last or find_backup(plan.location)
        if self.last is None or now >= self.last.time + plan.every:
            self.last = make_backup(self._store, plan.location, now=now)
            prune_backups(plan.location, plan.keep, now=now)
        self._next = self.last.time + plan.every


def _check_kind(store: StoreReader) -> SQLiteReader:
    """Return a store that is a file; for another one, say which command of its database does it."""
    if not isinstance(store, SQLiteReader):
        store.copy(Path("rankings.dump"))
        raise TypeError("a store of an unknown kind")
    return store


def _check_database(part: Path, backup: Backup) -> None:
    """Compare the database of a backup with what its list says, before it is a store."""
    address = f"{part.absolute().as_uri()}?mode=ro&immutable=1"
    engine = create_engine(
        "sqlite://", creator=lambda: sqlite3.connect(address, uri=True), poolclass=NullPool
    )
    try:
        with engine.connect() as connection:
            is_whole = read_facts(connection, part, is_for_upgrade=True) == backup.mark
    except (DBAPIError, TypeError) as error:  # the latter: a column has another type
        raise _damaged(backup.location, f"{DATABASE} is no database") from error
    if not is_whole:
        raise _damaged(backup.location, f"{DATABASE} is not the one that {MANIFEST} describes")


def _list_parts(place: BackupPlace) -> dict[str, set[str]]:
    """List the files of all backups by their names, the oldest first."""
    found: dict[str, set[str]] = {}
    for path in place.list_files():
        name, _, part = path.partition("/")
        with suppress(FormatError):  # nothing of ours: it only looks like a time
            if NAME.fullmatch(name):
                _read_name(name)
                found.setdefault(name, set()).add(part)
    return dict(sorted(found.items()))


def _read_name(name: str) -> int:
    day, _, clock = name.partition("T")
    return read_time(f"{day}T{clock.replace('-', ':')}", "")[0]


def _write(backup: Backup) -> str:
    mark = backup.mark
    said = {
        "format": FORMAT,
        "store": mark.store.hex(),
        "last_seq": mark.seq,
        "last_commit": mark.commit,
        "database": (backup.database.size, backup.database.checksum.hex()),
    }
    return json.dumps(said)


def _read(url: str, name: str) -> Backup:
    """Read what belongs to a backup. What is no size or checksum is that of no file, either."""
    text = open_place(url).read(f"{name}/{MANIFEST}", MOST_BYTES)
    try:
        said = json.loads(text)
        if said["format"] != FORMAT:
            raise ValueError("another release made it")
        size, checksum = said["database"]
        database = Published(f"{name}/{DATABASE}", int(size), bytes.fromhex(checksum))
        mark = Mark(bytes.fromhex(said["store"]), int(said["last_seq"]), int(said["last_commit"]))
        return Backup(url, name, mark, database)
    except UNREADABLE as error:
        reason = f"expected what rankscope writes, found another ({error!r:.80})"
        raise _damaged(f"{url}/{name}", f"{MANIFEST}: {reason}") from error


def _damaged(location: str, reason: str) -> FileError:
    return FileError(
        f"the backup is damaged: {reason}",
        hint="use another backup; nothing was restored",
        code="backup_damaged",
        file=location,
    )
