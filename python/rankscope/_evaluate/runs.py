"""Evaluates a run of any kind, within a limit of memory where its rows are read as they come."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from rankscope._core import Evaluation as CoreEvaluation
from rankscope._core import (
    Judgments,
    Plan,
    Rankings,
    RunText,
    evaluate_dict,
    evaluate_run,
)
from rankscope._inputs.reading import Tell, rank_run, read_core
from rankscope._inputs.recognition import Input, find_stream, recognise
from rankscope._names import quote
from rankscope._settings import Reading
from rankscope._show.progress import watch
from rankscope.errors import UsageError
from rankscope.measures import Measure

if TYPE_CHECKING:
    from rankscope._inputs.reading import Note
    from rankscope.typing import InputLike


class Evaluated(NamedTuple):
    """The values of a run, its name, and what was noticed when it was read."""

    core: CoreEvaluation
    name: str
    notes: Sequence[Note] = ()
    columns: Mapping[str, str] = {}
    """By role, the columns that were found by their usual names."""


SIZE = r"(\d+(?:\.\d+)?)\s*(?:([kmgt])(i?))?b?"
LEAST = 1 << 20
"""Less memory than this is a mistake, such as `1` for `1GiB`."""
HARMLESS = 1 << 26
"""Fewer bytes of rows are held without asking how much memory is free, which takes a while."""
SHARE_HELD = 8
"""Rows that take more than this part of the limit are partitioned by query, or written."""


class Memory:
    """The memory that an evaluation may use, and the folder for the rows that exceed it.

    Both are looked up when they first matter, which takes a while, unless the caller names them.
    """

    def __init__(self, limit: object, folder: object) -> None:
        self._limit = None if limit is None else read_size(limit)
        self._folder = None if folder is None else read_folder(folder)
        share = HARMLESS if self._limit is None else self._limit // SHARE_HELD
        self.harmless = min(share, HARMLESS)
        """Fewer bytes of rows are held without a look."""

    @property
    def limit(self) -> int:
        """The limit in bytes."""
        if self._limit is None:
            self._limit = find_free() // 2
        return self._limit

    @property
    def folder(self) -> str:
        """The folder for temporary files."""
        if self._folder is None:
            from tempfile import gettempdir

            self._folder = gettempdir()
        return self._folder


def read_size(memory: object) -> int:
    """Read a size in bytes.

    Examples:
        >>> [read_size(size) for size in ("1GiB", "1.5 GB", "200M", 1 << 20)]
        [1073741824, 1500000000, 200000000, 1048576]
    """
    size = 0
    if isinstance(memory, str) and (text := re.fullmatch(SIZE, memory.strip(), re.IGNORECASE)):
        unit = (1024 if text[3] else 1000) ** " kmgt".index((text[2] or " ").lower())
        size = int(min(float(text[1]) * unit, sys.maxsize))
    elif isinstance(memory, int) and not isinstance(memory, bool):
        size = int(memory)
    if size < LEAST:
        raise UsageError(
            f"expected memory as a size of at least 1MiB, found {quote(memory)}",
            hint="write memory='1GiB'",
            code="bad_memory",
        )
    return size


def read_folder(folder: object) -> str:
    """Return the path of the folder for temporary files."""
    path = os.fspath(folder) if isinstance(folder, str | os.PathLike) else None
    if not isinstance(path, str) or not os.path.isdir(path):  # noqa: PTH112 - pathlib loads slowly
        raise UsageError(
            f"expected spill_folder as the path of a folder, found {folder!r}",
            hint="name a folder that exists, on a disk with enough space",
            code="bad_memory",
        )
    return path


def find_free() -> int:
    """Return the bytes of memory that the process can still use.

    That is the least of what the system has available, what the control groups of the process
    allow (as in containers), and its own limit (`ulimit -v`).
    """
    return min((max(free, 0) for free in _find_limits()), default=1 << 40)


def _find_limits() -> Iterator[int]:
    available = _read_field("/proc/meminfo", "MemAvailable")
    if available is not None:
        yield available
    elif hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        yield os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    yield from _find_group_limits()
    try:
        import resource
    except ImportError:
        return
    used = _read_field("/proc/self/status", "VmSize")
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if used is not None and limit != resource.RLIM_INFINITY:
        yield limit - used


def _find_group_limits() -> Iterator[int]:
    """Yield what each control group of the process has left, of version 2 and 1."""
    for line in _read("/proc/self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers and "memory" not in controllers.split(","):
            continue
        root = "/sys/fs/cgroup/memory" if controllers else "/sys/fs/cgroup"
        limit, usage, cache = (
            ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
            if controllers
            else ("memory.max", "memory.current", "inactive_file")
        )
        # The limits of all groups above hold too. In a container, the root may be its own group.
        parts = [part for part in path.split("/") if part and part != ".."]
        for depth in range(len(parts), -1, -1):
            group = "/".join([root, *parts[:depth]])
            most, used = _read(f"{group}/{limit}").strip(), _read(f"{group}/{usage}").strip()
            if most.isdigit() and used.isdigit():
                # Pages of files that nobody uses are given back when memory is needed.
                freed = re.search(rf"^{cache} (\d+)$", _read(f"{group}/memory.stat"), re.MULTILINE)
                yield int(most) - int(used) + (int(freed[1]) if freed else 0)


def _read_field(path: str, field: str) -> int | None:
    """Return a field of a file of the kernel, in bytes."""
    value = re.search(rf"^{field}:\s+(\d+) kB", _read(path), re.MULTILINE)
    return None if value is None else int(value[1]) * 1024


def _read(path: str) -> str:
    try:
        with open(path, encoding="ascii", errors="replace") as file:  # noqa: PTH123 - as above
            return file.read()
    except OSError:
        return ""


def evaluate_input(
    judgments: Judgments,
    run: InputLike,
    plan: Plan,
    ties: str,
    reading: Reading,
    *,
    measures: Sequence[Measure],
) -> Evaluated:
    """Evaluate a run, which is held in memory or read as it comes."""
    source = recognise(run, "run", reading.columns)
    is_held = any(measure.row.of_items or measure.row.of_rows for measure in measures)
    is_held = is_held or (reading.ignore_same and source.kind != "table")
    if not is_held:
        source = find_stream(source)
    if is_held and source.is_in_files:
        reading.refuse_limits(
            "a function, measures of items or ignore_same, which need all rows in memory"
        )
    elif not source.is_in_files:
        reading.refuse_limits("a run in memory, which needs all rows there")
    notes: list[Note] = []
    with watch(source.name, source.find_size, reading.progress) as tell:
        if is_held:
            rankings = rank_run(judgments, source, ties, reading, notes=notes, tell=tell)
            values = evaluate_rankings(rankings, plan, measures, reading.threads)
        elif source.kind == "table":
            from rankscope._evaluate.columns import evaluate_columns

            return evaluate_columns(judgments, plan, source, reading, tell)
        elif source.kind == "mapping":
            values = evaluate_dict(judgments, plan, source.value)
        elif source.is_in_files:
            values = evaluate_text(judgments, plan, source, reading, tell)
        else:
            values = evaluate_run(judgments, plan, read_core(source, reading), reading.threads)
    return Evaluated(values, source.name, notes)


def evaluate_rankings(
    rankings: Rankings, plan: Plan, measures: Sequence[Measure], threads: int
) -> CoreEvaluation:
    """Evaluate rankings in memory."""
    if not any(measure.row.of_rows for measure in measures):
        return rankings.evaluate(plan, threads)
    from rankscope.measures.function import evaluate_rows

    return evaluate_rows(rankings, plan)


def evaluate_text(
    judgments: Judgments, plan: Plan, run: Input, reading: Reading, tell: Tell
) -> CoreEvaluation:
    """Evaluate a run in TREC format whose rows come in any order."""
    memory = Memory(reading.memory, reading.spill_folder)
    with run.opened() as source:
        text = RunText(source, reading.encoding, plan)
        values = text.evaluate(judgments, reading.threads, tell)
        if values is not None:
            return values
        if text.read(memory.harmless, tell) and text.read(memory.limit // SHARE_HELD, tell):
            from rankscope._evaluate.partitions import TextRows, evaluate_parts

            rows = TextRows(text, judgments, plan, reading, tell)
            evaluate_parts(rows, rows, rows, memory, reading.progress)
            return rows.finish()
        return evaluate_run(judgments, plan, text.finish(), reading.threads)
