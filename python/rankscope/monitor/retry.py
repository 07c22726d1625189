"""When to try again what failed: the one rule for clients, ingestion and notifications."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """How long to wait after each failure in a row.

    Args:
        waits: The wait after each failure, in any unit. The last one repeats.
        least: The share of the wait that is always waited.
        spread: The share that is drawn at random, so that not all clients come back at once.

    Examples:
        >>> policy = RetryPolicy(waits=(1.0, 2.0, 4.0), least=0.5, spread=0.5)
        >>> [policy.wait(failures, chance=1.0) for failures in (1, 2, 3, 9)]
        [1.0, 2.0, 4.0, 4.0]
        >>> policy.wait(1, chance=0.0)
        0.5
    """

    waits: tuple[float, ...]
    least: float
    spread: float

    def wait(self, failures: int, chance: float) -> float:
        """Return how long to wait."""
        longest = self.waits[min(failures, len(self.waits)) - 1]
        return longest * (self.least + self.spread * chance)


def double(first: float, most: float) -> tuple[float, ...]:
    """Return waits that double, up to a longest one.

    Examples:
        >>> double(0.5, 3.0)
        (0.5, 1.0, 2.0, 3.0)
    """
    waits = [first]
    while waits[-1] < most:
        waits.append(min(2 * waits[-1], most))
    return tuple(waits)
