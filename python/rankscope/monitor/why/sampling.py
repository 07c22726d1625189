"""How far a trace of a sample of users may be from that of all users."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rankscope.monitor.why.cluster_bootstrap import Statistics
from rankscope.monitor.why.result import Sampling


@dataclass(frozen=True, slots=True)
class Sampled:
    """What two windows are a sample of.

    Args:
        rates: The probability that a user is in the sample, by window.
        rankings: How many rankings the windows have, sampled or not.
    """

    rates: tuple[float, float]
    rankings: tuple[int, int]


def measure_sampling(
    sampled: Sampled,
    totals: NDArray[np.float64],
    statistics: Statistics,
    parts: Sequence[str],
    causes: Sequence[str],
) -> Sampling:
    """Return the standard errors of a trace that are due to its sample.

    They are those of a jackknife over bags of users. Users who were not sampled are what is
    missing, so that the variance of each window is multiplied by 1 less its rate: with all users,
    nothing is uncertain.
    """
    count = len(totals)
    many = len(parts) + len(causes)
    if count < 2:
        errors = [math.nan] * (many + len(causes))
    else:
        whole = totals.sum(axis=0)

        def measure(summed: NDArray[np.float64]) -> NDArray[np.float64]:
            found = statistics(summed)[..., :many]
            change = np.where(found[..., :1] == 0, np.nan, found[..., :1])
            return np.concatenate([found, found[..., len(parts) :] / change], axis=-1)

        value = measure(whole)
        influences = np.zeros((count, len(value)))
        for window, rate in enumerate(sampled.rates):
            left = np.broadcast_to(whole, totals.shape).copy()
            left[:, :, window] -= totals[:, :, window]
            influences += math.sqrt(1 - rate) * (value - measure(left))
        influences -= influences.mean(axis=0)
        variances = (influences**2).sum(axis=0) * (count - 1) / count
        errors = np.sqrt(variances).tolist()

    def name(names: Sequence[str], first: int) -> dict[str, float | None]:
        found = zip(names, errors[first : first + len(names)], strict=True)
        return {each: None if math.isnan(error) else error for each, error in found}

    return Sampling(
        rates=sampled.rates,
        rankings=sampled.rankings,
        errors=name(parts, 0),
        contributions=name(causes, len(parts)),
        shares=name(causes, many),
    )
