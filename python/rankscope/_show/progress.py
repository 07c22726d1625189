"""Shows the progress of long work with tqdm, which knows terminals and notebooks."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self, TypeVar

from rankscope.errors import UsageError

Item = TypeVar("Item")

if TYPE_CHECKING:
    from rankscope.typing import Progress


AFTER_SECONDS = 1.0
"""Shorter work shows nothing."""
LONGEST_LABEL = 40


class ProgressBar:
    """Shows how much of some work is done, while its `with` block runs.

    Call it with the bytes that were read, or the steps that are done, and their total if it is
    known. It shows nothing where standard error is neither a terminal nor a notebook's.

    Args:
        label: What is done, such as the name of a file.
        counts_steps: Whether it is called with steps, and not with bytes.
        after: The seconds after which the bar appears.
    """

    def __init__(
        self, label: str, *, counts_steps: bool = False, after: float | None = None
    ) -> None:
        if len(label) > LONGEST_LABEL:
            label = f"…{label[1 - LONGEST_LABEL :]}"  # of a path, the end says more
        unit = {"unit": " steps"} if counts_steps else {"unit": "B", "unit_scale": True}
        self._settings: dict[str, Any] = {"desc": label, "leave": False, "disable": None, **unit}
        self._start = time.monotonic() + (AFTER_SECONDS if after is None else after)
        self._bar: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()

    def __call__(self, done: int, total: int | None) -> None:
        """Show how much is done."""
        if self._bar is None:
            if sys.stderr is None or time.monotonic() < self._start:
                return
            from tqdm.auto import tqdm

            self._bar = tqdm(total=total, file=sys.stderr, **self._settings)
        self._bar.total = total
        self._bar.update(done - self._bar.n)


@contextmanager
def watch(
    name: str, find_size: Callable[[], int | None], progress: Progress
) -> Iterator[Callable[[int], None] | None]:
    """Yield a function to call with the bytes that were read of what has this name, or `None`."""
    if progress is None or progress is False:
        yield None
    elif progress is True:
        from rankscope._show.table import show

        total = find_size()
        with ProgressBar(show(name)) as bar:
            yield lambda done: bar(done, total)
    elif callable(progress):
        total = find_size()
        yield lambda done: progress(done, total)
    else:
        raise UsageError(
            f"expected progress to be True, False or a function, found {progress!r}",
            hint="write progress=True to show a bar",
            code="bad_parameter",
        )


def follow(items: Collection[Item], label: str, *, is_shown: bool) -> Iterator[Item]:
    """Yield items, and show how many of them are done."""
    _check_shown(is_shown)
    if not is_shown:
        yield from items
        return
    with ProgressBar(label, counts_steps=True) as bar:
        for done, item in enumerate(items):
            bar(done, len(items))
            yield item
            bar(done + 1, len(items))


@contextmanager
def tick(label: str, *, is_shown: bool) -> Iterator[Callable[[], None] | None]:
    """Yield a function that shows the time when it is called from time to time, or `None`."""
    _check_shown(is_shown)
    if not is_shown:
        yield None
        return
    with ProgressBar(label, counts_steps=True) as bar:
        yield lambda: bar(0, None)


def _check_shown(progress: object) -> None:
    if not isinstance(progress, bool):
        raise UsageError(
            f"expected progress to be True or False here, found {progress!r}",
            hint="write progress=True to show a bar",
            code="bad_parameter",
        )
