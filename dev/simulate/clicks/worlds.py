"""Click logs of policies whose values are known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bandit:
    """Two policies that show one of several items.

    Args:
        logged: The probability of each item under the old policy.
        target: The probability of each item under the new policy.
        rates: The click rate of each item.
    """

    logged: Numbers
    target: Numbers
    rates: Numbers

    @property
    def value(self) -> float:
        """The click rate of the new policy."""
        return float(self.target @ self.rates)

    @property
    def share(self) -> float:
        """The effective share of a log: how many rows of equal weight a row counts as."""
        return float(1 / (self.target**2 / self.logged).sum())

    def draw(self, count: int, random: Generator) -> dict[str, Any]:
        """Return a log of the old policy."""
        items = random.choice(len(self.logged), size=count, p=self.logged)
        return {
            "item": items,
            "click": (random.random(count) < self.rates[items]).astype(np.int64),
            "propensity": self.logged[items],
            "target": self.target[items],
        }


def make_bandit(shape: str, share: float, rate: float) -> Bandit:
    """Return policies with an effective share and a click rate.

    Args:
        shape: `"few"` has an old policy that rarely shows what the new one always shows. `"greedy"`
            has an old policy that mostly shows one item, and a new one that shows all alike.
            `"rare"` has a new policy that mostly prefers the better one of two items, but gives a
            tenth of its choices to a third item, which the old policy hardly shows.
            `"wide"` has two hundred items with weights from a lognormal distribution.
        share: The effective share of the log.
        rate: The click rate of the new policy.
    """
    if shape == "few":
        logged, target = np.array([share, 1 - share]), np.array([1.0, 0.0])
        rates = np.array([rate, rate / 2])
    elif shape == "greedy":
        logged = np.append(1 - share, np.full(19, share / 19))
        target = np.full(20, 0.05)
        rates = np.linspace(0.5, 1.5, 20) * rate
    elif shape == "rare":
        target = np.array([0.88, 0.02, 0.1])
        rarely = target[2] ** 2 / (1 / share - 2 * (target[:2] ** 2).sum())  # or very nearly
        logged = np.array([0.5 - rarely, 0.5, rarely])
        rates = np.array([1, 0.5, 1]) * rate / float(target @ [1, 0.5, 1])
    else:
        random = np.random.default_rng(5)
        weights = np.exp(np.sqrt(np.log(1 / share)) * random.normal(size=200))
        logged = np.full(200, 1 / 200)
        target = weights / weights.sum()
        rates = np.clip(rate * (0.5 + random.random(200)), 0, 1)
        rates *= rate / float(target @ rates)
    return Bandit(logged=logged, target=target, rates=rates)
