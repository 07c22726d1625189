"""Deadlines for reads, which the database checks while it runs, and Python between queries."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from rankscope.errors import DeadlineError

_current: ContextVar[Deadline | None] = ContextVar("rankscope_deadline", default=None)


class Deadline:
    """The time by which a read has to finish; any thread can also stop it earlier.

    The read notices at its next check, and raises `DeadlineError`.

    Args:
        seconds: How long the read may take, from now on.
        clock: A monotonic clock, in seconds.

    Examples:
        >>> seconds = 0.0
        >>> deadline = Deadline(10, clock=lambda: seconds)
        >>> deadline.is_over
        False
        >>> seconds = 10.0
        >>> deadline.is_over, deadline.make_error().code
        (True, 'read_timeout')
    """

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._clock = clock
        self._ends = clock() + seconds
        self._is_stopped = False

    @property
    def is_over(self) -> bool:
        """Whether the time is over, or the read was stopped."""
        return self._is_stopped or self._clock() >= self._ends

    @property
    def seconds_left(self) -> float:
        """How long the read may still take; 0 when its time is over."""
        return 0.0 if self.is_over else max(self._ends - self._clock(), 0.0)

    def stop(self) -> None:
        """Stop the read at its next check, because the service is closing."""
        self._is_stopped = True

    def make_error(self) -> DeadlineError:
        """Return the error that a read raises when its deadline is over."""
        if self._is_stopped:
            return DeadlineError(
                "the read was stopped because the service is closing",
                hint="ask again once it runs",
                code="read_stopped",
            )
        return DeadlineError(
            f"the read did not finish within {self._seconds:g} seconds",
            hint="ask for a shorter time range, days instead of hours, or fewer slices",
            code="read_timeout",
        )


@contextmanager
def limit_reads(deadline: Deadline) -> Iterator[None]:
    """Apply a deadline to all reads of this thread or task in a block."""
    token = _current.set(deadline)
    try:
        yield
    finally:
        _current.reset(token)


def find_deadline() -> Deadline | None:
    """Return the deadline of this thread or task, `None` if there is none."""
    return _current.get()


def explain_stop() -> DeadlineError:
    """Return the error of a read that the database has interrupted."""
    deadline = find_deadline()
    if deadline is None:
        return DeadlineError("the read was interrupted", code="read_stopped")
    return deadline.make_error()


def check_deadline() -> None:
    """Raise an error if the deadline is over; loops over many rows call this now and then.

    Examples:
        >>> check_deadline()
        >>> with limit_reads(Deadline(0)):
        ...     check_deadline()
        Traceback (most recent call last):
        rankscope.errors.DeadlineError: the read did not finish within 0 seconds
        <BLANKLINE>
        Hint: ask for a shorter time range, days instead of hours, or fewer slices
    """
    deadline = _current.get()
    if deadline is not None and deadline.is_over:
        raise deadline.make_error()
