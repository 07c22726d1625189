"""Which queries or documents people judge."""

from __future__ import annotations

from rankscope.deferred import np

TYPE_CHECKING = False
if TYPE_CHECKING:
    from numpy.typing import NDArray

STRATA = 2
"""More would make the weights of few judged queries too unequal."""


def split_strata(model: NDArray[np.float64], sizes: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the half to which each item belongs by the model's values, of those with a size.

    Examples:
        >>> import numpy as np
        >>> split_strata(np.array([0.1, 0.9, 0.5, 0.2, 0.8, 0.4]), np.ones(6)).tolist()
        [0, 1, 1, 0, 1, 0]
    """
    values = model[sizes > 0]
    if not len(values):
        return np.zeros(len(model), dtype=np.int64)
    ends = np.quantile(values, np.arange(1, STRATA) / STRATA, method="inverted_cdf")
    return np.searchsorted(ends, model).astype(np.int64)


def draw_items(
    strata: NDArray[np.int64], sizes: NDArray[np.float64], count: int, seed: int
) -> NDArray[np.int64]:
    """Draw items with a size, each with the same probability, so many of each stratum as it has.

    This is systematic sampling of items in a random order within each stratum (Madow and Madow, *On
    the theory of systematic sampling*, 1944).
    """
    random = np.random.default_rng(seed)
    mixed = random.permutation(np.flatnonzero(sizes > 0))
    mixed = mixed[np.argsort(strata[mixed], kind="stable")]
    steps = (np.arange(count) + random.random()) * (len(mixed) / count)
    return mixed[np.minimum(steps.astype(np.int64), len(mixed) - 1)]
