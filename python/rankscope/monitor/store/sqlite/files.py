"""The files of a store: where they may lie, what they are called, and who may read them."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path

from rankscope.errors import FileError

SQLITE = "sqlite:///"
"""What the URL of a store begins with."""
NETWORK = frozenset({"nfs", "nfs4", "cifs", "smb3", "smbfs", "afs", "ceph", "fuse.sshfs"})
MOUNTS = Path("/proc/self/mountinfo")
PRIVATE = 0o600
ENDINGS = ("", "-wal", "-shm", ".high-water", ".lock", ".secrets")
"""What the names of the files of a store end with."""


def locate_store(path: str | os.PathLike[str]) -> Path:
    """Find the one path of a store, whichever symbolic links lead to it.

    The log, the mark and the lock lie beside this path, so that every name of the store leads to
    the same ones.

    Raises:
        FileError: The file has a second hard link. SQLite finds the log by the name of the file:
            through the other name, what is in the log would be missing.
    """
    located = Path(path).resolve()
    try:
        found = located.stat()
    except OSError:
        return located  # opening it says what is wrong
    if stat.S_ISREG(found.st_mode) and found.st_nlink > 1:
        raise FileError(
            f"expected a store with one name, found a file with {found.st_nlink} hard links",
            hint="delete the other hard links, which find FOLDER -samefile "
            f"{located.name} shows; symbolic links may stay",
            code="store_links",
            file=str(located),
        )
    return located


def beside(path: Path, ending: str) -> Path:
    """Return the path of a file that has the name of a store and an ending, as `.high-water`."""
    return path.with_name(path.name + ending)


def make_private(path: Path) -> None:
    """Make a file, if there is none, that only its owner may read and write.

    A file that is there is closed to all others: whatever the umask is, and whichever version wrote
    it. SQLite gives its log the permissions of the database.

    Raises:
        FileError: The file cannot be made.
    """
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, PRIVATE))
    except FileExistsError:
        pass
    except OSError as error:
        raise cannot_write(path, error) from error
    # A file of another owner stays as it is; the doctor reports it.
    with suppress(PermissionError):
        if stat.S_IMODE(path.stat().st_mode) != PRIVATE:
            path.chmod(PRIVATE)


def cannot_write(path: Path, error: OSError) -> FileError:
    """Say that a file of a store cannot be written."""
    return FileError(
        f"expected a file that can be written, found that it cannot ({error.strerror})",
        hint="check the path, its permissions, and the room on the disk",
        code="io",
        file=str(path),
    )


def find_open_files(store: Path) -> list[Path]:
    """List the files of a store that others than their owner may read or write."""
    files = (beside(store, ending) for ending in ENDINGS)
    return [
        path for path in files if path.is_file() and stat.S_IMODE(path.stat().st_mode) & ~PRIVATE
    ]


def refuse_network(path: Path, mounts: Path = MOUNTS) -> None:
    """Refuse a path on a network file system, where the system knows its mounts.

    Args:
        path: The path.
        mounts: The table of mounts, as Linux has it.

    Raises:
        FileError: It is on one.
    """
    kind = _kind_at(path.resolve(), mounts)
    if kind in NETWORK:
        raise FileError(
            f"expected a store on a local disk, found one on {kind}",
            hint="locks and syncs of network file systems cannot be trusted; use a local path",
            code="store_network",
            file=str(path),
        )


def _kind_at(path: Path, mounts: Path) -> str | None:
    """Find the kind of the file system that is mounted nearest above a path."""
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
    """Refuse a path at which no store can be, before anything is opened or made beside it.

    Args:
        path: The path; there may be nothing yet.

    Raises:
        FileError: No file can have this path, or something else than a store is there.
    """
    try:
        facts = os.stat(path)  # noqa: PTH116 - pathlib changes what the path says
        is_file = stat.S_ISREG(facts.st_mode)
        head = _read_head(path) if is_file and facts.st_size else MAGIC
    except FileNotFoundError:
        return
    except (OSError, ValueError) as error:  # a ValueError is about a text that no path can be
        reason = getattr(error, "strerror", None) or str(error)
        raise FileError(
            f"expected the path of a store, found one that cannot be opened: {reason}",
            hint="check the path and its permissions",
            code="io",
            file=path,
        ) from error
    if not is_file:
        kind = "a folder" if stat.S_ISDIR(facts.st_mode) else "a pipe or a device"
        raise FileError(
            f"expected a store, found {kind}",
            hint="name the file of the store",
            code="io",
            file=path,
        )
    if head != MAGIC:
        raise FileError(
            "expected a store, found a file that is none, or whose first bytes are damaged",
            hint="check the path, or restore a backup",
            code="store_damaged",
            file=path,
        )


def _read_head(path: str) -> bytes:
    with open(path, "rb") as file:  # noqa: PTH123 - as above
        return file.read(len(MAGIC))
