"""The write-ahead log of a store: how much of its file is in use.

SQLite writes the log from its start again once all of it is in the database. What came before stays
in the file behind it until it is overwritten: that is faster than making the file longer. The
format is described on https://sqlite.org/fileformat2.html#the_write_ahead_log.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

HEAD = 32
FRAME_HEAD = 24
SALTS = 8
"""The bytes of two random numbers that a new start of the log changes, in its head and in the head
of each page."""


def measure_log(path: Path) -> int:
    """Return how many bytes at the start of a log are in use, 0 where there is none."""
    try:
        log = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return 0
    try:
        head = os.pread(log, HEAD, 0)
        size = FRAME_HEAD + int.from_bytes(head[8:12], "big")
        salts = head[16 : 16 + SALTS]
        # The pages since the last start come first.
        least, most = 0, max(os.fstat(log).st_size - HEAD, 0) // size
        while least < most:
            middle = (least + most) // 2
            if os.pread(log, SALTS, HEAD + middle * size + 8) == salts:
                least = middle + 1
            else:
                most = middle
    finally:
        os.close(log)
    return HEAD + least * size if least else 0
