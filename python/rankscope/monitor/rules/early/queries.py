"""The signals of single rankings and their queries, computed again from the newest rankings.

Sums by hour can't say how many queries a change is of: bots that ask one query all day change the
means of a day. So rankings are read again before there is a warning, which is rare.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rankscope.monitor.arrays import number_codes
from rankscope.monitor.definition.configuration import Configuration
from rankscope.monitor.definition.slices import Slicing
from rankscope.monitor.evaluate.days import Contexts
from rankscope.monitor.evaluate.windows import GroupCodes, Grouping, Key
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.rules.data.counts import Segment
from rankscope.monitor.signals.kinds import NAMES
from rankscope.monitor.signals.lists import NO_KEY, ContextCodes, Lists, find, read_lists
from rankscope.monitor.signals.reference import Reference, find_references
from rankscope.monitor.signals.values import ListValues, measure_lists
from rankscope.monitor.store.store import StoreReader

_Read: TypeAlias = tuple[NDArray[np.int64], NDArray[np.float64], GroupCodes, ListValues]


MOST = 100_000
"""So many rankings are read, those of the newest hours."""
TINY = 1e-12
"""Values vary by no more than rounding where their variance is below this."""


class Asked(NamedTuple):
    """Rankings of a stream, in any order.

    Args:
        hours: When the hours of the rankings begin.
        queries: The numbers of their queries; each one without a query key has its own.
        shares: Which share of the model's rankings has the same query key usually.
        values: A row for each signal, as `NAMES` has them.
    """

    hours: NDArray[np.int64]
    queries: NDArray[np.int64]
    shares: NDArray[np.float64]
    values: NDArray[np.float64]

    def find_design_effect(self, signal: str, since: int) -> float:
        """Return how many times the variance of a mean grows by queries that are asked unusually.

        With v the values, m their mean, and S the sum of v - m over the rankings of a query, the
        design effect of drawing queries, not rankings, is ΣS² / Σ(v - m)² (Kish 1965). Of a query,
        only the rankings beyond its usual share are drawn together.
        """
        row = self.values[NAMES.index(signal)]
        kept = (self.hours >= since) & ~np.isnan(row)
        if not kept.any():
            return 1.0
        queries, apart = self.queries[kept], row[kept] - row[kept].mean()
        count, usual, together, alone = (
            np.bincount(queries, each)
            for each in (np.ones(len(apart)), self.shares[kept], apart, apart**2)
        )
        if alone.sum() <= TINY * len(apart):
            return 1.0
        here = np.maximum(count, 1.0)
        beyond = np.maximum(1 - len(apart) * usual / here**2, 0.0) ** 2
        return max(float(np.sum(beyond * together**2 + (1 - beyond) * alone) / alone.sum()), 1.0)


class QueryReader:
    """Reads the signals of single rankings, those of each hour once.

    Args:
        store: Where they are.
        project: The name of the project.
        configuration: Its configuration.
        slicing: Its slices.
    """

    def __init__(
        self, store: StoreReader, project: str, configuration: Configuration, slicing: Slicing
    ) -> None:
        self._store, self._project, self._slicing = store, project, slicing
        contexts = Contexts(store, project)
        self._codes = ContextCodes(contexts, slicing, configuration.definition.left_out)
        self._grouping = Grouping(contexts, slicing)
        self._hours: dict[int, list[_Read]] = {}

    def read(self, segment: Segment, since: int, until: int) -> Asked:
        """Return the rankings of a stream between the starts of two hours."""
        attributes = tuple(name for name, _ in segment.slice)
        hours, keys, shares, values = [], [], [], []
        seen = 0
        for start in range(until - HOUR, since - HOUR, -HOUR):
            if seen >= MOST:
                break
            for of_chunk, usual, parts, measured in self._read_hour(start):
                seen += len(of_chunk)
                cells, groups = parts.group(attributes)
                is_in = np.array([_has(segment, one) for one in cells])
                rows = np.flatnonzero(is_in[groups])
                hours.append(np.full(len(rows), start))
                keys.append(of_chunk[rows])
                shares.append(usual[rows])
                values.append(np.array(measured.list_columns(attributes))[:, rows])
        if not keys:
            none = np.zeros(0)
            return Asked(none.astype(int), none.astype(int), none, np.zeros((len(NAMES), 0)))
        every = np.concatenate(keys)
        has_none = every == NO_KEY
        _, queries = number_codes(every)
        queries[has_none] = queries.max(initial=-1) + 1 + np.arange(has_none.sum())
        return Asked(
            np.concatenate(hours), queries, np.concatenate(shares), np.concatenate(values, axis=1)
        )

    def _read_hour(self, start: int) -> list[_Read]:
        if start not in self._hours:
            codes, day, seen = self._codes, start - start % DAY, 0
            self._hours[start] = read = []
            stored = self._store.read(self._project, start, start + HOUR)
            # A reading that is not read to its end holds its snapshot until it is closed.
            with closing(stored) as chunks:  # type: ignore[type-var]  # a generator
                for chunk in chunks:
                    rows = codes.choose(chunk)
                    if not len(rows):
                        continue
                    lists = read_lists(chunk, rows)
                    references = find_references(self._store, self._project, codes, day)
                    measured = measure_lists(lists, codes, references, self._slicing.dimensions())
                    parts = self._grouping.divide(chunk, np.ones(len(chunk.seqs), np.bool_))
                    usual = _find_shares(lists, codes, references)
                    read.append((lists.keys, usual, parts.choose(rows), measured))
                    seen += len(rows)
                    if seen >= MOST:
                        break
        return self._hours[start]


def _find_shares(
    lists: Lists, codes: ContextCodes, references: Mapping[str, Reference]
) -> NDArray[np.float64]:
    """Return which share of its model's rankings the query of each list had before."""
    shares = np.zeros(len(lists))
    for model, rows in codes.group_models(lists.contexts):
        reference = references.get(model)
        if reference is not None:
            places = find(reference.keys, lists.keys[rows])
            shares[rows[places >= 0]] = reference.shares[places[places >= 0]]
    return shares


def _has(segment: Segment, key: Key) -> bool:
    is_made = segment.model == key.model and segment.version in {"", key.version}
    return is_made and segment.slice == key.slice
