"""Evaluates rankings that are columns in memory: `python -m dev.load.columns [RANKINGS]`.

Chunks cost nothing here, so what is measured is the evaluation alone: labels to grades, values, and
sums by hour, day and slice. With `--trace`, two spans of so many rankings each are traced, with two
attributes of 250 values each. With `--profile`, it prints where the time goes.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import pstats
import resource
import sys
import time
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from rankscope.monitor.ask.document_costs import CostCollector
from rankscope.monitor.ask.queries import QueryCollector, UserSample
from rankscope.monitor.definition.slices import Slicing, extend_slicing
from rankscope.monitor.evaluate.days import sum_day
from rankscope.monitor.events.event import LABEL_KINDS
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.store.chunks import offsets_of
from rankscope.monitor.store.log.reading import CHUNK
from rankscope.monitor.store.records import Chunk, Context, ItemColumns, LabelColumns
from rankscope.monitor.why.compute import trace
from rankscope.monitor.why.sampling import Sampled

from dev.load.configuration import CONFIGURATION, PROJECT
from dev.load.searches import (
    BATCH,
    CATALOGUE,
    COUNTRIES,
    DEVICES,
    DOCUMENTS,
    NAMES,
    START,
    Batch,
    make_batch,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray
    from rankscope.monitor.arrays import Texts
    from rankscope.monitor.store.records import CellRow

RANKINGS = 1_000_000
DIFFERENT = 4
"""Different chunks; others repeat them at another time."""
MANY_VALUES = 250
"""The values of each attribute of a trace."""
CONTEXTS = {
    number: Context(
        "search",
        "1",
        "production",
        (
            ("country", COUNTRIES[number // len(DEVICES)]),
            ("device", DEVICES[number % len(DEVICES)]),
        ),
    )
    for number in range(len(COUNTRIES) * len(DEVICES))
}
ID_LENGTH = len(NAMES[0])


def make_chunk(first: int) -> Chunk:
    """Make a chunk of the batches from one on."""
    batches = [make_batch(first + at) for at in range(CHUNK // BATCH)]
    documents = np.concatenate([batch.documents for batch in batches]).reshape(-1)
    common = np.concatenate([batch.common for batch in batches])
    order = [_order_labels(batch) for batch in batches]
    rankings = np.concatenate(
        [
            batch.rankings[kept] + at * BATCH
            for at, (batch, kept) in enumerate(zip(batches, order, strict=True))
        ]
    )
    times = np.concatenate([batch.times for batch in batches])
    ranks = np.concatenate([batch.ranks[kept] for batch, kept in zip(batches, order, strict=True)])
    delays = np.concatenate(
        [batch.delays[kept] for batch, kept in zip(batches, order, strict=True)]
    )
    is_buy = np.concatenate(
        [batch.is_buy[kept] for batch, kept in zip(batches, order, strict=True)]
    )
    nothing = np.full(len(documents), np.nan)
    return Chunk(
        np.arange(CHUNK),
        times,
        common[:, 2] * len(DEVICES) + common[:, 3],
        _texts([name for batch in batches for name in batch.ids]),
        _texts([f"query {query}" for query in common[:, 0].tolist()]),
        _texts([f"user {user}" for user in common[:, 1].tolist()]),
        ItemColumns(
            np.arange(CHUNK + 1) * DOCUMENTS,
            _ids(documents),
            np.tile(np.arange(1, DOCUMENTS + 1), CHUNK),
            np.concatenate([batch.scores for batch in batches]).reshape(-1),
            nothing,
        ),
        LabelColumns(
            rankings,
            _ids(documents[rankings * DOCUMENTS + ranks]),
            times[rankings] + delays,
            np.full(len(rankings), LABEL_KINDS.index("label"), dtype=np.int8),
            (("click",), ("buy",)),
            is_buy.astype(np.int64),
            np.full(len(rankings), np.nan),
        ),
    )


def _order_labels(batch: Batch) -> NDArray[np.int64]:
    return np.lexsort((batch.delays, batch.rankings))


def _texts(values: list[str]) -> Texts:
    sizes = np.array([len(value) for value in values], dtype=np.int64)
    return offsets_of(sizes), np.frombuffer("".join(values).encode(), np.uint8)


def _ids(documents: NDArray[np.int64]) -> Texts:
    """Return the ids of documents, all of which are of one length."""
    catalogue = np.frombuffer("".join(NAMES).encode(), np.uint8).reshape(CATALOGUE, ID_LENGTH)
    return np.arange(len(documents) + 1) * ID_LENGTH, catalogue[documents].reshape(-1)


class MemorySource:
    """Rankings in memory, as a store gives them.

    Args:
        daily: How many rankings each day has.
        chunks: The chunks that are repeated.
    """

    def __init__(self, daily: int, chunks: list[Chunk]) -> None:
        self._daily = daily
        self._chunks = chunks

    def contexts(self, _project: str) -> dict[int, Context]:
        """Return the contexts by number."""
        return CONTEXTS

    def cells(self, *_asked: object) -> list[CellRow]:
        """Return no stored cells."""
        return []

    def read(
        self,
        _project: str,
        since: int,
        until: int,
    ) -> Iterator[Chunk]:
        """Return the rankings of some hours."""
        first, end = (-(-(time - START) * self._daily // DAY) for time in (since, until))
        for at in range(first, end, CHUNK):
            chunk = self._chunks[at // CHUNK % len(self._chunks)]
            count = min(CHUNK, end - at)
            times = START + np.arange(at, at + CHUNK) * DAY // self._daily
            labels = chunk.labels
            delays = labels.times - chunk.times[labels.rankings]
            moved = replace(
                chunk,
                times=times,
                labels=replace(labels, times=times[labels.rankings] + delays),
            )
            yield moved if count == CHUNK else _take(moved, count)


def _take(chunk: Chunk, count: int) -> Chunk:
    """Return the first rankings of a chunk."""
    items, labels = chunk.items, chunk.labels
    rows = int(items.offsets[count])
    told = int(np.searchsorted(labels.rankings, count))

    def cut(texts: Texts, size: int) -> Texts:
        return texts[0][: size + 1], texts[1][: int(texts[0][size])]

    return Chunk(
        chunk.seqs[:count],
        chunk.times[:count],
        chunk.contexts[:count],
        cut(chunk.ranking_ids, count),
        cut(chunk.query_keys, count),
        cut(chunk.user_ids, count),
        ItemColumns(
            items.offsets[: count + 1],
            cut(items.doc_ids, rows),
            items.ranks[:rows],
            items.scores[:rows],
            items.relevance[:rows],
        ),
        LabelColumns(
            labels.rankings[:told],
            cut(labels.doc_ids, told),
            labels.times[:told],
            labels.kinds[:told],
            labels.names,
            labels.codes[:told],
            labels.values[:told],
        ),
    )


def evaluate(rankings: int, days: int, threads: int) -> dict[str, float]:
    """Sum all hours of some days, and give the seconds of it and of the processor."""
    source = MemorySource(
        rankings // days, [make_chunk(at * CHUNK // BATCH) for at in range(DIFFERENT)]
    )
    names = CONFIGURATION.attributes
    empty = Slicing(
        tuple((name, ()) for name in names),
        CONFIGURATION.all_pairs,
        tuple((name, 0) for name in names),
    )
    slicing = extend_slicing(empty, CONTEXTS, CONFIGURATION.most)
    begin, used = time.perf_counter(), time.process_time()
    count = 0
    for day in range(days):
        start = START + day * DAY
        summed = sum_day(
            source,  # type: ignore[arg-type]  # all of a store that it reads
            range(start, start + DAY, HOUR),
            project=PROJECT,
            configuration=CONFIGURATION,
            slicing=slicing,
            now=START + (days + 2) * DAY,
            threads=threads,
        )
        count += sum(summed.rankings)
    return {
        "rankings": count,
        "seconds": time.perf_counter() - begin,
        "processor": time.process_time() - used,
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10,
    }


def trace_both(rankings: int, sample: int | None, threads: int) -> dict[str, float]:
    """Trace two spans of so many rankings, and give the seconds of it and of the processor."""
    random = np.random.default_rng(1)
    made = [make_chunk(at * CHUNK // BATCH) for at in range(DIFFERENT)]
    chunks = [replace(chunk, contexts=random.integers(0, MANY_VALUES**2, CHUNK)) for chunk in made]
    source = MemorySource(rankings, chunks)
    contexts = {
        number: Context(
            "search",
            "1",
            "production",
            (("city", str(number // MANY_VALUES)), ("language", str(number % MANY_VALUES))),
        )
        for number in range(MANY_VALUES**2)
    }
    definition = CONFIGURATION.definition.only("nDCG@10")
    begin, used = time.perf_counter(), time.process_time()
    collectors: list[QueryCollector] = []
    drawn = None if sample is None else UserSample(sample)
    costs = CostCollector(definition, {}, None)
    for day in range(2):
        since = START + day * DAY
        collector = QueryCollector(
            contexts, definition, "nDCG@10", costs=costs, sample=drawn, has_ids=day > 0
        )
        collector.read(
            source.read(PROJECT, since, since + DAY), now=START + 4 * DAY, threads=threads
        )
        collectors.append(collector)
        costs = CostCollector(definition, {}, costs.shown)
    collected = time.perf_counter() - begin, time.process_time() - used
    rate = 1.0 if drawn is None else drawn.rate
    windows = []
    for collector in collectors:
        collector.thin()
        windows.append(collector.finish(["city", "language"]))
    before, after = windows
    sampled = Sampled((rate, rate), (collectors[0].seen, collectors[1].seen))
    trace(before, after, sampled=sampled, threads=threads)
    return {
        "rankings": sum(map(len, windows)),
        "seconds": time.perf_counter() - begin,
        "processor": time.process_time() - used,
        "seconds to collect": collected[0],
        "processor to collect": collected[1],
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10,
    }


def main() -> None:
    """Evaluate, and print how long that took."""
    parser = argparse.ArgumentParser(prog="python -m dev.load.columns", description=__doc__)
    parser.add_argument("rankings", type=int, nargs="?", default=RANKINGS)
    parser.add_argument("--days", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--trace", action="store_true")
    parser.add_argument("--sample", type=int, help="trace a sample of at most so many a span")
    parser.add_argument("--profile", action="store_true")
    options = parser.parse_args()
    work = (
        partial(trace_both, options.rankings, options.sample)
        if options.trace
        else partial(evaluate, options.rankings, options.days)
    )
    if options.profile:
        profile = cProfile.Profile()
        found = profile.runcall(work, 1)
        pstats.Stats(profile, stream=sys.stderr).sort_stats("tottime").print_stats(25)
    else:
        found = work(options.threads)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
