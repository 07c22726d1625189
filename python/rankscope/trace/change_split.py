"""Exact decomposition of the change of a mean between two windows by slices.

This is the symmetric form of Kitagawa, *Components of a difference between two rates*, Journal of
the American Statistical Association 50, 1955. With the share w and the mean m of a slice before (0)
and after (1), it contributes

- through its mix `(w1 - w0) ((m0 + m1) / 2 - c)`, the change of its share of the queries;
- through its mean `(w0 + w1) / 2 (m1 - m0)`;
- if it only has queries in one window, `w1 (m1 - c)` as it entered, or `-w0 (m0 - c)` as it left.

Since shares add up to 1 in both windows, c can be any constant. It is the mean of the means of both
windows. A slice then contributes through its mix as far as it differs from the others, and swapping
the windows only changes the sign.
"""

from __future__ import annotations

from rankscope.deferred import np
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from numpy.typing import NDArray


@record(frozen=True, slots=True)
class ChangeSplit:
    """The contributions of slices to a change; the last axis is that of slices.

    Args:
        change: The change of the mean, which is the sum of the other fields.
        mix: The contributions of slices with queries in both windows through their share.
        within: The contributions of slices with queries in both windows through their mean.
        entered: The contributions of slices that only have queries after.
        left: The contributions of slices that only have queries before.
    """

    change: NDArray[np.float64]
    mix: NDArray[np.float64]
    within: NDArray[np.float64]
    entered: NDArray[np.float64]
    left: NDArray[np.float64]


def split_change(counts: NDArray[np.float64], sums: NDArray[np.float64]) -> ChangeSplit:
    """Split a change of means by slices.

    Examples:
        >>> import numpy as np
        >>> split = split_change(np.array([[3.0, 1.0], [2.0, 2.0]]), np.array([[3.0, 0], [1.0, 0]]))
        >>> split.change, split.mix.tolist(), split.within.tolist()
        (np.float64(-0.5), [-0.0625, -0.125], [-0.3125, 0.0])
    """
    whole = np.maximum(counts.sum(axis=-1), 1)
    shares = counts / whole[..., None]
    means = divide(sums, counts)
    overall = sums.sum(axis=-1) / whole
    centre = overall.mean(axis=-1)[..., None]
    before, after = counts[..., 0, :] > 0, counts[..., 1, :] > 0
    in_both = before & after
    share = shares[..., 1, :] - shares[..., 0, :]
    change = means[..., 1, :] - means[..., 0, :]
    mix = share * (means.mean(axis=-2) - centre)
    one_sided = shares * (means - centre[..., None, :])
    return ChangeSplit(
        overall[..., 1] - overall[..., 0],
        np.where(in_both, mix, 0.0),
        np.where(in_both, shares.mean(axis=-2) * change, 0.0),
        np.where(after & ~before, one_sided[..., 1, :], 0.0),
        np.where(before & ~after, -one_sided[..., 0, :], 0.0),
    )


def divide(sums: NDArray[np.float64], counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return sums divided by counts, or 0 if a count is 0."""
    return sums / np.maximum(counts, 1)
