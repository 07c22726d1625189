"""The files of a store: their names, where they may be, and who may read them."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path

from rankscope.errors import FileError

SQLITE = "sqlite:///"
"""The start of the URL of a store."""
NETWORK = frozenset({"nfs", "nfs4", "cifs", "smb3", "smbfs", "afs", "ceph", "fuse.sshfs"})
MOUNTS = Path("/proc/self/mountinfo")
PRIVATE = 0o600
ENDINGS = ("", "-wal", "-shm", ".high-water", ".lock", ".secrets")
"""The endings of the names of the files of a store."""


def locate_store(path: str | os.PathLike[str]) -> Path:
    """Resolve the path of a store, so that links to it have the same log, mark and lock."""
    located = Path(path).resolve()
    try:
        found = located.stat()
    except OSError:
        return located  # opening it raises the error
    if stat.S_ISREG(found.st_mode) and found.st_nlink > 1:
        raise FileError(
            f"the store has {found.st_nlink} hard links; it may have only one name",
            hint="delete the other hard links, which find FOLDER -samefile "
            f"{located.name} shows; symbolic links may stay",
            code="store_links",
            file=str(located),
        )
    return located


def beside(path: Path, ending: str) -> Path:
    """Return the path of a file of a store by its ending, such as `.high-water`."""
    return path.with_name(path.name + ending)


def sync_data(file: int) -> None:
    """Write the content of a file to the disk."""
    getattr(os, "fdatasync", os.fsync)(file)


def size_of(path: Path) -> int:
    """Return the size of a file, 0 where there is none."""
    return path.stat().st_size if path.exists() else 0


def make_private(path: Path) -> None:
    """Make a file that only its owner may read and write, or close an existing one to all others.

    The umask does not matter. SQLite gives its log the permissions of the database.
    """
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, PRIVATE))
    except FileExistsError:
        pass
    except OSError as error:
        raise cannot_write(path, error) from error
    # A file of another owner is left as it is; the doctor reports it.
    with suppress(PermissionError):
        if stat.S_IMODE(path.stat().st_mode) != PRIVATE:
            path.chmod(PRIVATE)


def cannot_write(path: Path, error: OSError) -> FileError:
    """Return the error of a file that cannot be written."""
    return FileError(
        f"the file cannot be written ({error.strerror})",
        hint="check the path, its permissions, and the free space on the disk",
        code="io",
        file=str(path),
    )


def find_open_files(store: Path) -> list[Path]:
    """List the files of a store that others than the owner may read or write."""
    files = (beside(store, ending) for ending in ENDINGS)
    return [
        path for path in files if path.is_file() and stat.S_IMODE(path.stat().st_mode) & ~PRIVATE
    ]


def refuse_network(path: Path, mounts: Path = MOUNTS) -> None:
    """Refuse a path on a network file system, where the system lists its mounts.

    `mounts` is the list of mounts, in the format of Linux.
    """
    kind = _kind_at(path.resolve(), mounts)
    if kind in NETWORK:
        raise FileError(
            f"the store is on a network file system ({kind})",
            hint="put it on a local disk: locks and syncs of network file systems are not reliable",
            code="store_network",
            file=str(path),
        )


def _kind_at(path: Path, mounts: Path) -> str | None:
    """Find the type of the file system that a path is on."""
    try:
        lines = mounts.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return None
    found: tuple[int, str] | None = None
    for line in lines:
        place, _, facts = line.partition(" - ")
        where = Path(place.split()[4].replace("\\040", " "))
        depth = len(where.parts)
        if path.is_relative_to(where) and (found is None or depth >= found[0]):
            found = depth, facts.split()[0]
    return None if found is None else found[1]


MAGIC = b"SQLite format 3\0"


def check_place(path: str) -> None:
    """Refuse a path that cannot be that of a store, before anything is opened or made beside it."""
    try:
        facts = os.stat(path)  # noqa: PTH116 - pathlib changes the path
        is_file = stat.S_ISREG(facts.st_mode)
        head = _read_head(path) if is_file and facts.st_size else MAGIC
    except FileNotFoundError:
        return
    except (OSError, ValueError) as error:  # a ValueError means that no path can be like this
        reason = getattr(error, "strerror", None) or str(error)
        raise FileError(
            f"the store cannot be opened: {reason}",
            hint="check the path and its permissions",
            code="io",
            file=path,
        ) from error
    if not is_file:
        kind = "a folder" if stat.S_ISDIR(facts.st_mode) else "a pipe or a device"
        raise FileError(
            f"this is {kind}, not a store",
            hint="use the path of the file of the store",
            code="io",
            file=path,
        )
    if head != MAGIC:
        raise FileError(
            "the file is not a store, or its first bytes are damaged",
            hint="check the path, or restore a backup",
            code="store_damaged",
            file=path,
        )


def _read_head(path: str) -> bytes:
    with open(path, "rb") as file:  # noqa: PTH123 - as above
        return file.read(len(MAGIC))
