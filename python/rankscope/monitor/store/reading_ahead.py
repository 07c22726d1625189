"""Reads the next piece while the one before is worked on."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from typing import TypeVar

    T = TypeVar("T")


def read_ahead(pieces: Generator[T]) -> Iterator[T]:
    """Give what comes, and let a thread of its own make the next.

    Args:
        pieces: Makes them; it is closed in the end, however that comes.
    """
    nothing = object()
    # The thread reads under the deadline of the request.
    context = copy_context()

    def make_next() -> T | object:
        return next(pieces, nothing)

    with ThreadPoolExecutor(1, "rankscope-reader") as thread:
        try:
            coming = thread.submit(context.run, make_next)
            while (piece := coming.result()) is not nothing:
                coming = thread.submit(context.run, make_next)
                yield piece  # type: ignore[misc]  # what is not nothing is a piece
        finally:
            thread.submit(context.run, pieces.close).result()
