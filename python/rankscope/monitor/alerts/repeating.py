"""A thread that does one thing again and again, until it is told to stop."""

from __future__ import annotations

import threading
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


class Repeater:
    """Does something every few seconds; one time never runs into the next.

    Args:
        do: What is done. What it raises is told, and it is done again.
        seconds: How long to wait in between.
        name: What the thread is called.
        complain: Is told of what was raised.
        rest: How many times as long as it took to wait at least, so that it leaves time to others.
        clock: Seconds that only grow.
    """

    def __init__(
        self,
        do: Callable[[], object],
        *,
        seconds: float,
        name: str,
        complain: Callable[[Exception], object],
        rest: float = 0.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._do = do
        self._seconds = seconds
        self._complain = complain
        self._rest = rest
        self._clock = clock
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self, seconds: float | None = None) -> bool:
        """End what is being done, begin it no more, and say whether it has ended.

        Args:
            seconds: How long to wait for that; as long as it takes, if left out.
        """
        self._ends.set()
        if self._thread.is_alive():
            self._thread.join(seconds)
        return not self._thread.is_alive()

    @property
    def is_ending(self) -> bool:
        """Whether it was told to stop."""
        return self._ends.is_set()

    def choose_rest(self, took: float) -> float:
        """Give for how many seconds to wait after a time that took so many."""
        return max(self._seconds, self._rest * took)

    def _run(self) -> None:
        while not self._ends.is_set():
            since = self._clock()
            try:
                self._do()
            except Exception as error:  # noqa: BLE001 - whatever it is, the next time may be better
                self._complain(error)
            self._ends.wait(self.choose_rest(self._clock() - since))
