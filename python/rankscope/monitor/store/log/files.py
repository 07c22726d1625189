"""The folder of archived hours: names of files, their checksums, and how they are made durable."""

from __future__ import annotations

import os
import shutil
import stat
import time
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from secrets import token_hex
from typing import NamedTuple
from urllib.parse import quote

from rankscope.errors import FileError, UsageError
from rankscope.output.text import show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path
    from typing import Literal, TypeAlias

    from rankscope.monitor.store.log.blocks import Block
    from rankscope.monitor.store.log.bucket import HistoryBucket

    FileKind: TypeAlias = Literal["rankings", "values"]
    Listed: TypeAlias = "Block | ArchivedValues | Published"
    """A file that the log lists: a path, a size and a checksum."""
    HistoryPlace: TypeAlias = "HistoryFolder | HistoryBucket"
    """Where the files of the archived hours of a store are."""

KINDS: tuple[FileKind, ...] = ("rankings", "values")
PRIVATE_FOLDER, PRIVATE_FILE = 0o700, 0o600
KEPT_SECONDS = 3600.0
"""How long a file that is not listed is kept: a reader may still use one that was
replaced, and another process may be writing one."""
LONGEST_NAME = 150
PIECE = 1 << 20
PART = ".part"
OWNER = "_store"
"""The name of the file with the id of the store that a place belongs to."""
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class ArchivedValues(NamedTuple):
    """The values of the rankings of an archived hour, as they are listed.

    Args:
        block_id: The number of the block of the hour.
        definition: The hash of the definition that they were computed with.
        path: The path of their file in the folder.
        rankings: The number of rankings in the file.
        size: The number of bytes of the file.
        checksum: 16 bytes of BLAKE2b of the file.
    """

    block_id: int
    definition: str
    path: str
    rankings: int
    size: int
    checksum: bytes


class Published(NamedTuple):
    """A file that is durable.

    Args:
        path: Its path in the folder.
        size: The number of its bytes.
        checksum: 16 bytes of BLAKE2b of it.
    """

    path: str
    size: int
    checksum: bytes


