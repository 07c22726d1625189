"""The queries that fell most, by slice."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from rankscope._show.table import Cell, Table
from rankscope._stats.sums import sum_groups
from rankscope.monitor.why.decomposition import divide
from rankscope.monitor.why.query_columns import QueryColumns
from rankscope.monitor.why.shared_slices import SharedKeys

COLUMNS = (
    "slice",
    "query_key",
    "queries before",
    "queries after",
    "before",
    "after",
    "change",
    "row",
    "ranking_id",
)


def list_fallen(
    before: QueryColumns,
    after: QueryColumns,
    keys: SharedKeys,
    groups: tuple[NDArray[np.int32], NDArray[np.int32]],
    names: Sequence[tuple[int, str]],
    *,
    sign: float,
    most: int,
) -> Table:
    """Return the queries of each slice that changed most, by key, or by value if no key repeats."""
    rows: list[tuple[Cell, ...]] = []
    for group, name in names:
        chosen = [each == group for each in groups]
        found = _list_pairs(before, after, keys, (chosen[0], chosen[1]), sign=sign, most=most)
        if not found:
            found = _list_ends(after, keys, chosen[1], sign=sign, most=most)
        rows += [(name, *each) for each in found]
    return Table({name: [row[at] for row in rows] for at, name in enumerate(COLUMNS)})


def _list_pairs(
    before: QueryColumns,
    after: QueryColumns,
    keys: SharedKeys,
    chosen: tuple[NDArray[np.bool_], NDArray[np.bool_]],
    *,
    sign: float,
    most: int,
) -> list[tuple[Cell, ...]]:
    """Return the keys in both windows whose mean changed most."""
    codes = keys.codes[0][chosen[0]], keys.codes[1][chosen[1]]
    # The last number is that of queries without a key.
    common = np.intersect1d(codes[0], codes[1])
    common = common[common < len(keys.texts)]
    if not len(common):
        return []
    counts, means = [], []
    for at, window in enumerate((before, after)):
        place = np.searchsorted(common, codes[at])
        place[place == len(common)] = 0
        is_common = common[place] == codes[at]
        values = window.value[chosen[at]][is_common]
        number = np.bincount(place[is_common], minlength=len(common))
        counts.append(number.astype(np.float64))
        means.append(divide(sum_groups(values, place[is_common], len(common)), counts[at]))
    change = means[1] - means[0]
    texts = [keys.texts[code] for code in common.tolist()]
    order = _take_first(-sign * change, texts.__getitem__, most)
    rows: list[tuple[Cell, ...]] = []
    for at in order:
        members = np.flatnonzero(chosen[1] & (keys.codes[1] == common[at]))
        lowest = members[np.argmax(sign * after.value[members])]
        numbers = [int(each[at]) for each in counts]
        ends = [float(each[at]) for each in means]
        rows.append((texts[at], *numbers, *ends, float(change[at]), *_find(after, int(lowest))))
    return rows


def _list_ends(
    after: QueryColumns,
    keys: SharedKeys,
    chosen: NDArray[np.bool_],
    *,
    sign: float,
    most: int,
) -> list[tuple[Cell, ...]]:
    """Return the queries of the second window with the lowest or highest values."""
    places = np.flatnonzero(chosen)
    texts = (*keys.texts, "")

    def name(at: int) -> str:
        return texts[int(keys.codes[1][places[at]])]

    order = _take_first(-sign * after.value[places], name, most)
    return [
        (name(at), None, 1, None, float(after.value[places[at]]), None, *_find(after, place))
        for at, place in ((at, int(places[at])) for at in order)
    ]


def _find(after: QueryColumns, place: int) -> tuple[int, str | None]:
    """Return the index and the ID of a query."""
    return place, None if after.ranking_ids is None else after.ranking_ids[place]


def _take_first(amounts: NDArray[np.float64], name: Callable[[int], str], most: int) -> list[int]:
    """Return the indices of the smallest amounts, with ties in the order of texts."""
    if len(amounts) > most:
        bound = np.partition(amounts, most - 1)[most - 1]
        places = np.flatnonzero(amounts <= bound).tolist()
    else:
        places = list(range(len(amounts)))
    return sorted(places, key=lambda place: (amounts[place], name(place)))[:most]
