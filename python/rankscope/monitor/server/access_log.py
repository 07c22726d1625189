"""The log: one line of JSON a request, in ASCII, without bodies, queries and keys.

Only known fields are written. Text that a client sent is not among them, except what was checked
before, such as the name of a route.
"""

from __future__ import annotations

import json
import logging
import os
import threading
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Self

from rankscope.monitor.events.times import format_time

MOST_FRAMES = 20
LAST_SECONDS = 0.3
TOGETHER_SECONDS = 0.02
"""For so long, lines are collected that are written together."""
LOGGERS = ("asyncio", "opentelemetry", "uvicorn.error")
"""Loggers of libraries that would write lines of their own into the log."""


class AccessLog:
    r"""Writes the log.

    Args:
        write: Takes a line, including its newline.
        now: Returns the time, in microseconds since 1970 in UTC.

    Examples:
        >>> AccessLog(lambda line: print(line, end=""), lambda: 0).write("start", {"host": "a\n"})
        {"time": "1970-01-01T00:00:00.000000Z", "event": "start", "host": "a\n"}
    """

    def __init__(self, write: Callable[[str], object], now: Callable[[], int]) -> None:
        self._write = write
        self._now = now

    def write(self, event: str, fields: Mapping[str, object]) -> None:
        """Write a line."""
        line = {"time": format_time(self._now()), "event": event, **fields}
        self._write(json.dumps(line) + "\n")

    @contextmanager
    def keep_log_records(self) -> Iterator[None]:
        """Write what libraries log as lines of this log, until the context ends.

        Their messages are left out, because they may quote a client. The line says where it was
        logged, and where an exception was raised.
        """
        handler = _LibraryHandler(self)
        loggers = [logging.getLogger(name) for name in LOGGERS]
        before = [logger.propagate for logger in loggers]
        for logger in loggers:
            logger.addHandler(handler)
            logger.propagate = False
        try:
            yield
        finally:
            for logger, propagates in zip(loggers, before, strict=True):
                logger.removeHandler(handler)
                logger.propagate = propagates


class LogWriter:
    r"""Writes lines in a thread of its own, so that a log that blocks holds up no request.

    When too many lines wait, new ones are dropped, and a later line tells how many.

    Args:
        write: Takes whole lines; it may block.
        most: How many lines may wait.

    Examples:
        >>> lines = []
        >>> with LogWriter(lines.append) as log:
        ...     log.write("first\n")
        ...     log.deliver("second\n")
        >>> "".join(lines).split()
        ['first', 'second']
    """

    def __init__(self, write: Callable[[str], object], most: int = 10_000) -> None:
        self._write = write
        self._most = most
        self._changed = threading.Condition()
        self._lines: deque[str] = deque()
        self._dropped = 0
        self._taken = self._written = 0
        self._error: OSError | None = None
        self._is_closing = False
        self._is_urgent = False
        self._thread = threading.Thread(target=self._run, name="rankscope-log", daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_raised: object) -> None:
        self.close()

    def write(self, line: str) -> None:
        """Queue a line, without waiting until it is written."""
        with self._changed:
            if self._is_closing:
                self._write_last(line)
            elif len(self._lines) >= self._most:
                self._dropped += 1
            else:
                self._append(line)

    def deliver(self, line: str) -> None:
        """Write a line that must not be dropped, and wait until it is written."""
        with self._changed:
            number = self._append(line)
            self._is_urgent = True
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._written >= number or not self._thread.is_alive())
            if self._error is not None:
                raise self._error

    def close(self, seconds: float = 2.0) -> None:
        """Write the lines that wait, for at most so many seconds."""
        with self._changed:
            self._is_closing = self._is_urgent = True
            self._changed.notify_all()
        self._thread.join(seconds)

    def _write_last(self, line: str) -> None:
        """Write a line while the process ends, unless that blocks."""

        def write() -> None:
            with suppress(OSError):
                self._write(line)

        writing = threading.Thread(target=write, daemon=True)
        writing.start()
        writing.join(LAST_SECONDS)

    def _append(self, line: str) -> int:
        self._lines.append(line)
        self._taken += 1
        if len(self._lines) == 1:
            self._changed.notify_all()
        return self._taken

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._lines or self._is_closing)
                # One turn of the thread for many requests costs each of them less.
                self._changed.wait_for(lambda: self._is_urgent, TOGETHER_SECONDS)
                self._is_urgent = self._is_closing
                lines, dropped = list(self._lines), self._dropped
                self._lines.clear()
                self._dropped = 0
            if dropped:
                lines.append(json.dumps({"event": "log.dropped", "lines": dropped}) + "\n")
            if not lines:
                return
            error = None
            try:
                self._write("".join(lines))
            except OSError as raised:
                error = raised  # the reader is gone, or the disk is full
            with self._changed:
                self._error = error
                self._written += len(lines) - bool(dropped)
                self._changed.notify_all()


def write_stderr(text: str) -> None:
    """Write to stderr without a buffer, so that a thread that blocks here holds no lock."""
    left = memoryview(text.encode())
    while left:
        left = left[os.write(2, left) :]


def trace_places(error: BaseException) -> list[str]:
    """Return where an error was raised, without its message, which may quote a request."""
    frames = traceback.extract_tb(error.__traceback__)[-MOST_FRAMES:]
    return [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames]


class _LibraryHandler(logging.Handler):
    """Writes the records of a library into a access_log."""

    def __init__(self, access_log: AccessLog) -> None:
        super().__init__(logging.WARNING)
        self._access_log = access_log

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record."""
        fields: dict[str, object] = {
            "level": record.levelname.lower(),
            "logger": record.name,
            "at": [f"{record.pathname}:{record.lineno} {record.funcName}"],
        }
        error = record.exc_info[1] if record.exc_info else None
        if error is not None:
            fields |= {"raised": type(error).__qualname__, "at": trace_places(error)}
        self._access_log.write("library", fields)