class HistoryFolder:
    """The folder of the archived hours of a store.

    Files are named after their checksum and never changed. Only their owner may read them.

    Args:
        path: The folder, which is made with the first file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._verified: set[tuple[object, ...]] = set()

    def locate(self, path: str) -> str:
        """Return the whole path of a file."""
        return str(self.path / path)

    def check(self, listed: Listed, *, is_forced: bool = False) -> Path:
        """Return the path of a file, whose checksum is compared once."""
        path = self.path / listed.path
        try:
            facts = path.stat()
            key = (listed.path, listed.checksum, facts.st_ino, facts.st_size, facts.st_mtime_ns)
            if key in self._verified and not is_forced:
                return path
            checksum = compute_checksum(path) if facts.st_size == listed.size else b""
        except OSError as error:
            raise missing(path, error) from error
        if checksum != listed.checksum:
            raise damaged(path, "it is not the file that was written")
        self._verified.add(key)
        return path

    def open_part(
        self, project: str, start: int, kind: FileKind = "rankings"
    ) -> AbstractContextManager[Path]:
        """Let a block write a file beside the place of the file of an hour.

        What is left of the file when the block ends is removed.
        """
        return open_local_part(self.path / name_hour(project, start, kind), _make_folders)

    def publish(self, part: Path) -> Published:
        """Make a written file durable under a name of its own."""
        checksum = compute_checksum(part)
        size = part.stat().st_size
        place = part.with_name(name_file(checksum))
        _publish(part, place)
        return Published(place.relative_to(self.path).as_posix(), size, checksum)

    def put_copy(self, listed: Listed, place: HistoryPlace) -> None:
        """Copy a file from another place under the same path, and make it durable."""
        if self.put(place.check(listed), listed.path).checksum != listed.checksum:
            self.remove(listed.path)
            raise damaged(place.locate(listed.path), "it has changed while it was copied")

    def put(self, source: Path, path: str) -> Published:
        """Copy any file to a path in the folder, and make it durable."""
        place = self.path / path
        with open_local_part(place.parent, _make_folders) as part:
            shutil.copyfile(source, part)
            done = Published(path, part.stat().st_size, compute_checksum(part))
            _publish(part, place)
        return done

    def claim(self, store: str) -> None:
        """Take the folder for a store."""
        with open_local_part(self.path, _make_folders) as part:
            owner = self.path / OWNER
            if owner.exists():
                check_owner(str(self.path), owner.read_text("utf-8"), store)
                return
            if any(path != part for path in self.path.iterdir()):
                raise occupied(str(self.path))
            part.write_text(store, "utf-8")
            _publish(part, owner)

    def retire(self, path: str) -> None:
        """Note that a file was replaced just now, so that it is removed only later."""
        with suppress(OSError):
            os.utime(self.path / path)

    def remove(self, path: str) -> None:
        """Remove a file, and its folders where they are empty."""
        place = self.path / path
        try:
            place.unlink(missing_ok=True)
        except OSError as error:
            raise FileError(
                f"the file cannot be removed ({error.strerror})",
                hint="remove it: its events were deleted",
                code="io",
                file=str(place),
            ) from error
        for folder in place.parents:
            if folder in self.path.parents:
                break
            try:
                folder.rmdir()
            except OSError:  # it is not empty
                break

    def remove_all(self) -> None:
        """Remove the folder with all files, as far as that is possible."""
        shutil.rmtree(self.path, ignore_errors=True)

    def list_hour(self, project: str, start: int) -> list[str]:
        """List the paths of all files of an hour, also of those that were replaced."""
        folders = [self.path / name_hour(project, start, kind) for kind in KINDS]
        paths = [path for folder in folders for path in sorted(folder.glob("*.parquet"))]
        return [path.relative_to(self.path).as_posix() for path in paths]

    def list_open(self) -> list[Path]:
        """List the files and folders that others than the owner may read or write."""
        paths = [self.path, *sorted(self.path.rglob("*"))] if self.path.is_dir() else []
        return [
            path
            for path in paths
            if stat.S_IMODE(path.stat().st_mode)
            & ~(PRIVATE_FOLDER if path.is_dir() else PRIVATE_FILE)
        ]

    def list_files(self) -> list[str]:
        """List the paths of all files in the folder, complete or not, by name."""
        return sorted(
            path.relative_to(self.path).as_posix()
            for path in self.path.rglob("*")
            if path.is_file()
        )

    def clean(self, known: Collection[str], *, kept_seconds: float = KEPT_SECONDS) -> int:
        """Remove files that are not listed, and return how many they were."""
        count = 0
        for path in self.list_files():
            place = self.path / path
            if path in known or place.suffix not in {".parquet", PART}:
                continue
            with suppress(FileNotFoundError):
                if time.time() - place.stat().st_mtime >= kept_seconds:
                    self.remove(path)
                    count += 1
        return count


def _make_folders(folder: Path) -> None:
    """Make a folder of the history and those above it, which only the owner may open."""
    new = []
    while not folder.is_dir():
        new.append(folder)
        folder = folder.parent
    for each in reversed(new):
        with suppress(FileExistsError):
            each.mkdir(PRIVATE_FOLDER)
        _sync(each.parent)


@contextmanager
def open_local_part(
    folder: Path, make_folders: Callable[[Path], None] | None = None
) -> Iterator[Path]:
    """Let a block write a file that only its owner may read; what is left of it then is removed."""
    part = folder / f".{token_hex(8)}{PART}"
    try:
        if make_folders is not None:
            make_folders(folder)
        os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, PRIVATE_FILE))
        yield part
    except FileError:  # of what is read while this is written
        raise
    except OSError as error:
        raise FileError(
            f"the file cannot be written ({error.strerror or error})",
            hint="check the permissions of the folder, and the free space on the disk",
            code="store_full" if error.errno in {27, 28, 122} else "io",
            file=str(part),
        ) from error
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def name_hour(project: str, start: int, kind: FileKind = "rankings") -> str:
    """Return the folder of an hour of a project, within the folder of the history.

    Examples:
        >>> name_hour("music", 1_793_934_000_000_000)
        'music/rankings/date=2026-11-06/hour=03'
        >>> name_hour("../a b", 0, "values")
        '%2E%2E%2Fa%20b/values/date=1970-01-01/hour=00'
    """
    name = quote(project, safe="").replace(".", "%2E")
    if len(name) > LONGEST_NAME:
        name = f"{name[:LONGEST_NAME]}~{blake2b(project.encode(), digest_size=8).hexdigest()}"
    when = EPOCH + timedelta(microseconds=start)
    return f"{name}/{kind}/date={when:%Y-%m-%d}/hour={when:%H}"


def name_file(checksum: bytes) -> str:
    """Return a name for a file that no other file has, not even one with the same content.

    So a file can be removed without regard to who writes another one at the same moment.
    """
    return f"{checksum.hex()}-{token_hex(4)}.parquet"


def check_owner(place: str, owner: str, store: str) -> None:
    """Refuse to use the place of another store."""
    if owner != store:
        raise UsageError(
            f"{show(place)} has the files of another store",
            hint="use a folder of its own for each store",
            code="history_place",
        )


def occupied(place: str) -> UsageError:
    """Return the error of a place that has other files."""
    return UsageError(
        f"{show(place)} is not empty",
        hint="use a new folder for the files of a store",
        code="history_place",
    )


def compute_checksum(path: Path) -> bytes:
    """Return 16 bytes of BLAKE2b of a file."""
    checksum = blake2b(digest_size=16)
    with path.open("rb") as opened:
        while piece := opened.read(PIECE):
            checksum.update(piece)
    return checksum.digest()


def missing(path: object, error: OSError) -> FileError:
    """Return the error of an archived file that cannot be read."""
    return FileError(
        f"an archived hour cannot be read: {error.strerror or error}",
        hint="restore this file from a backup of the store; if its events were deleted a moment "
        "ago, read again",
        code="history_missing",
        file=str(path),
    )


def damaged(path: object, reason: str) -> FileError:
    """Return the error of an archived file that is damaged."""
    return FileError(
        f"an archived hour is damaged: {reason}",
        hint="restore this file from a backup of the store",
        code="history_damaged",
        file=str(path),
    )


def _publish(part: Path, place: Path) -> None:
    """Sync a file, rename it, and sync its folder, so that both survive a crash."""
    _sync(part)
    part.replace(place)
    _sync(place.parent)


def _sync(path: Path) -> None:
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
