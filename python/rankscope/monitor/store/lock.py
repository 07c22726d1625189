"""One process writes to a store; the operating system takes the lock back from a dead one."""

from __future__ import annotations

import os
import weakref
from pathlib import Path

from rankscope.errors import FileError


class WriterLock:
    """The lock of a store, held until it is closed or the process ends, however it ends.

    Args:
        path: The file that is locked; it stays when the lock is given back.

    Raises:
        FileError: Another process holds it.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        import fcntl  # noqa: PLC0415 - where there is none, stores can still be read

        self._file: int | None = None
        opened = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(opened)
            holder = Path(path).read_text(encoding="ascii", errors="replace").strip()
            raise FileError(
                f"expected to write alone, found that process {holder or 'unknown'} writes",
                hint="if that is rankscope serve, use its pages or its address; reading is free",
                code="store_locked",
                file=str(path),
            ) from error
        os.ftruncate(opened, 0)
        os.pwrite(opened, f"{os.getpid()}\n".encode(), 0)
        self._file = opened
        # A child would hold the lock after its parent has died.
        this = weakref.ref(self)
        os.register_at_fork(after_in_child=lambda: _close(this()))

    def close(self) -> None:
        """Give it back."""
        if self._file is not None:
            os.close(self._file)
            self._file = None


def _close(lock: WriterLock | None) -> None:
    if lock is not None:
        lock.close()
