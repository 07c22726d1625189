"""Shows the progress of long work: as a bar in a notebook, and as a line on a terminal."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager

from rankscope.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator
    from typing import Any, Self, TextIO, TypeVar

    from rankscope._inputs.recognition import Input
    from rankscope.typing import Progress

    Item = TypeVar("Item")

WIDTH = 30
"""The number of characters of a bar on a terminal."""
AFTER_SECONDS = 1.0
"""Shorter work shows nothing."""
BETWEEN_SECONDS = 0.1
"""The time between two drawings."""
MEGABYTE = 1_000_000


class ProgressBar:
    """Shows how much of some work is done, while its `with` block runs.

    Call it with the bytes that were read, or the steps that are done, and their total if it is
    known. It draws on standard error if that is a terminal. In a notebook it displays a bar, which
    stays at its last state. Elsewhere it shows nothing.

    Args:
        label: What is done, such as the name of a file.
        counts_steps: Whether it is called with steps, and not with bytes.
        after: The seconds after which the bar appears.
    """

    def __init__(
        self, label: str, *, counts_steps: bool = False, after: float | None = None
    ) -> None:
        self._label = label
        self._counts_steps = counts_steps
        self._start = time.monotonic()
        self._next = self._start + (AFTER_SECONDS if after is None else after)
        self._state: tuple[int, int | None] = (0, None)
        self._is_open = False
        self._shown: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if self._shown is not None:
            self._shown.update(self._make_bar("done" if kind is None else "stopped"))

    def __call__(self, done: int, total: int | None) -> None:
        """Draw the bar, if some time has passed since the last drawing."""
        self._state = (done, total)
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + BETWEEN_SECONDS
        if self._is_open:
            if self._shown is not None:
                self._shown.update(self._make_bar())
        else:
            self._is_open = True
            self._shown = _display(self._make_bar())

    def _make_bar(self, end: str = "") -> _Bar:
        done, total = self._state
        seconds = f"{time.monotonic() - self._start:,.0f} s"
        if not self._counts_steps:
            amount = f"{done / MEGABYTE:,.0f} MB"
        else:
            amount = f"{done:,} of {total:,}, {seconds}" if total else seconds
        return _Bar(self._label, amount, min(done / total, 1.0) if total else None, end)


class _Bar:
    """A bar as a terminal and a notebook show it.

    Args:
        label: What is done.
        amount: How much of it is done.
        share: The same from 0 to 1, if that is known.
        end: How the work ended; empty while it runs.
    """

    def __init__(self, label: str, amount: str, share: float | None, end: str) -> None:
        self._label = label
        self._amount = amount
        self._share = share
        self._end = end

    def write_line(self) -> str:
        """Return the line on a terminal, which is empty in the end."""
        if self._end:
            return ""
        share = self._share
        bar = "" if share is None else f"{'█' * round(share * WIDTH):░<{WIDTH}} {share:4.0%} "
        return f"{self._label} {bar}{self._amount}"

    def __repr__(self) -> str:
        return ", ".join(filter(None, [f"{self._label}: {self._amount}", self._end]))

    def _repr_html_(self) -> str:
        from html import escape  # noqa: PLC0415 - only notebooks ask for it

        text = f"<small>{escape(repr(self))}</small>"
        if self._end:
            return text
        value = "" if self._share is None else f' value="{self._share:.3f}"'
        return (
            f'<label><progress max="1"{value} style="vertical-align:middle"></progress> '
            f"{text}</label>"
        )


class _Line:
    """The line of a terminal on which a bar is drawn again and again."""

    def __init__(self, stream: TextIO, bar: _Bar) -> None:
        self._stream = stream
        self.update(bar)

    def update(self, bar: _Bar) -> None:
        """Draw another state of the bar."""
        self._stream.write(f"\r\x1b[K{bar.write_line()}")
        self._stream.flush()


def _display(bar: _Bar) -> Any:  # noqa: ANN401 - a line, or the handle that IPython returns
    """Show a bar in the notebook or on the terminal, and return what updates it, if anything."""
    ipython: Any = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    if getattr(shell, "kernel", None) is not None:
        return ipython.display.display(bar, display_id=True)
    is_terminal = sys.stderr is not None and sys.stderr.isatty()
    return _Line(sys.stderr, bar) if is_terminal else None


@contextmanager
def watch(found: Input, progress: Progress) -> Iterator[Callable[[int], None] | None]:
    """Yield a function to call with the bytes of an input that were read, or `None`."""
    if progress is None or progress is False:
        yield None
    elif progress is True:
        from rankscope.output.text import show  # noqa: PLC0415 - only where a bar is drawn

        total = found.size
        with ProgressBar(show(found.name)) as bar:
            yield lambda done: bar(done, total)
    elif callable(progress):
        total = found.size
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


def _check_shown(given: object) -> None:
    if not isinstance(given, bool):
        raise UsageError(
            f"expected progress to be True or False here, found {given!r}",
            hint="write progress=True to show a bar",
            code="bad_parameter",
        )
