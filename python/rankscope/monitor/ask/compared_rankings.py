"""The rankings of two versions as the columns that are compared."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankscope import _core
from rankscope.errors import LimitError
from rankscope.monitor.definition.definition import Definition
from rankscope.monitor.evaluate.clusters import ClusterCodes, list_texts
from rankscope.monitor.evaluate.grades import read_integers
from rankscope.monitor.evaluate.values import evaluate_chunks
from rankscope.monitor.events.limits import DAY, SECOND
from rankscope.monitor.store.records import Chunk, Context
from rankscope.monitor.store.store import StoreReader

MOST_RANKINGS = 10_000_000
"""How many rankings of both versions are compared at most. Each takes about 200 bytes of memory."""
MOST_CELLS = 12
"""So many combinations of attribute values are cells of their own; the others are one."""
BEFORE = 14 * DAY
"""The values of queries are known from so long before both versions served."""


@dataclass(frozen=True, slots=True)
class ComparedRankings:
    """Rankings with their values.

    Args:
        value: Their values.
        cluster: Whose they are, as numbers.
        day: Their days since 1970 in UTC.
        context: The numbers of their contexts.
        query: Their query keys, as numbers; -1 where unknown.
        queries: The query keys, in the order of their numbers.
    """

    value: NDArray[np.float64]
    cluster: NDArray[np.int64]
    day: NDArray[np.int64]
    context: NDArray[np.int64]
    query: NDArray[np.int64]
    queries: Sequence[bytes]

    def find(self, contexts: Mapping[int, Context], version: str) -> NDArray[np.bool_]:
        """Return which of them a version ranked."""
        mine = [number for number, one in contexts.items() if one.version == version]
        return np.isin(self.context, mine)

    def place(
        self, contexts: Mapping[int, Context], attributes: Sequence[str]
    ) -> NDArray[np.int64]:
        """Return the cell of each: the values of its attributes, the rare ones together."""
        numbers, at, sizes = np.unique(self.context, return_inverse=True, return_counts=True)
        said = [dict(contexts[number].attributes) for number in numbers.tolist()]
        cells = [tuple(one.get(name) for name in attributes) for one in said]
        counts: Counter[tuple[str | None, ...]] = Counter()
        for cell, size in zip(cells, sizes.tolist(), strict=True):
            counts[cell] += size
        # Of two that are as frequent, the first by name, whatever order they came in.
        ranked = sorted(counts, key=lambda one: (-counts[one], str(one)))[:MOST_CELLS]
        codes = {cell: number for number, cell in enumerate(ranked)}
        return np.array([codes.get(cell, MOST_CELLS) for cell in cells], dtype=np.int64)[at]

    def look_up(self, known: Mapping[bytes, float]) -> NDArray[np.float64]:
        """Return what is known of the query of each; NaN where nothing is."""
        by_query = np.array([*(known.get(name, math.nan) for name in self.queries), math.nan])
        return by_query[self.query]


@dataclass(frozen=True, slots=True)
class RankingSource:
    """Reads rankings with the values they have as of a moment.

    Args:
        store: The store that holds the events.
        project: The name of the project.
        definition: The definition to evaluate with, which has one measure.
        now: The time as of which labels count, in microseconds since 1970 in UTC.
        most: How many rankings are read at most.
        threads: The number of threads.
    """

    store: StoreReader
    project: str
    definition: Definition
    now: int
    most: int
    threads: int | None

    def read(
        self, contexts: Mapping[int, Context], since: int, until: int
    ) -> ComparedRankings | None:
        """Read the rankings of some contexts and of a span, or `None` if there are none."""
        wanted = np.array([*contexts], dtype=np.int64)
        clusters, queries = ClusterCodes(), _core.TextCodes()
        columns: list[tuple[NDArray[Any], ...]] = []
        if since >= until:
            return None
        read = self.store.read(self.project, since, until)
        # A reading that is not read to its end holds its snapshot until it is closed.
        with closing(read) as chunks:  # type: ignore[type-var]  # a generator
            for each in evaluate_chunks(
                self._count(chunks, wanted), self.definition, now=self.now, threads=self.threads
            ):
                chunk = each.chunk
                value = each.values.measures[0].value
                kept = np.flatnonzero(np.isin(chunk.contexts, wanted) & ~np.isnan(value))
                columns.append(
                    (
                        value[kept],
                        clusters.number(chunk, kept),
                        chunk.times[kept] // DAY,
                        chunk.contexts[kept],
                        read_integers(queries.number([(b"", chunk.query_keys)], kept)),
                    )
                )
        if not columns:
            return None
        value, cluster, day, context, query = map(np.concatenate, zip(*columns, strict=True))
        return ComparedRankings(value, cluster, day, context, query, list_texts(queries))

    def read_queries(self, contexts: Mapping[int, Context], until: int) -> dict[bytes, float]:
        """Return the mean value of each query in the two weeks before a time."""
        # Only what was final by then: it can't depend on the version that came.
        end = until - self.definition.window * SECOND
        try:
            rows = self.read(contexts, until - BEFORE, end)
        except LimitError:
            return {}
        if rows is None or not rows.queries:
            return {}
        has = rows.query >= 0
        counts = np.bincount(rows.query[has], minlength=len(rows.queries))
        sums = np.bincount(rows.query[has], rows.value[has], len(rows.queries))
        # A query that was seen once tells little.
        means = (sums + rows.value.mean()) / (counts + 1)
        return dict(zip(rows.queries, means.tolist(), strict=True))

    def _count(self, chunks: Iterator[Chunk], wanted: NDArray[np.int64]) -> Iterator[Chunk]:
        """Yield the chunks that have some of the contexts, and refuse too many rankings."""
        count = 0
        for chunk in chunks:
            here = int(np.isin(chunk.contexts, wanted).sum())
            count += here
            if count > self.most:
                hint = "compare from a later time on, or compare a slice"
                if self.most < MOST_RANKINGS:
                    hint += (
                        "; `rankscope monitor compare STORE` compares up to "
                        f"{MOST_RANKINGS:,} on a machine that reads the store"
                    )
                raise LimitError(
                    f"expected at most {self.most:,} rankings to compare, found more",
                    hint=hint,
                    code="comparison_rankings",
                )
            if here:
                yield chunk
