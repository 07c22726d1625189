"""Seconds of the steps inside one measured process, and the one line it prints."""

from __future__ import annotations

import json
import time


class Stopwatch:
    """Time consecutive steps, from creation on.

    The steps are `import`, `load` and `evaluate`; a tool that reads and evaluates in one call
    has no `load`. The total is that from input to values: all steps but the import.
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

    def restart(self) -> None:
        """Begin the next step now, so that what was done since the last one is not counted."""
        self._started = time.perf_counter()

    def report(self, means: dict[str, float]) -> None:
        """Print the seconds and the means as one line of JSON.

        Args:
            means: Mean of each measure, by its canonical name.
        """
        steps = {step: took for step, took in self._seconds.items() if step != "import"}
        seconds = {**self._seconds, "total": sum(steps.values())}
        print(json.dumps({"seconds": seconds, "means": means}))
