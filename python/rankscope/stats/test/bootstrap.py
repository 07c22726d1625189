"""The bootstrap-shift test of a mean difference of 0."""

from __future__ import annotations

from rankscope._core import count_shifted
from rankscope.deferred import np
from rankscope.settings.interval import stream_of
from rankscope.stats.test.student import average
from rankscope.stats.test.tested import Tested

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankscope.stats.test.family import Family, Numbers
    from rankscope.stats.test.tested import Sampling

MOST_WORK = 2_000_000_000
"""About how many additions are quick enough: a few seconds of one core."""
FEW_UNITS = 25


def test_by_bootstrap(families: Sequence[Family], sampling: Sampling) -> Tested:
    """Test all pairs of all families with the studentized bootstrap of shifted differences.

    The differences are shifted to a mean of 0, and units are drawn with replacement. The p-value is
    (1 + resamples whose t statistic is as large) / (1 + resamples). All pairs of a family use the
    same resamples, and each measure has its own. There is no p-value where the t test has none.
    """
    work = max((len(family.sizes) * (len(family.pairs) + 2) for family in families), default=0)
    resamples = sampling.choose(work, 0, MOST_WORK)
    tested = [_test_family(family, resamples, sampling) for family in families]
    statistic, p = (
        np.concatenate([each[at] for each in tested]) if tested else np.zeros(0) for at in (0, 1)
    )
    fewest = min((int((family.sizes > 0).sum()) for family in families), default=FEW_UNITS)
    is_few = fewest < FEW_UNITS
    return Tested(
        statistic=statistic,
        p=p,
        smallest_p=np.full(len(p), 1 / (resamples + 1)),
        max_t=np.full(len(p), np.nan),
        test="bootstrap",
        permutations=resamples,
        warnings=(WITH_FEW.format(fewest),) if is_few else (),
    )


WITH_FEW = (
    "with {} queries or clusters, bootstrap samples repeat few values; the permutation test is "
    "more reliable"
)


def _test_family(family: Family, resamples: int, sampling: Sampling) -> tuple[Numbers, Numbers]:

    _, _, sizes = family.kept()
    differences = list(family.differences())
    found = [average(each, sizes) for each in differences]
    statistic = np.array([each.statistic for each in found])
    p = np.where(np.isnan(statistic), np.nan, 1.0)
    # Where nothing differs, p is 1.
    chosen = [at for at, each in enumerate(found) if each.standard_error > 0]
    if chosen:
        residuals = np.stack([differences[at] - found[at].mean * sizes for at in chosen], axis=1)
        counts = count_shifted(
            sizes,
            np.ascontiguousarray(residuals).ravel(),
            np.square(statistic[chosen]),
            resamples,
            stream_of(sampling.seed, family.measure),
            sampling.threads,
            sampling.check,
        )
        p[chosen] = (np.array(counts) + 1) / (resamples + 1)
    return statistic, p
