"""A drop detector that you can check after every period without more false alarms."""

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
"""The default bets: small ones detect small drops, large ones detect large drops quickly."""


@record(frozen=True, slots=True, kw_only=True)
class Detector:
    """The evidence that a mean fell below its floor; each step returns a new record.

    This is the e-detector of Shiryaev and Roberts for means of bounded values (Shin, Ramdas and
    Rinaldo, *E-detectors: a nonparametric framework for sequential change detection*, NEJSDS 2024).
    For a bet b and a floor m, an observation x in [0, 1] multiplies the evidence by
    L = 1 + b (m - x) / (1 - m), whose expectation is at most 1 while the mean is at least m. A drop
    can start in any period, so M becomes (M + 1) times the product of the L of the period. The
    evidence is the average of M over the bets. As long as the mean is at least the floor, it takes
    at least `run_length` periods on average to reach `run_length`, whatever the distribution of the
    values.

    The guarantee requires that the mean of a period, given all earlier ones, is at least the floor,
    and that the observations of a period are independent. Therefore pass the means of users or
    queries (`average_by_cluster`), and a floor below the lowest day of a usual week, or a separate
    floor for each day of the week.

    Args:
        run_length: The minimum average number of periods before a false alarm.
        bets: The bets as shares of the largest possible bet, above 0 and below 1.
        periods: The number of periods processed.
        observations: The number of observations processed.
        evidence: The logarithm of M for each bet; empty before the first period.
        sums: The same for the variant max(M, 1) L, which restarts instead of adding 1 and shows
            since when the evidence has grown.
        starts: The period of its last restart for each bet, counted from 1.
        alarm: The first period after which the evidence reached `run_length`, or `None`.

    Raises:
        UsageError: A value is out of range, or values are inconsistent.

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
        """The logarithm of the evidence, or minus infinity before the first period."""
        if not self.evidence:
            return -math.inf
        most = max(self.evidence)
        total = math.fsum(math.exp(each - most) for each in self.evidence)
        return most + math.log(total / len(self.evidence))

    @property
    def is_alarm(self) -> bool:
        """Whether the evidence has reached `run_length` since the detector started."""
        return self.alarm is not None

    @property
    def since(self) -> int | None:
        """The estimated period in which the drop started, counted from 1."""
        if not self.sums:
            return None
        return self.starts[max(range(len(self.sums)), key=self.sums.__getitem__)]

    def bound_false_alarms(self, periods: int) -> float:
        """Return an upper bound of the probability of a false alarm within some periods."""
        return min(1.0, periods / self.run_length)

    def restart(self) -> Detector:
        """Return a new detector with the same settings and no evidence."""
        return Detector(run_length=self.run_length, bets=self.bets)

    def to_dict(self) -> dict[str, Plain]:
        """Return the detector as a dict that JSON can represent exactly, for `from_dict`."""
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
        """Return the detector from the result of `to_dict`.

        Raises:
            UsageError: The dict is not a result of `to_dict`.
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
    """Return the detector after the observations of one more period.

    The result doesn't depend on the order of the observations, not even in the last bit. A period
    without observations is ignored.

    Args:
        detector: The detector before.
        values: The means of the clusters of the period, from 0 to 1.
        floor: The floor of the mean, between 0 and 1. It can differ between periods, but must not
            depend on the values of this period.

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
            hint="remove queries without a value, and scale measures that can exceed 1",
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
    """Check that a floor is between 0 and 1.

    Raises:
        UsageError: The floor is not between 0 and 1.
    """
    if not 0 < floor < 1:
        raise UsageError(
            f"the floor must be between 0 and 1, found {floor}",
            hint="use a smaller tolerance, or a longer baseline",
            code="bad_floor",
        )


def _bad(wanted: str, found: object) -> UsageError:
    return UsageError(
        f"expected {wanted}, found {found!r}",
        hint="start a new detector: Detector(run_length=1800)",
        code="bad_detector",
    )
