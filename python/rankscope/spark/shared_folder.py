"""A folder that the driver and all tasks see, in which packed rows are files, not rows of Spark.

Spark's shuffle takes bytes from Python, compresses, sorts and decompresses them, and hands them
back, at more than the cost of evaluating the rows. Where files can do the same, Spark only moves
where the bytes are.
"""

from __future__ import annotations

import shutil
import uuid
import weakref
from pathlib import Path

from rankscope.errors import FileError
from rankscope.names import quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Self

SETTING = "spark.rankscope.sharedFolder"
"""The setting of a session that names a folder which all machines of the cluster share."""


class SharedFolder:
    """A folder for the packed rows of one evaluation, removed with this object.

    Args:
        path: The folder. Tasks create it.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._finalizer = weakref.finalize(self, shutil.rmtree, path, ignore_errors=True)

    def clear(self) -> None:
        """Remove the files, which tasks write again if values are computed again."""
        shutil.rmtree(self.path, ignore_errors=True)


class PieceFile:
    """A file to which one task writes pieces.

    Args:
        folder: The folder.
    """

    def __init__(self, folder: str) -> None:
        # Spark may run a task twice.
        self.path = str(Path(folder, uuid.uuid4().hex))
        try:
            Path(folder).mkdir(parents=True, exist_ok=True)
            self._file = Path(self.path).open("wb")  # noqa: SIM115 - closed in `__exit__`
        except OSError as error:
            raise _cannot("write packed rows to", folder, error) from error

    def write(self, held: Any) -> int:  # noqa: ANN401 - PyArrow has no types
        """Write bytes, and return the place at which they begin."""
        try:
            start = self._file.tell()
            self._file.write(held)
        except OSError as error:
            raise _cannot("write packed rows to", self.path, error) from error
        return start

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._file.close()
        except OSError as error:
            raise _cannot("write packed rows to", self.path, error) from error


def name_place(path: str, start: int, size: int) -> bytes:
    """Return what is moved in place of bytes of a file."""
    return f"{start} {size} {path}".encode()


def read_place(place: bytes) -> bytes:
    """Return the bytes that were written."""
    start, size, path = place.decode().split(" ", 2)
    try:
        with Path(path).open("rb", buffering=0) as file:
            file.seek(int(start))
            held = file.read(int(size))
    except OSError as error:
        raise _cannot("read packed rows from", path, error) from error
    if len(held) < int(size):
        raise _cannot(
            "read packed rows from", path, OSError("the file is shorter than when it was written")
        )
    return held


def make_folder(session: Any) -> SharedFolder | None:  # noqa: ANN401 - of Spark
    """Return a new folder if all tasks can see one, or `None`.

    They do if Spark runs on this machine alone, or the session names one. With Spark Connect, the
    driver may be elsewhere.
    """
    context = getattr(session, "sparkContext", None)
    if context is None:
        return None
    root = session.conf.get(SETTING, None)
    if root is None and str(context.master).partition("[")[0] == "local":
        root = context._temp_dir  # noqa: SLF001 - which Spark removes, also where the driver is killed
    return None if root is None else SharedFolder(str(Path(root, f"rankscope-{uuid.uuid4().hex}")))


def _cannot(what: str, path: str, error: OSError) -> FileError:
    return FileError(
        f"cannot {what} {quote(path)}: {error.strerror or error}",
        hint=f"set spark.local.dir, or {SETTING}, to a folder with free space",
        code="io",
        file=path,
    )
