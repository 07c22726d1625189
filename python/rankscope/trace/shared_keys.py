"""The query keys of two windows."""

from __future__ import annotations

from rankscope.deferred import np
from rankscope.records import record
from rankscope.trace.shared_slices import join_texts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rankscope.trace.query_columns import QueryColumns


@record(frozen=True, slots=True)
class SharedKeys:
    """The query keys of two windows, with common codes.

    Args:
        texts: The keys.
        codes: The code of each query's key, by window; the number of keys if it has none.
        counts: The number of queries, by window and key.
    """

    texts: tuple[str, ...]
    codes: tuple[NDArray[np.int32], NDArray[np.int32]]
    counts: NDArray[np.float64]

    @property
    def common(self) -> NDArray[np.int64]:
        """The codes of the keys that occur in both windows."""
        return np.flatnonzero((self.counts > 0).all(axis=0))


def share_keys(before: QueryColumns, after: QueryColumns) -> SharedKeys:
    """Return the keys of two windows with common codes."""
    places, (first, second) = join_texts(before.key, after.key)
    codes = first[before.key.codes], second[after.key.codes]
    counts = [np.bincount(each, minlength=len(places) + 1)[:-1] for each in codes]
    return SharedKeys(tuple(places), codes, np.array(counts, dtype=np.float64))
