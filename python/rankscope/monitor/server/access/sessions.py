"""Browsers that signed in with a key: kept in memory, by the hash of what the browser keeps."""

from __future__ import annotations

import secrets
from collections import OrderedDict
from hashlib import sha256

from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

SECONDS = 12 * 3600
MOST = 10_000
MOST_OF_KEY = 100


@record(frozen=True, slots=True)
class Session:
    """A browser that signed in.

    Args:
        key_id: The key that it signed in with; what that opens is looked up each time.
        csrf: What its forms have to say.
        ends: When it is over, by the clock of the sessions.
    """

    key_id: str
    csrf: str
    ends: float


class Sessions:
    """The browsers that are signed in; the one that signed in first goes if there are too many.

    That is one of the same key, unless there are too many of all keys.

    Args:
        clock: Seconds that only grow.

    Examples:
        >>> seconds = 0.0
        >>> sessions = Sessions(lambda: seconds)
        >>> kept = sessions.begin("3f")
        >>> sessions.find(kept).key_id, sessions.find(kept + "0")
        ('3f', None)
        >>> seconds = 12 * 3600.0
        >>> sessions.find(kept) is None
        True
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._sessions: OrderedDict[bytes, Session] = OrderedDict()

    def begin(self, key_id: str) -> str:
        """Begin a session, and give the 256 random bits that the browser keeps."""
        own = [place for place, one in self._sessions.items() if one.key_id == key_id]
        if len(own) >= MOST_OF_KEY:
            del self._sessions[own[0]]
        kept = secrets.token_hex(32)
        session = Session(key_id, secrets.token_hex(32), self._clock() + SECONDS)
        self._sessions[_digest(kept)] = session
        if len(self._sessions) > MOST:
            self._sessions.popitem(last=False)
        return kept

    def find(self, kept: str) -> Session | None:
        """Find a session that is not over."""
        session = self._sessions.get(_digest(kept))
        if session is not None and session.ends <= self._clock():
            self.end(kept)
            return None
        return session

    def end(self, kept: str) -> None:
        """End a session."""
        self._sessions.pop(_digest(kept), None)


def _digest(kept: str) -> bytes:
    return sha256(kept.encode("utf-8", "replace")).digest()
