"""A detector of drops, which may be looked at after every period without more false alarms."""

from __future__ import annotations

import math

from rankscope.errors import InputError, UsageError
from rankscope.records import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TypeAlias

    import numpy as np
    from numpy.typing import NDArray

    Plain: TypeAlias = float | int | list[float] | list[int] | None

BETS = (1 / 64, 1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2)
"""Small ones find small drops, and large ones find large drops at once."""


@record(frozen=True, slots=True, kw_only=True)
class Detector:
    """The evidence so far that a mean fell below its floor; each step makes a new record.

    This is the e-detector of Shiryaev and Roberts for means of bounded values (Shin, Ramdas and
    Rinaldo, *E-detectors: a nonparametric framework for sequential change detection*, NEJSDS 2024).
    For a bet b and a floor m, an observation x in [0, 1] multiplies the evidence by
    L = 1 + b (m - x) / (1 - m), whose expectation is at most 1 while the mean is at least m. Each
    period may be the first after a drop, so M becomes (M + 1) times the product of the L of the
    period; the evidence is the average of M over the bets. It reaches `run_length` after that many
    periods or more on average, whatever the values look like, as long as the floor holds.

    The promise needs that the mean of a period, given all earlier ones, is at least the floor, and
    that the observations within a period are independent of each other. So give the means of users
    or queries (`average_by_cluster`), and a floor below the lowest day of a usual week, or one for
    each day of the week.

    Args:
        run_length: The promise: how many periods pass on average before a false alarm, at least.
        bets: Shares of the largest bet that is possible, above 0 and below 1.
        periods: How many periods have been seen.
        observations: How many observations they had.
        evidence: The logarithm of M for each bet; nothing before the first period.
        sums: The same for the detector that starts anew instead of adding 1, max(M, 1) L, which
            tells since when the evidence has grown.
        starts: The period at which this last started, for each bet, from 1 on.
        alarm: The first period after which the evidence reached `run_length`, if any has.

    Raises:
        UsageError: A value is outside its range, or they do not fit each other.

    Examples:
        >>> import numpy as np
        >>> detector = Detector(run_length=1000)
        >>> for day in range(3):
        ...     detector = advance(detector, np.full(40, 0.7 if day < 2 else 0.4), floor=0.65)
        >>> detector.is_alarm, detector.alarm, detector.since
        (True, 3, 3)
        >>> Detector.from_dict(detector.to_dict()) == detector
        True
    """

    run_length: float
    bets: tuple[float, ...] = BETS
    periods: int = 0
    observations: int = 0
    evidence: tuple[float, ...] = ()
    sums: tuple[float, ...] = ()
    starts: tuple[int, ...] = ()
    alarm: int | None = None

    def __post_init__(self) -> None:
        if not 1 <= self.run_length < math.inf:
            raise _bad("a run length of 1 period or more", self.run_length)
        if not (self.bets and all(0 < bet < 1 for bet in self.bets)):
            raise _bad("bets above 0 and below 1", self.bets)
        size = len(self.bets) if self.periods else 0
        if {len(self.evidence), len(self.sums), len(self.starts)} != {size}:
            raise _bad(f"evidence for {size} bets", self.evidence)
        if min(self.periods, self.observations, *self.starts, self.alarm or 0) < 0:
            raise _bad("counts of 0 or more", self.periods)
        if not all(map(math.isfinite, (*self.evidence, *self.sums))):
            raise _bad("finite evidence", self.evidence)

    @property
    def log_evidence(self) -> float:
        """The logarithm of the evidence; minus infinity before the first period."""
        if not self.evidence:
            return -math.inf
        most = max(self.evidence)
        total = math.fsum(math.exp(each - most) for each in self.evidence)
        return most + math.log(total / len(self.evidence))

    @property
    def is_alarm(self) -> bool:
        """Whether the evidence has reached the run length since the detector was started."""
        return self.alarm is not None

    @property
    def since(self) -> int | None:
        """The period at which the drop seems to have begun, from 1 on: an estimate."""
        if not self.sums:
            return None
        return self.starts[max(range(len(self.sums)), key=self.sums.__getitem__)]

    def bound_false_alarms(self, periods: int) -> float:
        """Give the most that the probability of a false alarm within so many periods can be."""
        return min(1.0, periods / self.run_length)

    def restart(self) -> Detector:
        """Give a detector with the same promise that has seen nothing."""
        return Detector(run_length=self.run_length, bets=self.bets)

    def to_dict(self) -> dict[str, Plain]:
        """Give what JSON can hold, to be read by `from_dict` without a difference."""
        return {
            "run_length": self.run_length,
            "bets": [*self.bets],
            "periods": self.periods,
            "observations": self.observations,
            "evidence": [*self.evidence],
            "sums": [*self.sums],
            "starts": [*self.starts],
            "alarm": self.alarm,
        }

    @staticmethod
    def from_dict(stored: Mapping[str, object]) -> Detector:
        """Read what `to_dict` gave.

        Raises:
            UsageError: It is something else.
        """
        try:
            held = {
                name: tuple(value) if isinstance(value, list) else value
                for name, value in stored.items()
            }
            return Detector(**held)  # type: ignore[arg-type]  # `__post_init__` compares them
        except TypeError as error:
            raise _bad("what to_dict gives", str(error)) from error


