"""The log: one line of JSON a request, in ASCII, without bodies, queries and keys.

Only fields that are known here are written, and text that a client sent is none of them, but for
what was checked before, such as the name of a route.
"""

from __future__ import annotations

import json
import sys
import traceback

from rankscope.monitor.times import format_time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

MOST_FRAMES = 20


class Journal:
    r"""Writes the log.

    Args:
        write: Takes a line, its end with it.
        now: Gives the time, in microseconds since 1970 in UTC.

    Examples:
        >>> Journal(lambda line: print(line, end=""), lambda: 0).write("start", {"host": "a\n"})
        {"time": "1970-01-01T00:00:00.000000Z", "event": "start", "host": "a\n"}
    """

    def __init__(self, write: Callable[[str], object], now: Callable[[], int]) -> None:
        self._write = write
        self._now = now

    def write(self, event: str, fields: Mapping[str, object]) -> None:
        """Write a line.

        Args:
            event: What happened.
            fields: More of it; a `Secret` is refused, as is all else that JSON has not.
        """
        line = {"time": format_time(self._now()), "event": event, **fields}
        self._write(json.dumps(line) + "\n")


def write_stderr(line: str) -> None:
    """Write a line where logs go."""
    sys.stderr.write(line)
    sys.stderr.flush()


def trace_places(error: BaseException) -> list[str]:
    """Give where an error came from; not what it says, for that may be what somebody sent."""
    frames = traceback.extract_tb(error.__traceback__)[-MOST_FRAMES:]
    return [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames]
