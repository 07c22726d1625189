"""A store that a service holds, for a command that reads it and asks the service to write."""

from __future__ import annotations

import os
import threading
from contextlib import ExitStack

from rankscope import __version__
from rankscope.errors import FileError, RankscopeError
from rankscope.monitor.store.lending import place
from rankscope.monitor.store.lending.lender import DONE, EVALUATE, FORGET, HELLO, WRITE
from rankscope.monitor.store.lending.messages import WRITES, Channel
from rankscope.monitor.store.methods import unfold
from rankscope.monitor.store.sqlite.files import locate_store
from rankscope.monitor.store.sqlite.store import BorrowedStore

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import Any


class LentStore(BorrowedStore):
    """A store that a service on this machine writes: this process reads the file.

    Args:
        path: The file.
        channel: To the service.
    """

    is_lent = True
    _is_open = True

    def __init__(self, path: Path, channel: Channel) -> None:
        super().__init__(path, self._ask_service)
        self._channel = channel
        self._one_at_a_time = threading.Lock()

    def close(self) -> None:
        """End the session with the service, and close the file."""
        super().close()
        with self._one_at_a_time:
            self._is_open = False
            self._channel.close()

    def take_evaluation(self) -> bool:
        """Wait until the service has evaluated, which then waits until this store is closed."""
        return bool(self._ask_for(EVALUATE))

    def forget_deleted(self) -> None:
        """Wait until the service has removed what is deleted from the log."""
        self._ask_for(FORGET)

    def _ask_service(self, work: Callable[..., Any], size: int) -> object:
        function, args, named = unfold(work)
        if WRITES.get(function.__name__) is not function:
            raise TypeError(f"{function.__name__} is not among the writes of a service")
        return self._ask_for(WRITE, function.__name__, list(args), named, size)

    def _ask_for(self, *message: object) -> object:
        with self._one_at_a_time:
            if not self._is_open:
                raise FileError("the store is closed", code="store_closed")
            try:
                self._channel.send(*message)
                answer = self._channel.receive()
            except (OSError, ValueError) as error:
                if isinstance(error, RankscopeError):
                    raise
                answer = None
        return _take(answer)


def _take(answer: list[Any] | None) -> object:
    """Return what the service answered, or raise its error."""
    if answer is None:
        raise FileError(
            "the service ended before it answered; the change may have been stored",
            hint="look at what is stored, and run the command again",
            code="service",
        )
    what, said = answer
    if what != DONE:
        raise said
    return said


def borrow_from_service(path: str | os.PathLike[str]) -> LentStore | None:
    """Open a store that a service on this machine holds; `None` if no service answers."""
    file = locate_store(path)
    connection = place.connect(file)
    if connection is None:
        return None
    channel = Channel(connection)
    with ExitStack() as stack:
        stack.callback(channel.close)
        _check_user(file, place.find_peer(connection))
        answer = channel.receive()
        if answer is None:
            return None
        _check_release(file, answer)
        lent = LentStore(file, channel)
        stack.pop_all()
    return lent


def _check_release(file: Path, answer: list[Any]) -> None:
    """Refuse a service that refuses this process, or is of another release."""
    what, said = answer
    if what != HELLO:
        raise said
    if said != __version__:
        raise FileError(
            f"the service is rankscope {said}, and this is rankscope {__version__}",
            hint="use the same release for both",
            code="store_locked",
            file=str(file),
        )


def _check_user(file: Path, peer: place.Peer) -> None:
    """Refuse a service of somebody else, who may have put a socket there, or root's."""
    own, owner = os.geteuid(), file.stat().st_uid
    if peer.user_id == own:
        return
    if own == 0 and peer.user_id == owner:
        # What this process writes beside the store has to belong to who runs the service.
        raise FileError(
            f"the service that writes to the store is run by {peer.user}",
            hint=f"run the command as that user: sudo -u {peer.user} rankscope ...",
            code="store_locked",
            file=str(file),
        )
    raise FileError(
        f"the service that writes to the store is run by another user, {peer.user}",
        hint="run the command as the user who runs the service",
        code="store_locked",
        file=str(file),
    )