def advance(detector: Detector, values: NDArray[np.float64], floor: float) -> Detector:
    """Look at the observations of one more period.

    The order of the observations makes no difference, to the last bit. A period without any is
    no period: it neither counts nor adds evidence.

    Args:
        detector: The evidence before.
        values: The means of the clusters of the period, from 0 to 1.
        floor: What the mean is at least while all is well, between 0 and 1; it may change from
            period to period, but not with the values of this one.

    Raises:
        UsageError: The floor is not between 0 and 1.
        InputError: A value is not from 0 to 1.

    Examples:
        >>> import numpy as np
        >>> advance(Detector(run_length=100), np.array([0.2, 0.9]), floor=0.5).observations
        2
    """
    import numpy as np  # noqa: PLC0415 - loads with the first array

    check_floor(floor)
    observed = np.sort(np.asarray(values, dtype=np.float64))
    if not len(observed):
        return detector
    # Sorting puts NaN last.
    if not 0 <= observed[0] <= observed[-1] <= 1:
        raise InputError(
            f"expected values from 0 to 1, found {observed[0]:g} to {observed[-1]:g}",
            hint="leave out queries without a value; measures above 1 must be scaled",
            code="bad_observation",
        )
    fractions = np.array(detector.bets) / (1 - floor)
    gains = np.log1p(np.multiply.outer(fractions, floor - observed)).sum(axis=1)
    period = detector.periods + 1
    before = np.array(detector.evidence or [-math.inf] * len(fractions))
    sums = np.array(detector.sums or [-math.inf] * len(fractions))
    starts = np.array(detector.starts or [period] * len(fractions))
    after = replace(
        detector,
        periods=period,
        observations=detector.observations + len(observed),
        evidence=tuple((np.logaddexp(before, 0) + gains).tolist()),
        sums=tuple((np.maximum(sums, 0) + gains).tolist()),
        starts=tuple(np.where(sums > 0, starts, period).tolist()),
    )
    if detector.is_alarm or after.log_evidence < math.log(detector.run_length):
        return after
    return replace(after, alarm=period)


def check_floor(floor: float) -> None:
    """Refuse a floor below which nothing can fall, or above which nothing can be.

    Raises:
        UsageError: The floor is not between 0 and 1.
    """
    if not 0 < floor < 1:
        raise UsageError(
            f"expected a floor between 0 and 1, found {floor}",
            hint="take a smaller tolerance, or a longer baseline",
            code="bad_floor",
        )


def _bad(wanted: str, found: object) -> UsageError:
    return UsageError(
        f"expected {wanted}, found {found!r}",
        hint="start a new detector: Detector(run_length=1800)",
        code="bad_detector",
    )
