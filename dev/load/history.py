"""Evaluates history files again: `python -m dev.load.history FOLDER [RANKINGS]`.

It fills a store with archived hours, evaluates them, changes what labels are worth, and evaluates
them again. It prints the seconds of each evaluation, those of the processor, and the most memory of
a process. A store that is in the folder already is used again.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import pstats
import resource
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from rankscope.monitor.definition.definition import define
from rankscope.monitor.events.limits import DAY, HOUR, SECOND
from rankscope.monitor.monitor import Monitor
from rankscope.monitor.store.log.blocks import (
    FILE,
    PRODUCTION,
    Block,
    insert_blocks,
    write_index,
    write_spans,
)
from rankscope.monitor.store.log.layout import write_hour
from rankscope.monitor.store.log.reading import CHUNK
from rankscope.monitor.store.sqlite.store import SQLiteStore
from rankscope.records import replace

from dev.load.columns import CONTEXTS, DIFFERENT, MemorySource, make_chunk
from dev.load.configuration import CONFIGURATION, MEASURES, PROJECT
from dev.load.searches import BATCH, START, WEIGHTS, WINDOW

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray
    from rankscope.monitor.arrays import Texts
    from rankscope.monitor.definition.configuration import Configuration
    from rankscope.monitor.store.records import Chunk
    from rankscope.monitor.store.transaction import Transaction

RANKINGS = 1_000_000
DAILY = 1_000_000
STORE = "history.db"
DEFINITIONS = {
    "first": CONFIGURATION.definition,
    "changed": define(measures=MEASURES, positive={**WEIGHTS, "buy": 4}, window=WINDOW // SECOND),
}


def fill(folder: Path, rankings: int, daily: int = DAILY) -> int:
    """Write archived hours with a store that lists them, and return the bytes of their files.

    Args:
        folder: The folder of the store.
        rankings: How many rankings.
        daily: How many of them a day has.
    """
    folder.mkdir(parents=True, exist_ok=True)
    source = MemorySource(daily, [make_chunk(at * CHUNK // BATCH) for at in range(DIFFERENT)])
    end = START + rankings * DAY // daily
    with SQLiteStore(folder / STORE) as store:
        files = store.require_history()
        numbers = store.transact(_number_contexts).result()
        contexts = {number: CONTEXTS[old] for old, number in numbers.items()}
        renumber = np.array([numbers[old] for old in sorted(numbers)])
        seq, size = 0, 0
        for start in range(START, end, HOUR):
            chunks = _Numbered(source.read(PROJECT, start, min(start + HOUR, end)), renumber, seq)
            with files.open_part(PROJECT, start) as part:
                written = write_hour(part, chunks, contexts)
                place = files.publish(part)
            seq = chunks.seq
            spans = written.contexts.values()
            block = Block(
                written.first_seq,
                0,
                start,
                FILE,
                PRODUCTION,
                written.last_seq,
                min(span.first for span in spans),
                max(span.last for span in spans),
                written.rankings,
                written.labels,
                write_spans(written.contexts),
                *place,
            )
            store.transact(partial(_list, block=block, seq=seq)).result()
            size += place.size
    return size


class _Numbered:
    """Chunks as a file has them: with the ids of events, and the numbers of events and contexts."""

    def __init__(self, chunks: Iterator[Chunk], contexts: NDArray[np.int64], seq: int) -> None:
        self._chunks = chunks
        self._contexts = contexts
        self.seq = seq

    def __iter__(self) -> Iterator[Chunk]:
        for chunk in self._chunks:
            count, told = len(chunk.seqs), len(chunk.labels.codes)
            seqs = np.arange(self.seq + 1, self.seq + 1 + count + told)
            self.seq += count + told
            labels = replace(
                chunk.labels,
                event_ids=_name_events(chunk.ranking_ids, chunk.labels.rankings),
                seqs=seqs[count:],
            )
            yield replace(
                chunk,
                seqs=seqs[:count],
                contexts=self._contexts[chunk.contexts],
                labels=labels,
                event_ids=chunk.ranking_ids,
            )


def _name_events(ranking_ids: Texts, rankings: NDArray[np.int64]) -> Texts:
    """Name labels after their rankings, whose ids are all of one length, and number them."""
    width = int(ranking_ids[0][1])
    ids = ranking_ids[1].reshape(-1, width)[rankings]
    number = np.arange(len(rankings)) - np.searchsorted(rankings, rankings)
    suffix = np.stack([np.full(len(ids), ord("-")), ord("0") + number], axis=1).astype(np.uint8)
    text = np.concatenate([ids, suffix], axis=1)
    return np.arange(len(ids) + 1) * (width + 2), text.reshape(-1)


def _number_contexts(transaction: Transaction) -> dict[int, int]:
    project = transaction.project(PROJECT)
    numbers = {}
    for number, one in CONTEXTS.items():
        content = (one.model, one.version, one.environment, one.attributes)
        numbers[number] = transaction.context(project, content)
    return numbers


def _list(transaction: Transaction, *, block: Block, seq: int) -> None:
    listed = block._replace(project_id=transaction.project(PROJECT))
    insert_blocks(transaction, [(listed, write_index(listed, b""))])
    for number, span in block.spans.items():
        transaction.add_rankings(number, span)
    transaction.seq = seq


def evaluate(path: Path, configuration: Configuration, threads: int) -> dict[str, float]:
    """Evaluate a store, and return the seconds of it, those of the processor, and the memory."""
    begin = time.perf_counter()
    with Monitor.open(f"sqlite:///{path}", PROJECT, threads=threads) as monitor:
        monitor.configure(configuration)
        opened, before = time.perf_counter(), time.process_time()
        done = monitor.evaluate()
        ended, after = time.perf_counter(), time.process_time()
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return {
        "rankings": done.rankings,
        "opening": opened - begin,
        "seconds": ended - opened,
        "processor": after - before + used[1].ru_utime + used[1].ru_stime,
        "peak": used[0].ru_maxrss << 10,
        "peak of another process": used[1].ru_maxrss << 10,
    }


def main() -> None:
    """Fill a store where there is none, evaluate it twice, and print how long that took."""
    parser = argparse.ArgumentParser(prog="python -m dev.load.history", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("rankings", type=int, nargs="?", default=RANKINGS)
    parser.add_argument("--daily", type=int, default=DAILY)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--only", choices=DEFINITIONS)
    parser.add_argument("--profile", action="store_true")
    options = parser.parse_args()
    path = options.folder / STORE
    if options.only:
        configuration = replace(CONFIGURATION, definition=DEFINITIONS[options.only])
        work = partial(evaluate, path, configuration, options.threads)
        if options.profile:
            profile = cProfile.Profile()
            print(json.dumps(profile.runcall(work)))
            pstats.Stats(profile, stream=sys.stderr).sort_stats("tottime").print_stats(30)
        else:
            print(json.dumps(work()))
        return
    if not path.exists():
        begin = time.perf_counter()
        size = fill(options.folder, options.rankings, options.daily)
        filled = {"filled": time.perf_counter() - begin, "bytes": size / options.rankings}
        print(json.dumps(filled), flush=True)
    command = [sys.executable, "-m", "dev.load.history", str(options.folder)]
    for name in DEFINITIONS:
        # A process of its own, as memory is measured by process.
        subprocess.run([*command, "--threads", str(options.threads), "--only", name], check=True)


if __name__ == "__main__":
    main()
