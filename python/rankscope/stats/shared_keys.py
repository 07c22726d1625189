"""What comes in both of two windows: the keys of their queries."""

from __future__ import annotations

from rankscope.records import record
from rankscope.stats.shared_slices import join_texts

TYPE_CHECKING = False
if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from rankscope.stats.query_columns import QueryColumns


@record(frozen=True, slots=True)
class SharedKeys:
    """The keys of two windows, with one number each.

    Args:
        texts: The keys.
        codes: Of each window, the key of each query; the number of keys where it has none.
        counts: How many queries of each window have it, by window and key.
    """

    texts: tuple[str, ...]
    codes: tuple[NDArray[np.int32], NDArray[np.int32]]
    counts: NDArray[np.float64]

    @property
    def common(self) -> NDArray[np.int64]:
        """The numbers of the keys that both windows have."""
        import numpy as np  # noqa: PLC0415 - loads with the first array

        return np.flatnonzero((self.counts > 0).all(axis=0))


def share_keys(before: QueryColumns, after: QueryColumns) -> SharedKeys:
    """Number the keys of two windows together."""
    import numpy as np  # noqa: PLC0415 - loads with the first array

    places, (first, second) = join_texts(before.key, after.key)
    codes = first[before.key.codes], second[after.key.codes]
    counts = [np.bincount(each, minlength=len(places) + 1)[:-1] for each in codes]
    return SharedKeys(tuple(places), codes, np.array(counts, dtype=np.float64))
