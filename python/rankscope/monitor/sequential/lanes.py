"""Lanes: values of one age, compared with a baseline of the same age."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rankscope.monitor.sequential.baseline import LEVEL, Baseline, find_gaps, fit_baseline
from rankscope.monitor.sequential.observations import Gaps, Observations

Judged: TypeAlias = Literal["value", "discount"]


USUAL_GAIN = 0.10
"""How far the gain per list can be from the baseline's, as a share of it."""

FEWEST_LISTS = 100
"""In a period with fewer lists, the gain per list differs by chance: the last 24 hours count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """What is expected of the rankings of a stream at one age.

    Args:
        value: The baseline of the measure.
        discount: The baseline of the discount per gain; `None` if no ranking has a gain.
        gain: The mean gain per list.
    """

    value: Baseline
    discount: Baseline | None
    gain: float

    def to_dict(self) -> dict[str, Any]:
        """Return the lane as a dict that JSON can represent exactly, for `from_dict`."""
        discount = None if self.discount is None else self.discount.to_dict()
        return {"value": self.value.to_dict(), "discount": discount, "gain": self.gain}

    @staticmethod
    def from_dict(stored: Mapping[str, Any]) -> Lane:
        """Return the lane from the result of `to_dict`."""
        held = stored["discount"]
        return Lane(
            value=Baseline.from_dict(stored["value"]),
            discount=None if held is None else Baseline.from_dict(held),
            gain=stored["gain"],
        )


@dataclass(frozen=True, slots=True)
class LaneGaps:
    """The gaps of a period in a lane.

    Args:
        gaps: The gaps.
        judged: What they are of: the `value`, or the `discount` per gain.
        gain: The mean gain per list.
    """

    gaps: Gaps
    judged: Judged
    gain: float


def fit_lane(
    seen: Observations,
    gain: NDArray[np.float64],
    discount: NDArray[np.float64],
    *,
    tolerance: float,
    level: float = LEVEL,
    is_hourly: bool = False,
    is_calibrated: bool = False,
) -> Lane:
    """Return what is expected of the rankings of a stream, given those of its baseline at one age.

    The tolerance of the discount per gain is the same share of its mean as that of the measure.

    Examples:
        >>> import numpy as np
        >>> from rankscope.monitor.sequential.observations import DAY, Observations
        >>> draw = np.random.default_rng(1)
        >>> seen = Observations(
        ...     value=draw.random(1400),
        ...     cluster=np.arange(1400),
        ...     cell=np.zeros(1400, dtype=int),
        ...     time=np.arange(1400) * (DAY // 100),
        ... )
        >>> lane = fit_lane(seen, np.full(1400, 2.0), seen.value / 2, tolerance=0.02)
        >>> judge_lane(lane, seen, np.full(1400, 2.1), seen.value / 2).judged
        'value'
        >>> judge_lane(lane, seen, np.full(1400, 0.5), seen.value / 2).judged
        'discount'
    """
    fit = partial(fit_baseline, tolerance=tolerance, level=level, is_hourly=is_hourly)
    value, usual = fit(seen, is_calibrated=is_calibrated), None
    weighed = _weigh(seen, gain, discount)
    if ((weighed.value >= 0) & (gain > 0)).any():
        usual = fit(weighed, is_calibrated=value.noise is not None, measured=value.mean)
        if value.noise is not None and usual.noise is None:
            # The evidence of a stream is of one kind.
            value = replace(fit(seen), uncalibrated=usual.uncalibrated)
    return Lane(value=value, discount=usual, gain=float(gain.mean()))


def judge_lane(
    lane: Lane,
    seen: Observations,
    gain: NDArray[np.float64],
    discount: NDArray[np.float64],
    *,
    shared: int | None = None,
    recent_gain: float | None = None,
    has_usual_labels: bool = True,
) -> LaneGaps:
    """Return the gaps by which a period is judged.

    An early value depends on how many labels have arrived. If labels start to arrive more slowly,
    or if some are lost, it changes although the rankings are as good as before. Therefore a period
    is judged by the discount per gain if its gain per list is more than 10 % from the baseline's:
    that doesn't depend on the number of labels.
    """
    found = float(gain.mean()) if len(gain) else math.nan
    recent = found if recent_gain is None else recent_gain
    checked = [recent, found] if len(gain) >= FEWEST_LISTS else [recent]
    is_usual = all(abs(each - lane.gain) <= USUAL_GAIN * lane.gain for each in checked)
    if lane.discount is None or (has_usual_labels and is_usual):
        return LaneGaps(find_gaps(lane.value, seen, shared), "value", found)
    weighed = _weigh(seen, gain, discount)
    return LaneGaps(find_gaps(lane.discount, weighed, shared), "discount", found)


def _weigh(
    seen: Observations, gain: NDArray[np.float64], discount: NDArray[np.float64]
) -> Observations:
    """Return discounts per gain as observations that count by their gains."""
    return replace(seen, value=discount, weight=gain)
