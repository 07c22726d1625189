"""Keeps memory in Spark's workers of Python, which allocate the same arrays for every bucket."""

from __future__ import annotations

MOST_FROM_HEAP = 1 << 26
"""Arrays of up to so many bytes come from memory that was used before."""
MOST_KEPT = 1 << 27
"""How many free bytes a worker keeps."""


def keep_memory() -> None:
    """Let the allocator of the C library keep memory that is freed, where it has such settings.

    Otherwise the system takes back each large array, and clears its pages for the next one, at a
    quarter of the cost of evaluating rows. No value depends on this.
    """
    import ctypes  # noqa: PLC0415 - only workers need it

    adjust = getattr(ctypes.CDLL(None), "mallopt", None)  # of glibc
    if adjust is not None:
        adjust(-3, MOST_FROM_HEAP)  # M_MMAP_THRESHOLD
        adjust(-1, MOST_KEPT)  # M_TRIM_THRESHOLD
