"""Seconds of the steps inside one measured process, and the one line it prints."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    T = TypeVar("T")

# A short call is timed so often, or until this many seconds have passed.
CALLS = 15
ENOUGH = 3.0


class Stopwatch:
    """Time consecutive steps, from creation on.

    The steps are `load` and `evaluate`; a tool that reads and evaluates in one call has no `load`.
    Imports, and input that the caller is said to hold already, come before the creation.
    """

    def __init__(self) -> None:
        self._seconds: dict[str, float] = {}
        self._cpu: dict[str, float] = {}
        self._started = time.perf_counter()

    def lap(self, step: str) -> None:
        """End a step, and begin the next one.

        Args:
            step: Name of the step that ends.
        """
        now = time.perf_counter()
        self._seconds[step] = now - self._started
        self._started = now

    def repeat(self, step: str, call: Callable[[], T]) -> T:
        """Time a step that is too short to be timed once, by the median of several calls.

        Args:
            step: Name of the step; its seconds are those of the middle call, of two the shorter.
            call: What is called again and again, always with the same input.

        Returns:
            What the last call returned.
        """
        seconds: list[float] = []
        cpu: list[float] = []
        while True:
            started, cpu_started = time.perf_counter(), time.process_time()
            result = call()
            seconds.append(time.perf_counter() - started)
            cpu.append(time.process_time() - cpu_started)
            if len(seconds) == CALLS or sum(seconds) >= ENOUGH:
                break
        middle = (len(seconds) - 1) // 2
        self._seconds[step] = sorted(seconds)[middle]
        self._cpu[f"{step}_cpu"] = sorted(cpu)[middle]
        self._started = time.perf_counter()
        return result

    def report(self, means: dict[str, float]) -> None:
        """Print the seconds, those of processor time, and the means as one line of JSON.

        Args:
            means: Mean of each measure, by its canonical name.
        """
        print(json.dumps({"seconds": self._seconds, "cpu": self._cpu, "means": means}))
