"""What this process and all that it started use: processor time, and memory."""

from __future__ import annotations

import os
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

TICKS = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")
EVERY = 0.2
"""Seconds between two looks at the memory."""


@dataclass(slots=True)
class Used:
    """What processes used, in bytes.

    Args:
        total: The most resident memory of all processes together.
        worker: The most of one that runs Python and isn't this process.
    """

    total: int = 0
    worker: int = 0


def count_cpu() -> float:
    """Return the seconds of processor time of this process and all that it started."""
    return sum(ticks for _, _, ticks, _ in _list_family()) / TICKS


@contextmanager
def watch_memory() -> Iterator[Used]:
    """Look now and then at the memory of this process and all that it started."""
    used, done = Used(), threading.Event()

    def look() -> None:
        while not done.wait(EVERY):
            family = _list_family()
            used.total = max(used.total, sum(pages for *_, pages in family) * PAGE)
            workers = (
                pages
                for process, name, _, pages in family
                if name.startswith("python") and process != os.getpid()
            )
            used.worker = max(used.worker, max(workers, default=0) * PAGE)

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield used
    finally:
        done.set()
        thread.join()


def _list_family() -> list[tuple[int, str, int, int]]:
    """Return number, name, ticks and pages of this process and all that it started."""
    stats: dict[int, tuple[int, tuple[int, str, int, int]]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            text = path.read_text(encoding="utf-8")
        except OSError:  # it has ended
            continue
        process = int(path.parent.name)
        name, _, rest = text.partition("(")[2].rpartition(")")
        fields = rest.split()
        ticks = sum(map(int, fields[11:15]))
        stats[process] = (int(fields[1]), (process, name, ticks, int(fields[21])))
    found, todo = [], [os.getpid()]
    while todo:
        process = todo.pop()
        if process in stats:
            found.append(stats[process][1])
        todo += [child for child, (parent, _) in stats.items() if parent == process]
    return found
