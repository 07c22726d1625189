"""How far the lists of two versions differ for the same queries."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rankscope.monitor.definition.slices import Slicing
from rankscope.monitor.events.limits import HOUR
from rankscope.monitor.signals.kinds import DEPTH, TOP
from rankscope.monitor.signals.lists import ContextCodes, Lists, read_lists
from rankscope.monitor.signals.reference import make_reference
from rankscope.monitor.signals.values import divide, measure_overlap, pair_lists
from rankscope.monitor.store.records import Context
from rankscope.monitor.store.store import StoreReader

MOST = 20_000
"""So many rankings of both versions are looked at, the newest ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListDistance:
    """How far lists differ from earlier ones of the same query keys, each key counted once.

    Args:
        queries: The number of query keys.
        overlap: The mean rank-biased overlap (p = 0.9), from 0 to 1.
        reordered: The mean change of order of what both lists show: 0 for the same order, 1 for
            the reverse; NaN where no two lists share two documents.
        missing: The mean share of the first 10 documents of the other list that are missing.
    """

    queries: int
    overlap: float
    reordered: float
    missing: float


def compare_lists(
    store: StoreReader,
    project: str,
    contexts: Mapping[int, Context],
    versions: tuple[str, str],
    *,
    since: int,
    until: int,
) -> tuple[ListDistance | None, ListDistance | None]:
    """Return how far lists of a new version differ from the old one's, and these among themselves.

    Args:
        store: Where rankings are.
        project: The name of the project.
        contexts: The contexts of the rankings of both versions.
        versions: The old version and the new one.
        since: From when both serve, in microseconds since 1970.
        until: Until when.
    """
    codes = ContextCodes(contexts, Slicing())
    lists = _read_newest(store, project, contexts, since, until)
    if lists is None:
        return None, None
    numbers = ([at for at, one in contexts.items() if one.version == name] for name in versions)
    old, new = (lists.take(np.flatnonzero(np.isin(lists.contexts, each))) for each in numbers)
    newest = _find_newest(old)
    return _compare(new.take(_find_newest(new)), old, codes), _compare(
        old.take(newest), old.take(np.setdiff1d(np.arange(len(old)), newest)), codes
    )


def _read_newest(
    store: StoreReader, project: str, contexts: Collection[int], since: int, until: int
) -> Lists | None:
    """Read the newest lists of some contexts, in the order of time."""
    wanted, pieces, count = np.array([*contexts], dtype=np.int64), list[Lists](), 0
    counted = store.count_by_hour(project, since, until)
    hours = {start for start, number, _ in counted if number in contexts}
    for start in sorted(hours, reverse=True):
        if count >= MOST:
            break
        span = max(start, since), min(start + HOUR, until)
        read = [
            read_lists(chunk, np.flatnonzero(np.isin(chunk.contexts, wanted)))
            for chunk in store.read(project, *span)
        ]
        count += sum(map(len, read))
        pieces += reversed(read)
    return Lists.join(pieces[::-1]) if pieces else None


def _find_newest(lists: Lists) -> NDArray[np.int64]:
    """Return the places of the last lists of each query key, in the order of time."""
    _, last = np.unique(lists.keys[::-1], return_index=True)
    return np.sort(len(lists) - 1 - last)


def _compare(lists: Lists, others: Lists, codes: ContextCodes) -> ListDistance | None:
    reference = make_reference(others, codes, is_full=False)
    overlap, pairs = measure_overlap(lists, reference), pair_lists(lists, reference)
    if not len(pairs.rows):
        return None
    top = np.minimum(pairs.before, TOP)
    shown = np.bincount(pairs.common[pairs.then <= TOP], minlength=len(top))
    is_high = pairs.now <= DEPTH
    order = _measure_order(len(top), pairs.common[is_high], pairs.then[is_high])
    known = order[~np.isnan(order)]
    return ListDistance(
        queries=len(top),
        overlap=float(overlap[pairs.rows].mean()),
        reordered=float(known.mean()) if len(known) else float("nan"),
        missing=float(((top - shown) / top).mean()),
    )


def _measure_order(
    count: int, common: NDArray[np.int64], then: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Compute how much order is lost: 0 for that of before, 1 for its reverse; NaN for no pair.

    Args:
        count: The number of lists.
        common: For each document that two lists share, the place of its pair of lists, ascending.
        then: Its position in the earlier list.
    """
    sizes = np.bincount(common, minlength=count)
    ranks = np.arange(1, len(common) + 1) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    before = np.empty_like(ranks)
    before[np.lexsort((then, common))] = ranks
    discounts, gains, reverse = (
        1 / np.log2(1 + each) for each in (ranks, before, sizes[common] + 1 - ranks)
    )
    best, now, worst = (
        np.bincount(common, discounts * gain, count) for gain in (discounts, gains, reverse)
    )
    return divide(best - now, best - worst)
