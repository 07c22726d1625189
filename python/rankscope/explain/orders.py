"""Orders of systems: how alike two are, and which pairs change places."""

from __future__ import annotations

import math
from itertools import combinations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

CLOSE = 1e-12
"""How near values are that are the same but for rounding."""


def correlate_orders(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    """Kendall's tau-b of two orders of the same systems, by their values.

    It is 1 for one order and -1 for opposite ones; without ties, each pair that changes places
    takes 2 from the number of pairs, by which all is divided. NaN where there is no pair that
    either orders.

    Args:
        one: The value of each system.
        other: The same systems, by other values.
    """
    signs = [
        (_compare(one[a], one[b]), _compare(other[a], other[b])) for a, b in combinations(one, 2)
    ]
    agreement = sum(mine * theirs for mine, theirs in signs)
    untied = sum(mine != 0 for mine, _ in signs) * sum(theirs != 0 for _, theirs in signs)
    return agreement / math.sqrt(untied) if untied else math.nan


def find_exchanged(one: Mapping[str, float], other: Mapping[str, float]) -> list[tuple[str, str]]:
    """Find the pairs of systems that change places: who is the better by `other`, and who by `one`.

    Args:
        one: The value of each system.
        other: The same systems, by other values.
    """
    return [
        (a, b) if other[a] > other[b] else (b, a)
        for a, b in combinations(one, 2)
        if _compare(one[a], one[b]) * _compare(other[a], other[b]) < 0
    ]


def order(values: Mapping[str, float]) -> tuple[tuple[str, ...], ...]:
    """Put systems in order, the best first; those of one value are together."""
    groups: list[list[str]] = []
    for name in sorted(values, key=lambda name: -values[name]):
        if groups and _compare(values[groups[-1][0]], values[name]) == 0:
            groups[-1].append(name)
        else:
            groups.append([name])
    return tuple(map(tuple, groups))


def _compare(one: float, other: float) -> int:
    """The sign of a difference; values that are one but for rounding have none."""
    return 0 if math.isclose(one, other, rel_tol=CLOSE) else 1 if one > other else -1
