"""Makes the offsets of runs of documents."""

from __future__ import annotations

from rankscope.deferred import np

TYPE_CHECKING = False
if TYPE_CHECKING:
    from numpy.typing import NDArray


def offsets_of(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the offsets of runs of some sizes, and the end of the last."""
    offsets = np.zeros(len(sizes) + 1, dtype=np.int64)
    np.cumsum(sizes, out=offsets[1:])
    return offsets
