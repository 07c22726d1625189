"""Draws a progress bar on a terminal for work that takes longer than a second."""

from __future__ import annotations

import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Self

WIDTH = 30
AFTER_SECONDS = 1.0
MEGABYTE = 1_000_000


class ProgressBar:
    """Shows how much of a file has been read, while its `with` block runs.

    Call it with the number of bytes read, and the size of the file if it is known.
    """

    def __init__(self, label: str) -> None:
        self._label = label
        self._start = time.monotonic()
        self._is_shown = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._is_shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def __call__(self, done: int, total: int | None) -> None:
        """Draw the bar, once a second has passed."""
        if time.monotonic() - self._start < AFTER_SECONDS or not sys.stderr.isatty():
            return
        self._is_shown = True
        share = min(done / total, 1.0) if total else 0.0
        bar = ("█" * round(share * WIDTH)).ljust(WIDTH, "░") if total else ""
        percent = f"{share:4.0%} " if total else ""
        line = f"{self._label} {bar} {percent}{done / MEGABYTE:,.0f} MB"
        sys.stderr.write(f"\r\x1b[K{line}")
        sys.stderr.flush()
