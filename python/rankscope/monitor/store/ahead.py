"""Works on several pieces at once, and takes the results in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from itertools import chain, islice
from typing import TypeVar

S = TypeVar("S")
T = TypeVar("T")


def map_ahead(work: Callable[[T], S], pieces: Iterable[T], threads: int) -> Iterator[S]:
    """Do work on pieces by threads, and yield what it gives in the order of the pieces.

    At most one piece more than there are threads is held at a time.
    """
    coming = iter(pieces)
    first = [*islice(coming, 2 if threads > 1 else 0)]
    if len(first) < 2:
        yield from map(work, chain(first, coming))
        return
    context = copy_context()
    with ThreadPoolExecutor(threads, "rankscope-evaluate") as pool:
        waiting: deque[Future[S]] = deque()
        try:
            for piece in chain(first, coming):
                waiting.append(pool.submit(context.copy().run, work, piece))
                if len(waiting) > threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for each in waiting:
                each.cancel()


def read_ahead(pieces: Generator[T]) -> Iterator[T]:
    """Iterate over pieces while a thread makes the next one."""
    end = object()
    # The thread reads under the deadline of the caller.
    context = copy_context()

    def make_next() -> T | object:
        return next(pieces, end)

    with ThreadPoolExecutor(1, "rankscope-reader") as thread:
        try:
            coming = thread.submit(context.run, make_next)
            while (piece := coming.result()) is not end:
                coming = thread.submit(context.run, make_next)
                yield piece  # type: ignore[misc]  # everything but the end is a piece
        finally:
            thread.submit(context.run, pieces.close).result()
