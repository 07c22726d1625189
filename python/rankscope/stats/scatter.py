"""Reproducible pseudorandom numbers, derived from texts or from positions in a sequence."""

from __future__ import annotations

import zlib
from operator import methodcaller

from rankscope.deferred import np

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

STEP = 0x9E3779B97F4A7C15


def number_texts(texts: Iterable[str]) -> NDArray[np.uint64]:
    """Return a number for each text, equal for equal texts, to pass to `scatter`."""
    written = map(methodcaller("encode", "utf-8", "surrogatepass"), texts)
    return np.fromiter(map(zlib.crc32, written), dtype=np.uint64)


def scatter(numbers: NDArray[np.uint64], seed: int) -> NDArray[np.uint64]:
    """Return a pseudorandom 64-bit number for each number.

    This is the output function of SplitMix64 (Steele, Lea and Flood, *Fast splittable pseudorandom
    number generators*, 2014), twice: once for the seed and once for the number.
    """
    start = _finish(np.array([(seed * STEP + STEP) % 2**64], dtype=np.uint64))
    return _finish((numbers + np.uint64(1)) * np.uint64(STEP) + start)


def _finish(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:

    # Products of arrays wrap around, as they should here.
    mixed = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


def below(numbers: NDArray[np.uint64], count: int) -> NDArray[np.int64]:
    """Return a number below `count`, which is below 2^32, for each 64-bit number."""
    drawn = (numbers >> np.uint64(32)) * np.uint64(count) >> np.uint64(32)
    return drawn.astype(np.int64)
