"""Sums that don't depend on the order; quantiles, proportions and ratios; pseudorandom numbers.

For a sum, each number is split into a high part, which is a multiple of a power of two so large
that adding up all high parts is exact, and a rest that is split in the same way (Rump, Ogita and
Oishi, *Accurate floating-point summation part I: faithful rounding*, 2008, `ExtractVector`).
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import methodcaller
from statistics import NormalDist
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Ends: TypeAlias = tuple[float, float]


BLOCK = 2**20
"""How many numbers are added up at once."""


def take_high_part(values: NDArray[np.float64], terms: int) -> NDArray[np.float64]:
    """Return values rounded so that sums of up to `terms` of them are exact.

    Examples:
        >>> import numpy as np
        >>> third = take_high_part(np.array([1 / 3]), 2**20)
        >>> bool(abs(third[0] - 1 / 3) < 2**-32), float(third[0] % 2**-32)
        (True, 0.0)
    """
    top = max(-float(values.min(initial=0.0)), float(values.max(initial=0.0)))
    if top == 0:
        return values
    unit = math.ldexp(1.0, math.frexp(top)[1] + (terms + 2).bit_length())
    high = unit + values
    high -= unit
    return high


def sum_groups(
    values: NDArray[np.float64], groups: NDArray[Any], count: int
) -> NDArray[np.float64]:
    """Return the sum of each group, rounded once, whatever the order.

    Examples:
        >>> import numpy as np
        >>> sum_groups(np.array([1e20, 0.1, -1e20]), np.array([0, 0, 0]), 2).tolist()
        [0.1, 0.0]
    """
    (total,) = sum_groupings(values, [groups], [count])
    return total


def sum_groupings(
    values: NDArray[np.float64], groupings: Sequence[NDArray[Any]], counts: Sequence[int]
) -> list[NDArray[np.float64]]:
    """Return the sums of several groupings of the same values, as `sum_groups` does of one."""
    sums = [[[0.0] * count] for count in counts]
    for part in _peel(values):
        for of_parts, groups, count in zip(sums, groupings, counts, strict=True):
            of_parts.append(_count(groups, part, count).tolist())
    # Sums of large and of small parts can cancel each other, so these are added up exactly, too.
    return [np.array([*map(math.fsum, zip(*of_parts, strict=True))]) for of_parts in sums]


def _count(groups: NDArray[Any], part: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    """Return the exact sums of parts by group, a block at a time, which limits memory."""
    total = np.zeros(count)
    for first in range(0, len(groups), BLOCK):
        block = slice(first, first + BLOCK)
        total += np.bincount(groups[block], part[block], minlength=count)
    return total


def sum_all(values: NDArray[np.float64]) -> float:
    """Return the same sum as `math.fsum`, but faster.

    Examples:
        >>> import numpy as np
        >>> sum_all(np.array([1e20, 0.1, -1e20]))
        0.1
    """
    return math.fsum(float(part.sum()) for part in _peel(values))


def split_exactly(values: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    """Return the parts of each value, smallest first, whose sums are exact.

    Examples:
        >>> import numpy as np
        >>> parts = split_exactly(np.array([1 / 3, 1e-9]))
        >>> len(parts), sum(parts).tolist() == [1 / 3, 1e-9]
        (2, True)
    """
    return [*_peel(values)][::-1]


def _peel(values: NDArray[np.float64]) -> Iterator[NDArray[np.float64]]:
    """Yield the parts of each value, largest first."""
    rest = values
    while rest.any():
        part = take_high_part(rest, len(rest))
        yield part
        rest = rest - part


def quantile_of(level: float) -> float:
    """Return the normal quantile for a two-sided interval at a level."""
    return NormalDist().inv_cdf((1 + level) / 2)


def wilson(share: float, count: float, quantile: float) -> Ends:
    """Return the score interval of a proportion (Wilson, *Probable inference*, 1927)."""
    square = quantile * quantile
    centre = (share + square / (2 * count)) / (1 + square / count)
    spread = share * (1 - share) / count + square / (4 * count * count)
    half = quantile * math.sqrt(spread) / (1 + square / count)
    # At a share of 0 or 1 the end is that share, but for rounding.
    return (
        0.0 if share == 0 else max(0.0, centre - half),
        1.0 if share == 1 else min(1.0, centre + half),
    )


def divide(
    top: float, ends: Ends, bottom: float, bottom_ends: Ends, correlation: float = 0.0
) -> Ends:
    """Return the interval of a ratio, derived from the intervals of its parts.

    This is MOVER-R of Donner and Zou, *Closed-form confidence intervals for functions of the normal
    mean and standard deviation*, Statistical Methods in Medical Research 21(4), 2012.
    """
    (low, high), (bottom_low, bottom_high) = ends, bottom_ends
    product = top * bottom - correlation * (top - low) * (bottom_high - bottom)
    near, far = low * (2 * top - low), bottom_high * (2 * bottom - bottom_high)
    lower = near and near / (product + math.sqrt(max(0.0, product * product - near * far)))
    product = top * bottom - correlation * (high - top) * (bottom - bottom_low)
    far, near = high * (2 * top - high), bottom_low * (2 * bottom - bottom_low)
    upper = (product + math.sqrt(max(0.0, product * product - far * near))) / near
    return lower, upper


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantile:
    """A quantile of values, with its confidence interval."""

    value: float
    lower: float
    upper: float
    effective: float


def estimate_quantile(
    values: NDArray[np.float64],
    probability: float,
    *,
    level: float = 0.95,
    low: float = -math.inf,
    high: float = math.inf,
    clusters: NDArray[np.int64] | None = None,
) -> Quantile:
    """Return a quantile and its interval, whose ends are two of the sorted values.

    The interval covers the quantile of the population with at least the probability `level`,
    whatever the distribution (David and Nagaraja, *Order Statistics*, 2003, section 7.1). With
    clusters, the sample counts as the number of independent values for which the share of values
    above the quantile would vary as much (Korn and Graubard, *Confidence intervals for proportions
    with small expected number of positive counts estimated from survey data*, 1998).

    Examples:
        >>> import numpy as np
        >>> quantile = estimate_quantile(np.arange(1.0, 101.0), 0.95)
        >>> quantile.value, quantile.lower, quantile.upper
        (95.0, 90.0, 100.0)
    """
    ordered = np.sort(values)
    count = len(ordered)
    at = _find_rank(probability, count)
    value = float(ordered[at])
    effective = float(count)
    if clusters is not None:
        effective = count / find_design_effect(values > value, clusters)
    whole = max(1, math.floor(effective))
    first, last = _choose_ranks(whole, probability, (1 - level) / 2)
    if whole < count:
        # The same shares of the sorted values, rounded outwards.
        first = math.floor(first / whole * count)
        last = count + 1 if last > whole else math.ceil(last / whole * count)
    return Quantile(
        value=value,
        lower=low if first < 1 else float(ordered[first - 1]),
        upper=high if last > count else float(ordered[last - 1]),
        effective=effective,
    )


def find_design_effect(is_above: NDArray[np.bool_], clusters: NDArray[np.int64]) -> float:
    """Return how many times clusters inflate the variance of a proportion, at least 1.

    If no value or every value is above, the data don't show it, and each cluster counts as one
    value.
    """
    count = len(is_above)
    _, codes = np.unique(clusters, return_inverse=True)
    units = int(codes.max()) + 1
    share = float(is_above.mean())
    if share in {0.0, 1.0} or units < 2:
        return count / units
    residuals = np.bincount(codes, weights=is_above - share)
    variance = units / (units - 1) * float((residuals**2).sum()) / count**2
    return max(1.0, variance / (share * (1 - share) / count))


def count_needed(share: float, probability: float, *, level: float, power: float) -> int | None:
    """Return how many independent values show on which side of a limit a quantile is.

    The share of values above the limit is compared with 1 − `probability` by the normal
    approximation (Fleiss, Levin and Paik, *Statistical Methods for Rates and Proportions*, 2003,
    section 2.4).

    Examples:
        >>> count_needed(0.02, 0.95, level=0.95, power=0.8)
        331
        >>> count_needed(0.05, 0.95, level=0.95, power=0.8) is None
        True
    """
    allowed = 1 - probability
    if math.isclose(share, allowed, rel_tol=1e-9):
        return None
    spread = quantile_of(level) * math.sqrt(allowed * probability)
    spread += quantile_of(2 * power - 1) * math.sqrt(share * (1 - share))
    needed = math.ceil((spread / (share - allowed)) ** 2)
    # With fewer values than this, the interval has no upper end.
    least = math.ceil(math.log((1 - level) / 2) / math.log(probability))
    return max(needed, least) if share < allowed else needed


def _find_rank(probability: float, count: int) -> int:
    """Return the place of a quantile in sorted values, counted from 0."""
    # The product of two decimal numbers can be just above a whole number: 0.95 * 100.
    return min(count, max(1, math.ceil(round(probability * count, 9)))) - 1


def _choose_ranks(count: int, probability: float, tail: float) -> tuple[int, int]:
    """Return the ranks of the ends of an interval, counted from 1.

    The number of values at or below the quantile has a binomial distribution. A rank of 0 or
    `count` + 1 means that the sample is too small for this end.
    """
    steps = np.arange(1, count + 1)
    ratios = np.log(count - steps + 1) - np.log(steps)
    logs = np.concatenate([[0.0], np.cumsum(ratios + math.log(probability / (1 - probability)))])
    chances = np.exp(logs + count * math.log1p(-probability))
    below = np.cumsum(chances)  # P(B <= j)
    above = np.cumsum(chances[::-1])[::-1]  # P(B >= j)
    # The largest j with P(B < j) <= tail, and the smallest k with P(B >= k) <= tail.
    first = int((below <= tail).sum())
    last = count + 1 - int((above <= tail).sum())
    return first, last


STEP = 0x9E3779B97F4A7C15


def number_texts(texts: Iterable[str]) -> NDArray[np.uint64]:
    """Return a number for each text, equal for equal texts, to pass to `scatter`."""
    written = map(methodcaller("encode", "utf-8", "surrogatepass"), texts)
    return np.fromiter(map(zlib.crc32, written), dtype=np.uint64)


def scatter(numbers: NDArray[np.uint64], seed: int) -> NDArray[np.uint64]:
    """Return a pseudorandom 64-bit number for each number.

    This is the output function of SplitMix64 (Steele, Lea and Flood, *Fast splittable pseudorandom
    number generators*, 2014), twice: once for the seed and once for the number.
    """
    start = _finish(np.array([(seed * STEP + STEP) % 2**64], dtype=np.uint64))
    return _finish((numbers + np.uint64(1)) * np.uint64(STEP) + start)


def _finish(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    # Products of arrays wrap around, as they should here.
    mixed = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


def below(numbers: NDArray[np.uint64], count: int) -> NDArray[np.int64]:
    """Return a number below `count`, which is below 2^32, for each 64-bit number."""
    drawn = (numbers >> np.uint64(32)) * np.uint64(count) >> np.uint64(32)
    return drawn.astype(np.int64)
