"""Measures of the C/W/L framework: models of how a user reads on from each rank to the next.

The weight of a rank is the probability that the user reads it. Between two documents with a gain,
the weights only depend on the rank, so they are added up at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TypeAlias, TypedDict, Unpack

from tests.reference.logarithm import log2
from tests.reference.query import Query

User: TypeAlias = Callable[[Sequence[float]], "Sums"]


class Scale(TypedDict):
    """What all measures of this family take: the scale of the grades, and what to report."""

    min_rel: float
    max_rel: float
    value: str
    residual: bool


FEW = 16
"""Inverse squares of smaller numbers are added up one by one."""


@dataclass(frozen=True, slots=True)
class Sums:
    """What a user gets from a list: sums over its ranks, and the weight of the rank after it."""

    items: float
    utility: float
    gain: float
    after: float


def sdcg(query: Query, *, k: int, **scale: Unpack[Scale]) -> float:
    """Return the discounted gain as a share of that of `k` documents with the highest gain."""
    return measure(query, read_all([1 / log2(rank + 1) for rank in range(1, k + 1)]), k, **scale)


def bpm(query: Query, *, k: int, T: float, **scale: Unpack[Scale]) -> float:
    """Return the mean gain of the documents read until the gain `T` is found, or to rank `k`."""

    def user(gains: Sequence[float]) -> Sums:
        found = list(accumulate(gains))
        last = next((rank for rank, gain in enumerate(found, start=1) if gain >= T), k)
        return Sums(items=last, utility=found[last - 1], gain=found[last - 1], after=0.0)

    return measure(query, user, k, **scale)


def inst(query: Query, *, k: int, T: float, **scale: Unpack[Scale]) -> float:
    """Return the gain per document of a user who reads on more likely the less is found of `T`."""

    def user(gains: Sequence[float]) -> Sums:
        items = utility = total = 0.0
        weight, last, shift = 1.0, 0, 2 * T - 1
        for rank, gain in enumerate(gains, start=1):
            if gain == 0:
                continue
            first = last + 1 + shift
            items += weight * (first * first) * inverse_squares(first, rank - last - 1)
            weight *= square(first / (rank + shift))
            items += weight
            utility += weight * gain
            total += gain
            shift = 2 * T - total - 1
            weight *= square((rank + shift) / (rank + 1 + shift))
            last = rank
        first = last + 1 + shift
        items += weight * (first * first) * inverse_squares(first, k - last)
        return Sums(items, utility, total, after=weight * square(first / (k + 1 + shift)))

    return measure(query, user, k, **scale)


def insq(query: Query, *, k: int, T: float, **scale: Unpack[Scale]) -> float:
    """Return the gain per document of a user who reads on more likely at each rank."""
    *weights, after = patience(T, k + 1)
    return measure(query, read_all(weights, after), k, **scale)


def nerr8(query: Query, *, k: int, **scale: Unpack[Scale]) -> float:
    """Return the gain per document of a user who stops with the probability of each gain."""
    return measure(query, read_until_satisfied([1.0] * k), k, **scale)


def nerr9(query: Query, *, k: int, **scale: Unpack[Scale]) -> float:
    """Return the same for a user who continues with the probability i / (i + 1) in addition."""
    return measure(query, read_until_satisfied([1 / rank for rank in range(1, k + 1)]), k, **scale)


def nerr10(query: Query, *, k: int, p: float, **scale: Unpack[Scale]) -> float:
    """Return the same for a user who continues with the probability `p` in addition."""
    *weights, after = accumulate([1.0] + [p] * k, lambda weight, p: weight * p)
    return measure(query, read_until_satisfied(weights, after), k, **scale)


def nerr11(query: Query, *, k: int, T: float, **scale: Unpack[Scale]) -> float:
    """Return the same for a user who continues like that of INSQ in addition."""
    *weights, after = patience(T, k + 1)
    return measure(query, read_until_satisfied(weights, after), k, **scale)


def cwl_p(query: Query, *, k: int, **scale: Unpack[Scale]) -> float:
    """Return the mean gain of the first `k` documents."""
    return measure(query, read_all([1.0] * k), k, **scale)


def cwl_rr(query: Query, *, k: int, **scale: Unpack[Scale]) -> float:
    """Return the gain per document of a user who stops at the first document with a gain."""

    def user(gains: Sequence[float]) -> Sums:
        rank, gain = next(
            ((rank, gain) for rank, gain in enumerate(gains, 1) if gain > 0), (k, 0.0)
        )
        return Sums(items=rank, utility=gain, gain=gain, after=float(gain == 0))

    return measure(query, user, k, **scale)


def cwl_ap(query: Query, *, k: int, **scale: Unpack[Scale]) -> float:
    """Return the gain per document of a user who knows what is still to come."""

    def user(gains: Sequence[float]) -> Sums:
        to_come = utility = total = 0.0
        for rank, gain in reversed(list(enumerate(gains, start=1))):
            if gain > 0:
                to_come += gain / rank
                utility += to_come * gain
                total += gain
        if to_come == 0:
            return Sums(1.0, 0.0, 0.0, 0.0)
        return Sums(items=total / to_come, utility=utility / to_come, gain=total, after=0.0)

    return measure(query, user, k, **scale)


def cwl_rbp(query: Query, *, k: int, p: float, **scale: Unpack[Scale]) -> float:
    """Return the gain per document of a user who continues with the probability `p`."""
    *weights, after = accumulate([1.0] + [p] * k, lambda weight, p: weight * p)
    return measure(query, read_all(weights, after), k, **scale)


def tbg(query: Query, *, k: int, halflife: float, cost: float, **scale: Unpack[Scale]) -> float:
    """Return the gain per document of a user who continues less likely with time."""
    return measure(
        query, read_all([math.exp2(-cost * rank / halflife) for rank in range(k)]), k, cost, **scale
    )


def u(query: Query, *, k: int, L: float, cost: float, **scale: Unpack[Scale]) -> float:
    """Return the gain per document of a user whose attention decreases with the text read."""
    return measure(
        query, read_all([max(0.0, 1 - cost * rank / L) for rank in range(k)]), k, cost, **scale
    )


def ift(
    query: Query,
    *,
    k: int,
    stops_by: str,
    T: float,
    b1: float,
    R1: float,
    A: float,
    b2: float,
    R2: float,
    cost: float,
    **scale: Unpack[Scale],
) -> float:
    """Return the gain per document of a user who stops by what is found and what it costs."""

    def user(gains: Sequence[float]) -> Sums:
        items = utility = found = 0.0
        weight = 1.0
        for rank, gain in enumerate(gains, start=1):
            items += weight
            utility += weight * gain
            found += gain
            for_goal = 1 - 1 / (1 + b1 * exp((T - found) * R1))
            for_rate = 1 / (1 + b2 * exp((A - found / (rank * cost)) * R2))
            weight *= (1.0 if stops_by == "rate" else for_goal) * (
                1.0 if stops_by == "goal" else for_rate
            )
        return Sums(items, utility, found, after=weight)

    return measure(query, user, k, cost, **scale)


def measure(
    query: Query,
    user: User,
    k: int,
    cost: float = 1.0,
    *,
    min_rel: float,
    max_rel: float,
    value: str,
    residual: bool,
) -> float:
    """Return what is reported of a user who reads the first `k` ranks."""

    def gain(grade: float) -> float:
        return (min(max(grade, 0.0, min_rel), max_rel) - min_rel) / (max_rel - min_rel)

    def find(unknown: float) -> float:
        grades = [*query.ranking[:k], *[None] * (k - len(query.ranking))]
        gains = [unknown if grade is None else gain(grade) for grade in grades]
        return report(user(gains), k, value, cost)

    of_gains = value in {"utility", "total_utility"}
    if of_gains and not residual and not any(gain(grade) > 0 for grade in query.judged):
        return math.nan
    return find(1.0) - find(0.0) if residual else find(0.0)


def report(sums: Sums, k: int, value: str, cost: float) -> float:
    """Return one of the five values that are reported of a user."""
    match value:
        case "utility":
            return sums.utility / sums.items
        case "total_utility":
            return sums.utility - sums.after * sums.gain
        case "cost":
            return cost
        case "total_cost":
            return cost * (sums.items - sums.after * k)
        case "items":
            return float(sums.items)
    raise ValueError(value)


def read_all(weights: Sequence[float], after: float = 0.0) -> User:
    """Return a user who reads on whatever is found."""

    def user(gains: Sequence[float]) -> Sums:
        utility = total = 0.0
        for gain, weight in zip(gains, weights, strict=True):
            utility += weight * gain
            total += gain
        *_, items = accumulate(weights)
        return Sums(items, utility, total, after)

    return user


def read_until_satisfied(weights: Sequence[float], after: float = 0.0) -> User:
    """Return a user who stops at each document with the probability of its gain."""
    before = list(accumulate(weights, initial=0.0))

    def user(gains: Sequence[float]) -> Sums:
        items = utility = total = 0.0
        stays, last = 1.0, 0
        for rank, gain in enumerate(gains, start=1):
            if gain == 0:
                continue
            items += stays * (before[rank] - before[last])
            utility += stays * weights[rank - 1] * gain
            total += gain
            stays *= 1 - gain
            last = rank
            if stays == 0:
                return Sums(items, utility, total, 0.0)
        items += stays * (before[-1] - before[last])
        return Sums(items, utility, total, stays * after)

    return user


def exp(number: float) -> float:
    """Return e to a power, which is infinite beyond double precision."""
    try:
        return math.exp(number)
    except OverflowError:
        return math.inf


def patience(target: float, count: int) -> list[float]:
    """Return the weights of a user who wants so much gain and reads on whatever is found."""
    return [square(2 * target / (rank + 2 * target)) for rank in range(count)]


def inverse_squares(first: float, count: int) -> float:
    """Return 1 / first² + 1 / (first + 1)² + … with so many terms."""
    total = 0.0
    while count > 0 and first < FEW:
        total += 1 / square(first)
        first += 1
        count -= 1
    return total + (trigamma(first) - trigamma(first + count)) if count > 0 else total


def trigamma(number: float) -> float:
    """Return the sum of 1 / number² + 1 / (number + 1)² + … without end, by its expansion."""
    t = 1 / square(number)
    series = 1 / 6 + t * (-1 / 30 + t * (1 / 42 + t * (-1 / 30 + t * (5 / 66))))
    return 1 / number + 0.5 * t + series * (t / number)


def square(number: float) -> float:
    """Return a number multiplied by itself."""
    return number * number
