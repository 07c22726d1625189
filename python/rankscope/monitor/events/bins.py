"""Numeric attributes: the bins that numbers fall into, which are values like those of any other.

A bin is named by its range, so that the same value always means the same numbers.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping
from functools import lru_cache
from itertools import pairwise
from math import isfinite
from typing import TypeAlias

from rankscope.measures.domains import SPELLED_NUMBER

Edges: TypeAlias = tuple[float, ...]
Bins: TypeAlias = Mapping[str, Edges]
"""By attribute, the ascending numbers that separate its bins."""
Pairs: TypeAlias = tuple[tuple[str, str], ...]
Content: TypeAlias = tuple[str, str, str, Pairs]
"""A model, its version, its environment, and attributes."""


@lru_cache(maxsize=256)
def name_bins(edges: Edges) -> tuple[str, ...]:
    """Return the names of bins, in order; none without edges.

    Examples:
        >>> name_bins((10, 25.5))
        ('below 10', '10 to below 25.5', '25.5 or more')
    """
    if not edges:
        return ()
    texts = [*map(write_number, edges)]
    between = [f"{lower} to below {upper}" for lower, upper in pairwise(texts)]
    return (f"below {texts[0]}", *between, f"{texts[-1]} or more")


def write_number(number: float) -> str:
    """Write a number in the shortest way that is read as the same."""
    return repr(float(number)).removesuffix(".0")


def read_number(text: str) -> float | None:
    """Read a finite decimal number; `None` if a text is none.

    Examples:
        >>> [read_number(text) for text in ("12.5", "1e3", "nan", "1e999", "12,50", "")]
        [12.5, 1000.0, None, None, None, None]
    """
    number = float(text) if re.fullmatch(SPELLED_NUMBER, text, re.ASCII) else float("nan")
    return number if isfinite(number) else None


def find_bin(text: str, edges: Edges) -> str | None:
    """Return the bin of a number, or of a text that names one; `None` for any other text.

    Examples:
        >>> [find_bin(text, (10, 25)) for text in ("9.99", "10", "25", "below 10", "cheap")]
        ['below 10', '10 to below 25', '25 or more', 'below 10', None]
    """
    names, number = name_bins(edges), read_number(text)
    if number is None:
        return text if text in names else None
    return names[bisect_right(edges, number)]


def bin_attributes(attributes: Pairs, bins: Bins) -> Pairs:
    """Replace the numbers among the values of attributes by their bins; other texts stay.

    Examples:
        >>> bin_attributes((("device", "tv"), ("price", "12")), {"price": (10.0, 25.0)})
        (('device', 'tv'), ('price', '10 to below 25'))
    """
    return tuple(
        (name, (find_bin(value, bins[name]) or value) if name in bins else value)
        for name, value in attributes
    )


def bin_content(content: Content, bins: Bins) -> Content:
    """Replace the numbers of what rankings have in common likewise."""
    *ranker, attributes = content
    return (*ranker, bin_attributes(attributes, bins)) if bins else content  # type: ignore[return-value]  # as it came
