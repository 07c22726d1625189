"""How much memory an evaluation may use: what the caller says, or half of what is free."""

from __future__ import annotations

import os
import re
import sys

from rankscope.errors import UsageError
from rankscope.names import quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

UNITS = {"": 1, "k": 1000, "m": 1000**2, "g": 1000**3, "t": 1000**4} | {
    "ki": 1 << 10,
    "mi": 1 << 20,
    "gi": 1 << 30,
    "ti": 1 << 40,
}
SIZE = r"(\d+(?:\.\d+)?)\s*([kmgt]i?)?b?"
LEAST = 1 << 20
"""Less memory than this is a mistake, such as `1` for `1GiB`."""
HARMLESS = 1 << 26
"""Fewer bytes of rows are held without asking how much memory is free, which takes a while."""
SHARE_HELD = 8
"""Rows that take more than this part of the limit are partitioned by query, or written."""


class Memory:
    """How much memory an evaluation may use, and where the rows go that exceed it.

    Both are looked up when they first matter, which takes a while, unless the caller names them.

    Raises:
        UsageError: The size is none, or too small, or the folder is no folder.
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
            from tempfile import gettempdir  # noqa: PLC0415 - takes long to load

            self._folder = gettempdir()
        return self._folder


def read_size(given: object) -> int:
    """Read a size in bytes.

    Examples:
        >>> [read_size(size) for size in ("1GiB", "1.5 GB", "200M", 1 << 20)]
        [1073741824, 1500000000, 200000000, 1048576]
    """
    size = None
    if isinstance(given, str) and (found := re.fullmatch(SIZE, given.strip(), re.IGNORECASE)):
        size = int(min(float(found[1]) * UNITS[(found[2] or "").lower()], sys.maxsize))
    elif isinstance(given, int) and not isinstance(given, bool):
        size = int(given)
    if size is None or size < LEAST:
        raise UsageError(
            f"expected memory as a size of at least 1MiB, found {quote(given)}",
            hint="write memory='1GiB'",
            code="bad_memory",
        )
    return size


def read_folder(given: object) -> str:
    """Return the path of the folder for temporary files."""
    path = os.fspath(given) if isinstance(given, str | os.PathLike) else None
    if not isinstance(path, str) or not os.path.isdir(path):  # noqa: PTH112 - pathlib loads slowly
        raise UsageError(
            f"expected spill_folder as the path of a folder, found {given!r}",
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
        import resource  # noqa: PLC0415 - not on every system
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
    found = re.search(rf"^{field}:\s+(\d+) kB", _read(path), re.MULTILINE)
    return None if found is None else int(found[1]) * 1024


def _read(path: str) -> str:
    try:
        with open(path, encoding="ascii", errors="replace") as file:  # noqa: PTH123 - as above
            return file.read()
    except OSError:
        return ""


class SpillNotice:
    """Says on standard error that rows are written to temporary files, where, and how much.

    Args:
        name: What messages call the input.
        memory: The limit, and the folder.
    """

    def __init__(self, name: str, memory: Memory) -> None:
        self.memory = memory
        self._name = name
        self._written = 0

    def add(self, written: int) -> None:
        """Count bytes that were written, and say so at the first ones."""
        if written > 0 and not self._written:
            limit = show_size(self.memory.limit)
            self._say(
                f"{self._name} exceeds the memory limit of {limit}, so its rows are written to "
                f"temporary files in {self.memory.folder}"
            )
        self._written += written

    def finish(self) -> None:
        """Say how much was written, if anything was."""
        if self._written > 0:
            self._say(f"wrote {show_size(self._written)} to temporary files, and removed them")

    def _say(self, text: str) -> None:
        from logging import getLogger  # noqa: PLC0415 - only where there is something to say

        # Without a handler, warnings go to standard error.
        getLogger("rankscope").warning("rankscope: %s", text)


def show_size(size: int) -> str:
    """Return a size as a person writes it, rounded up."""
    for unit, power in (("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if size >= 1 << power:
            return f"{-(-10 * size >> power) / 10:.1f} {unit}"
    return f"{size} B"
