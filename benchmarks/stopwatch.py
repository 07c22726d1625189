"""Seconds of the steps inside one measured process, and the one line it prints."""

from __future__ import annotations

import json
import time


class Stopwatch:
    """Time consecutive steps, from creation on.

    The steps are `load` and `evaluate`; a tool that reads and evaluates in one call has no `load`.
    Imports, and input that the caller is said to hold already, come before the creation.
    """

    def __init__(self) -> None:
        self._seconds: dict[str, float] = {}
        self._started = time.perf_counter()

    def lap(self, step: str) -> None:
        """End a step, and begin the next one.

        Args:
            step: Name of the step that ends.
        """
        now = time.perf_counter()
        self._seconds[step] = now - self._started
        self._started = now

    def report(self, means: dict[str, float]) -> None:
        """Print the seconds and the means as one line of JSON.

        Args:
            means: Mean of each measure, by its canonical name.
        """
        print(json.dumps({"seconds": self._seconds, "means": means}))
