"""Objects between a process and the one that it has started, one after the other."""

from __future__ import annotations

import pickle

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import IO, Any


class Messages:
    """Sends and receives objects, which must be of one process and its own child.

    Args:
        incoming: Where they come from.
        outgoing: Where they go.
    """

    def __init__(self, incoming: IO[bytes], outgoing: IO[bytes]) -> None:
        self._incoming = incoming
        self._outgoing = outgoing

    def send(self, *message: object) -> None:
        """Send objects together.

        Raises:
            OSError: The other process has ended.
        """
        # All of it at once: what cannot be pickled sends nothing.
        self._outgoing.write(pickle.dumps(message, pickle.HIGHEST_PROTOCOL))
        self._outgoing.flush()

    def receive(self) -> tuple[Any, ...]:
        """Receive what was sent together.

        Raises:
            EOFError: The other process has ended.
        """
        try:
            received: tuple[Any, ...] = pickle.load(self._incoming)  # noqa: S301 - of our own
        except pickle.UnpicklingError as error:
            raise EOFError from error
        return received
