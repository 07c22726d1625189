"""The alert on a value below its threshold, as it is known from dashboards, with an interval."""

from __future__ import annotations

from rankscope.errors import UsageError
from rankscope.records import record
from rankscope.stats.means import DEFAULT, estimate_mean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal, TypeAlias

    import numpy as np
    from numpy.typing import NDArray

    from rankscope.data.interval import Interval
    from rankscope.stats.means import Mean

    State: TypeAlias = Literal["OK", "ALERT", "NO_DATA", "INSUFFICIENT"]

FEWEST_CLUSTERS = 30


@record(frozen=True, slots=True, kw_only=True)
class Threshold:
    """How far below a baseline a mean may lie.

    Args:
        baseline: The mean that is compared with.
        tolerance: How far below it: a difference, or a share of the baseline. 0 or more.
        is_relative: Whether the tolerance is a share: 0.1 bears 90 percent of the baseline.
        needs: What must lie below the threshold for an alert: `"interval"`, all of it, so that
            chance seldom does it; or `"value"` alone, as dashboards have it.
        fewest: With fewer clusters than this, there is no verdict. 2 or more.

    Raises:
        UsageError: A value is not one of these.

    Examples:
        >>> Threshold(baseline=0.5, tolerance=0.1, is_relative=True).limit
        0.45
        >>> Threshold(baseline=0.75, tolerance=0.25).limit
        0.5
    """

    baseline: float
    tolerance: float
    is_relative: bool = False
    needs: Literal["interval", "value"] = "interval"
    fewest: int = FEWEST_CLUSTERS

    def __post_init__(self) -> None:
        if not self.tolerance >= 0:
            raise UsageError(
                f"expected a tolerance of 0 or more, found {self.tolerance}",
                hint="0.02 bears what is at most 0.02 below the baseline",
                code="bad_tolerance",
            )
        if self.needs not in {"interval", "value"} or not self.fewest >= 2:
            raise UsageError(
                f"expected needs='interval' or 'value' and fewest=2 or more, found {self!r}",
                hint="leave them out: the whole interval of 30 clusters or more is asked for",
                code="bad_threshold",
            )

    @property
    def limit(self) -> float:
        """The threshold: what the mean may be at least."""
        if self.is_relative:
            return self.baseline * (1 - self.tolerance)
        return self.baseline - self.tolerance


@record(frozen=True, slots=True)
class Verdict:
    """What a threshold says of a window.

    Args:
        state: `OK`; `ALERT`; `NO_DATA` where no ranking has a value; `INSUFFICIENT` where too few
            clusters have one.
        limit: The threshold.
        mean: The mean of the window, with its interval.
    """

    state: State
    limit: float
    mean: Mean


def judge(
    threshold: Threshold,
    values: NDArray[np.float64],
    clusters: NDArray[Any],
    interval: Interval = DEFAULT,
    threads: int = 1,
) -> Verdict:
    """Hold the mean of a window against a threshold.

    This is for one look at one window. Looked at every day, an interval of 95 percent lies too low
    on one day in forty by chance alone; `Detector` is for that.

    Args:
        threshold: What is asked of the mean.
        values: One a ranking; those that a policy left out (NaN) are not counted.
        clusters: Whose ranking each is: text or integers.
        interval: How the interval around the mean is made.
        threads: How many threads may draw; the interval does not depend on it.

    Raises:
        UsageError: The columns differ in length.

    Examples:
        >>> import numpy as np
        >>> values, users = np.tile([0.5, 0.9, 0.7, 0.7], 25), np.arange(100)
        >>> judge(Threshold(baseline=0.8, tolerance=0.05), values, users).state
        'ALERT'
        >>> judge(Threshold(baseline=0.8, tolerance=0.05), values[:8], users[:8]).state
        'INSUFFICIENT'
    """
    mean = estimate_mean(values, clusters, interval, threads)
    return Verdict(_decide(threshold, mean), threshold.limit, mean)


def _decide(threshold: Threshold, mean: Mean) -> State:
    if not mean.rankings:
        return "NO_DATA"
    if mean.clusters < threshold.fewest:
        return "INSUFFICIENT"
    highest = mean.value if threshold.needs == "value" else mean.upper
    return "ALERT" if highest < threshold.limit else "OK"
