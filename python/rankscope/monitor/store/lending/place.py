"""The socket beside a store: where it is, and who is at its other end.

It is in a folder that only its owner can enter. Both sides reach it through a descriptor of the
folder, so that no link leads elsewhere meanwhile, and so that its path is never too long: a socket
has room for about a hundred bytes.
"""

from __future__ import annotations

import os
import socket
import struct
from contextlib import contextmanager, suppress

from rankscope.errors import FileError
from rankscope.monitor.store.sqlite.files import beside
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ENDING = ".run"
NAME = "socket"
FOLDER, FILE = 0o700, 0o600
CREDENTIALS = struct.Struct("3i")
BACKLOG = 16
IS_OFFERED = all(
    hasattr(module, name) for module, name in ((socket, "SO_PEERCRED"), (os, "O_PATH"))
)
"""Whether the system tells who is at the other end of a socket: Linux does."""


@record(frozen=True, slots=True)
class Peer:
    """The process at the other end of a socket, as the kernel says.

    Args:
        process: Its ID.
        user_id: The ID of its user.
    """

    process: int
    user_id: int

    @property
    def user(self) -> str:
        """The name of its user, or the ID where it has no name."""
        import pwd  # noqa: PLC0415 - not on every system

        try:
            return pwd.getpwuid(self.user_id).pw_name
        except KeyError:
            return str(self.user_id)


def find_peer(connection: socket.socket) -> Peer:
    """Ask the kernel who is at the other end."""
    found = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, CREDENTIALS.size)
    process, user_id, _ = CREDENTIALS.unpack(found)
    return Peer(process, user_id)


@contextmanager
def _open_folder(store: Path) -> Iterator[str]:
    """Give the path under which the folder of the socket is, whatever happens to its name."""
    folder = beside(store, ENDING)
    opened = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        facts = os.fstat(opened)
        if facts.st_uid not in {store.stat().st_uid, os.geteuid()} or facts.st_mode & 0o077:
            raise FileError(
                "the folder belongs to another user, or others can enter it",
                hint=f"remove {folder.name}, and start rankscope serve again",
                code="io",
                file=str(folder),
            )
        yield f"/proc/self/fd/{opened}"
    finally:
        os.close(opened)


def listen(store: Path) -> socket.socket:
    """Listen beside a store that this process holds, whatever an earlier one has left there."""
    with suppress(FileExistsError):
        beside(store, ENDING).mkdir(FOLDER)
    with _open_folder(store) as folder:
        path = f"{folder}/{NAME}"
        with suppress(FileNotFoundError):
            os.unlink(path)  # noqa: PTH108 - in the folder of the descriptor
        listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            listening.bind(path)
            os.chmod(path, FILE)  # noqa: PTH101 - likewise
            listening.listen(BACKLOG)
        except BaseException:
            listening.close()
            raise
    return listening


def remove(store: Path) -> None:
    """Remove the socket and its folder."""
    with suppress(OSError, FileError), _open_folder(store) as folder:
        os.unlink(f"{folder}/{NAME}")  # noqa: PTH108 - in the folder of the descriptor
    with suppress(OSError):
        beside(store, ENDING).rmdir()


def connect(store: Path) -> socket.socket | None:
    """Connect with the service that holds a store; `None` if none answers."""
    if not IS_OFFERED:
        return None
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        with _open_folder(store) as folder:
            connection.connect(f"{folder}/{NAME}")
    except OSError as error:
        connection.close()
        if isinstance(error, FileError):
            raise
        return None
    return connection
