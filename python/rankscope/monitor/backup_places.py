"""The folder or the bucket of the backups of a store: files are durable, and have checksums."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from secrets import token_hex
from typing import Any, NamedTuple, TypeAlias

from rankscope._inputs.remote import converted_errors, list_folder, open_filesystem, split_url
from rankscope._show.table import show
from rankscope.errors import FileError, RankscopeError, UsageError

Foreign: TypeAlias = Any  # of PyArrow, which has no types
BackupPlace: TypeAlias = "BackupFolder | BackupBucket"


PRIVATE_FOLDER, PRIVATE_FILE = 0o700, 0o600
PIECE = 16 << 20
"""How much is copied at once."""
PART = ".part"
UNREACHABLE = "the place of the backups cannot be reached"
OWNER = "_store"
"""The name of the file with the id of the store that a place belongs to."""


class Published(NamedTuple):
    """A file that is durable.

    Args:
        path: Its path in the place.
        size: The number of its bytes.
        checksum: 16 bytes of BLAKE2b of it.
    """

    path: str
    size: int
    checksum: bytes


class BackupFolder:
    """A folder of backups, which only its owner may read.

    Args:
        path: The folder, which is made with the first file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def fetch(self, listed: Published, target: Path) -> None:
        """Copy a file to a path outside, and compare what is there."""
        place = self.path / listed.path
        try:
            source = place.open("rb")
        except OSError as error:
            raise _damaged(str(place), str(error.strerror or error)) from error
        with source, target.open("wb") as copy:
            shutil.copyfileobj(source, copy, PIECE)
        _compare(listed, target, str(place))

    def read(self, path: str, most: int) -> bytes:
        """Read a file, up to one byte more than it may have."""
        with self._errors(path), (self.path / path).open("rb") as file:
            return file.read(most + 1)

    def put(self, source: Path, path: str) -> Published:
        """Copy a file to a path in the folder, and make it durable."""
        place = self.path / path
        with _open_part(place.parent) as part:
            shutil.copyfile(source, part)
            done = Published(path, part.stat().st_size, compute_checksum(part))
            _publish(part, place)
        return done

    def claim(self, store: str) -> None:
        """Take the folder for a store."""
        with _open_part(self.path) as part:
            owner = self.path / OWNER
            if owner.exists():
                _check_owner(str(self.path), owner.read_text("utf-8"), store)
                return
            if any(path != part for path in self.path.iterdir()):
                raise _occupied(str(self.path))
            part.write_text(store, "utf-8")
            _publish(part, owner)

    def remove(self, path: str) -> None:
        """Remove a file, and its folders where they are empty."""
        place = self.path / path
        try:
            place.unlink(missing_ok=True)
        except OSError as error:
            raise FileError(
                f"the file cannot be removed ({error.strerror})",
                hint="check the permissions of the folder",
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

    def list_files(self) -> list[str]:
        """List the paths of all files in the folder, complete or not, by name."""
        return sorted(
            path.relative_to(self.path).as_posix()
            for path in self.path.rglob("*")
            if path.is_file()
        )

    @contextmanager
    def _errors(self, path: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise _unreachable(str(self.path / path), str(error.strerror or error)) from error


class BackupBucket:
    """Backups in a bucket, through the file systems of Arrow.

    Args:
        url: The folder, such as `s3://bucket/folder`.
    """

    def __init__(self, url: str) -> None:
        self._url = url.rstrip("/")
        self._place, self._base = split_url(self._url)

    def fetch(self, listed: Published, target: Path) -> None:
        """Copy a file to one here, and compare what is there."""
        if listed.path not in self.list_files():
            raise _damaged(self._locate(listed.path), "it is missing")
        self._copy(listed.path, target)
        _compare(listed, target, self._locate(listed.path))

    def read(self, path: str, most: int) -> bytes:
        """Read a file, up to one byte more than it may have."""
        with self._errors(path), self._open().open_input_stream(self._key(path)) as source:
            return bytes(source.read(most + 1))

    def put(self, source: Path, path: str) -> Published:
        """Upload a file to a path, and compare what is stored before it has its name."""
        sent = Published(path, source.stat().st_size, compute_checksum(source))
        temporary = f"{path}{PART}"
        with self._errors(path):
            files = self._open()
            try:
                with (
                    source.open("rb") as opened,
                    files.open_output_stream(self._key(temporary)) as target,
                ):
                    shutil.copyfileobj(opened, target, PIECE)
                with tempfile.NamedTemporaryFile() as copy:
                    self._copy(temporary, Path(copy.name))
                    _compare(sent, Path(copy.name), self._locate(path))
                files.move(self._key(temporary), self._key(path))
                if files.get_file_info(self._key(path)).size != sent.size:
                    raise _damaged(self._locate(path))
            finally:
                with suppress(OSError):
                    files.delete_file(self._key(temporary))
        return sent

    def claim(self, store: str) -> None:
        """Take the folder in the bucket for a store."""
        with self._errors(OWNER):
            try:
                with self._open().open_input_stream(self._key(OWNER)) as source:
                    owner: str | None = source.read().decode()
            except FileNotFoundError:
                owner = None
        if owner is not None:
            _check_owner(self._url, owner, store)
        elif self.list_files():
            raise _occupied(self._url)
        else:
            with (
                self._errors(OWNER),
                self._open().open_output_stream(self._key(OWNER)) as target,
            ):
                target.write(store.encode())

    def remove(self, path: str) -> None:
        """Remove a file."""
        with self._errors(path), suppress(FileNotFoundError):
            self._open().delete_file(self._key(path))

    def list_files(self) -> list[str]:
        """List the paths of all files, complete or not, by name."""
        with self._errors(""):
            infos = list_folder(self._url, is_recursive=True)
        start = len(self._key(""))
        return sorted(info.path[start:] for info in infos if info.is_file)

    def _locate(self, path: str) -> str:
        return f"{self._url}/{path}"

    def _key(self, path: str) -> str:
        return f"{self._base}/{path}".lstrip("/")

    def _open(self) -> Foreign:
        return open_filesystem(self._place)

    def _copy(self, path: str, target: Path) -> None:
        with self._errors(path):
            source = self._open().open_input_stream(self._key(path))
            with source, target.open("wb") as copy:
                shutil.copyfileobj(source, copy, PIECE)

    def _errors(self, path: str) -> AbstractContextManager[None]:
        return converted_errors(self._locate(path), UNREACHABLE, "backup_unreachable")


def open_place(location: str) -> BackupPlace:
    """Return the place that a folder or a URL names."""
    return BackupBucket(location) if "://" in location else BackupFolder(Path(location))


def compute_checksum(path: Path) -> bytes:
    """Return 16 bytes of BLAKE2b of a file."""
    checksum = blake2b(digest_size=16)
    with path.open("rb") as opened:
        while piece := opened.read(PIECE):
            checksum.update(piece)
    return checksum.digest()


def _compare(listed: Published, copy: Path, file: str) -> None:
    """Compare a copy with what was written."""
    if (copy.stat().st_size, compute_checksum(copy)) != (listed.size, listed.checksum):
        raise _damaged(file)


@contextmanager
def _open_part(folder: Path) -> Iterator[Path]:
    """Let a block write a file that only its owner may read; what is left of it then is removed."""
    part = folder / f".{token_hex(8)}{PART}"
    try:
        _make_folders(folder)
        os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, PRIVATE_FILE))
        yield part
    except RankscopeError:
        raise
    except (OSError, ValueError) as error:  # the latter for a NUL in the name
        raise FileError(
            f"the file cannot be written ({getattr(error, 'strerror', None) or error})",
            hint="check the permissions of the folder, and the free space on the disk",
            code="store_full" if getattr(error, "errno", 0) in {27, 28, 122} else "io",
            file=str(part),
        ) from error
    finally:
        with suppress(OSError, ValueError):
            part.unlink(missing_ok=True)


def _make_folders(folder: Path) -> None:
    """Make a folder and those above it, which only the owner may open."""
    new = []
    while not folder.is_dir():
        new.append(folder)
        folder = folder.parent
    for each in reversed(new):
        with suppress(FileExistsError):
            each.mkdir(PRIVATE_FOLDER)
        _sync(each.parent)


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


def _check_owner(place: str, owner: str, store: str) -> None:
    """Refuse to use the place of another store."""
    if owner != store:
        raise UsageError(
            f"{show(place)} has the backups of another store",
            hint="use a folder of its own for each store",
            code="backup_place",
        )


def _occupied(place: str) -> UsageError:
    return UsageError(
        f"{show(place)} is not empty",
        hint="use a new folder for the backups of a store",
        code="backup_place",
    )


def _unreachable(file: str, reason: str) -> FileError:
    return FileError(
        f"{UNREACHABLE}: {reason}",
        hint="check the network, the rights, and the credentials in the environment",
        code="backup_unreachable",
        file=file,
    )


def _damaged(file: str, reason: str = "it is not the file that was written") -> FileError:
    return FileError(
        f"the backup is damaged: {reason}",
        hint="use another backup; nothing was restored",
        code="backup_damaged",
        file=file,
    )
