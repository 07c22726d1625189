"""A detector of drops that can be checked after every period, and of the recovery from one."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from rankscope._names import as_dict
from rankscope.errors import UsageError
from rankscope.monitor.sequential.likelihood import track
from rankscope.monitor.sequential.noise import find_ratio, read_evidence
from rankscope.monitor.sequential.observations import Gaps

Plain: TypeAlias = float | int | list[float] | list[int] | None


BETS = (1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 7 / 8)
"""The default bets: small ones detect small drops, large ones detect large drops quickly."""


LEAST_ROOM = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class Detector:
    """The evidence that a mean fell below its floor; each step returns a new record.

    This is the e-detector of Shiryaev and Roberts for means of bounded values (Shin, Ramdas and
    Rinaldo, *E-detectors: a nonparametric framework for sequential change detection*, NEJSDS 2024).
    A user with the value x in [0, 1], of whom r is expected, has the gap r - x. For a bet b and a
    margin m, it multiplies the evidence by L = 1 + b (r - x - m) / (1 - s + m), where s is the
    lowest r of the period. The product of a period is at most 1 on average while the mean value is
    at least the mean of r - m: users who fall behind by more are allowed if others make up for
    them. A drop can start in any period, so M becomes (M + 1) times the product of the L of the
    period. The evidence is the average of M over the bets. As long as the mean isn't below its
    floor, it takes at least `run_length` periods on average to reach `run_length`, whatever the
    distribution of the values.

    The guarantee requires that the mean of a period, given all earlier ones, is at least the floor,
    and that the users of a period are independent. Where days vary more than their users explain,
    `Gaps.gamma` makes the evidence smaller.

    Args:
        run_length: The minimum average number of periods before a false alarm.
        bets: The bets as shares of the largest possible bet, above 0 and below 1.
        periods: The number of periods processed.
        observations: The number of observations processed.
        evidence: The logarithm of M for each bet; empty before the first period.
        sums: The same for the variant max(M, 1) L, which restarts instead of adding 1 and shows
            since when the evidence has grown.
        starts: The period of its last restart for each bet, counted from 1.
        falls: The sum of the gaps since the last restart for each bet.
        sizes: The number of users since the last restart for each bet, by weight.
        alarm: The first period after which the evidence reached `run_length`, or `None`.
        levels: Which likelihood ratios chance makes, if gaps have a `Likelihood`. The evidence is
            then the days between such ratios. `sums` has the logarithms of those of falls that
            began in the periods `starts`.
        missed: By such period, see `Steps`.
        score: Likewise.
        information: Likewise.
        effect: The expected effect of the newest day.
        spread: The variance of that.
        day: The newest day, counted from 1970 in UTC.

    Raises:
        UsageError: A value is out of range, or values are inconsistent.

    Examples:
        >>> import numpy as np
        >>> from rankscope.monitor.sequential.observations import below
        >>> detector = Detector(run_length=1000)
        >>> for day in range(3):
        ...     users = np.full(40, 0.7 if day < 2 else 0.4)
        ...     detector = advance(detector, below(users, floor=0.65))
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
    falls: tuple[float, ...] = ()
    sizes: tuple[float, ...] = ()
    alarm: int | None = None
    levels: tuple[float, ...] = ()
    missed: tuple[float, ...] = ()
    score: tuple[float, ...] = ()
    information: tuple[float, ...] = ()
    effect: float = 0.0
    spread: float = 0.0
    day: int = 0

    def __post_init__(self) -> None:
        if not 1 <= self.run_length < math.inf:
            raise _bad("a run length of 1 period or more", self.run_length)
        if not (self.bets and all(0 < bet < 1 for bet in self.bets)):
            raise _bad("bets above 0 and below 1", self.bets)
        size = len(self.bets) if self.periods else 0
        kept = [self.sums, self.starts, self.falls, self.sizes]
        if self.levels:
            size = len(self.sums)
            kept += [self.missed, self.score, self.information]
        else:
            kept += [self.evidence]
        if {*map(len, kept)} != {size}:
            raise _bad(f"evidence for {size} bets", self.evidence)
        if min(self.periods, self.observations, *self.starts, self.alarm or 0) < 0:
            raise _bad("counts of 0 or more", self.periods)
        if not all(map(math.isfinite, (*self.evidence, *self.sums, *self.falls, *self.sizes))):
            raise _bad("finite evidence", self.evidence)

    @property
    def log_evidence(self) -> float:
        """The logarithm of the evidence, or minus infinity before the first period."""
        if self.levels and self.sums:
            return read_evidence(self.levels, max(self.sums))
        return average_evidence(self.evidence)

    @property
    def is_alarm(self) -> bool:
        """Whether the evidence has reached `run_length` since the detector started."""
        return self.alarm is not None

    @property
    def since(self) -> int | None:
        """The estimated period in which the drop started, counted from 1."""
        return self.starts[self._strongest] if self.sums else None

    @property
    def fall(self) -> float | None:
        """The mean gap since the estimated start of the drop."""
        return self.falls[self._strongest] / self.size if self.size else None

    @property
    def size(self) -> float:
        """The number of users, by weight, that `fall` is the mean of."""
        return self.sizes[self._strongest] if self.sizes else 0.0

    @property
    def _strongest(self) -> int:
        return max(range(len(self.sums)), key=self.sums.__getitem__)

    def restart(self) -> Detector:
        """Return a new detector with the same settings and no evidence."""
        return Detector(run_length=self.run_length, bets=self.bets)

    def to_dict(self) -> dict[str, Plain]:
        """Return the detector as a dict that JSON can represent exactly, for `from_dict`."""
        stored = as_dict(self)
        return {name: [*held] if isinstance(held, tuple) else held for name, held in stored.items()}

    @staticmethod
    def from_dict(stored: Mapping[str, object]) -> Detector:
        """Return the detector from the result of `to_dict`."""
        try:
            held = {
                name: tuple(value) if isinstance(value, list) else value
                for name, value in stored.items()
            }
            return Detector(**held)  # type: ignore[arg-type]  # `__post_init__` compares them
        except TypeError as error:
            raise _bad("what to_dict gives", str(error)) from error


def average_evidence(logs: Sequence[float]) -> float:
    """Return the logarithm of the mean evidence of bets; minus infinity without any."""
    if not logs:
        return -math.inf
    most = max(logs)
    return most + math.log(math.fsum(math.exp(each - most) for each in logs) / len(logs))


def advance(detector: Detector, gaps: Gaps, share: float = 1.0) -> Detector:
    """Return the detector after one more period.

    The result doesn't depend on the order of the users, not even in the last bit. A period without
    users is ignored.

    Examples:
        >>> import numpy as np
        >>> from rankscope.monitor.sequential.observations import below
        >>> advance(Detector(run_length=100), below(np.array([0.2, 0.9]), 0.5)).observations
        2
    """
    if not 0 < share < math.inf:
        raise UsageError(
            f"the share of a period must be above 0, found {share}",
            hint="1 for days and 1 / 24 for hours, if the run length is in days",
            code="bad_share",
        )
    if not len(gaps.gap):
        return detector
    size = float(len(gaps.gap) if gaps.weight is None else gaps.weight.sum())
    if gaps.likelihood is not None:
        return _alarm(track(detector, gaps, gaps.likelihood, size))
    # Nobody can be further below the margin; without room, everyone is perfect and expected to be.
    worst = max(gaps.room + gaps.margin, LEAST_ROOM)
    fractions = np.array(detector.bets) / worst
    gains = np.log1p(np.multiply.outer(fractions, gaps.cut(gaps.margin))).sum(axis=1) * gaps.gamma
    # A stream starts with a release, and so do most drops: the first period gets the share of the
    # periods that make up 1. The sum of the shares is never more than the time, rounded up.
    if not detector.periods:
        added = max(share, 1.0)
    else:
        added = share if detector.periods * share >= 1 else 0.0
    log_added = math.log(added) if added else -math.inf
    period, none = detector.periods + 1, [0.0] * len(fractions)
    before = np.array(detector.evidence or [-math.inf] * len(fractions))
    sums = np.array(detector.sums or [-math.inf] * len(fractions))
    starts = np.array(detector.starts or [period] * len(fractions))
    goes_on = sums > 0
    falls = np.where(goes_on, np.array(detector.falls or none), 0) + size * gaps.mean
    sizes = np.where(goes_on, np.array(detector.sizes or none), 0) + size
    after = replace(
        detector,
        periods=period,
        observations=detector.observations + len(gaps.gap),
        evidence=tuple((np.logaddexp(before, log_added) + gains).tolist()),
        sums=tuple((np.maximum(sums, 0) + gains).tolist()),
        starts=tuple(np.where(goes_on, starts, period).tolist()),
        falls=tuple(falls.tolist()),
        sizes=tuple(sizes.tolist()),
    )
    return _alarm(after)


def _alarm(detector: Detector) -> Detector:
    if detector.is_alarm or detector.log_evidence < math.log(detector.run_length):
        return detector
    return replace(detector, alarm=detector.periods)


def cap(detector: Detector, log_evidence: float) -> Detector:
    """Return the detector with at most this much evidence for each bet.

    A drop that has lasted for months would otherwise have evidence that takes months to go away.
    Less evidence is never a false alarm.
    """
    if detector.levels:
        log_evidence = find_ratio(detector.levels, log_evidence)
    if max((*detector.evidence, *detector.sums), default=-math.inf) <= log_evidence:
        return detector
    kept = [min(log_evidence / each, 1.0) if each > 0 else 1.0 for each in detector.sums]
    score, information = detector.score, detector.information
    return replace(
        detector,
        score=tuple(each * part for each, part in zip(score, kept, strict=False)),
        information=tuple(each * part for each, part in zip(information, kept, strict=False)),
        evidence=tuple(min(each, log_evidence) for each in detector.evidence),
        sums=tuple(min(each, log_evidence) for each in detector.sums),
    )


def _bad(wanted: str, found: object) -> UsageError:
    return UsageError(
        f"expected {wanted}, found {found!r}",
        hint="start a new detector: Detector(run_length=1800)",
        code="bad_detector",
    )


NEEDED = 20.0
"""The evidence at which a drop counts as recovered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovery:
    """The evidence that a drop has ended; each step returns a new record.

    The mean gap has fallen to some level. Evidence is collected against the hypothesis that it is
    still below the level h halfway between the floor and there: a user with the gap d multiplies it
    by L = 1 + b (h - d) / (r - h), where r is the largest possible gap. The mean of L is at most 1
    while the mean gap is h or more. A recovery can start in any period, so M becomes max(M, 1)
    times the L of the period. The drop has recovered once the average of M over the bets is 20 and
    the mean gap since the recovery seems to have started is within the margin.

    Args:
        total: The sum of the gaps while the mean was down.
        size: Their number.
        later_total: The sum of the gaps since the recovery seems to have started.
        later_size: Their number.
        margin: The margin of the newest period.
        evidence: The logarithm of M for each bet.
        periods: The number of periods since the recovery seems to have started.

    Examples:
        >>> import numpy as np
        >>> from rankscope.monitor.sequential.observations import below
        >>> recovery = begin_recovery(fall=0.2, size=100)
        >>> for mean in (0.5, 0.5, 0.7):
        ...     recovery = follow(recovery, below(np.full(60, mean), floor=0.68))
        ...     print(mean, recovery.is_recovered)
        0.5 False
        0.5 False
        0.7 True
    """

    total: float
    size: float
    later_total: float = 0.0
    later_size: float = 0.0
    margin: float = 0.0
    evidence: tuple[float, ...] = ()
    periods: int = 0

    @property
    def fall(self) -> float:
        """The mean gap while the mean was down."""
        return self.total / self.size

    @property
    def log_evidence(self) -> float:
        """The logarithm of the evidence that the drop has ended."""
        return average_evidence(self.evidence)

    @property
    def is_recovered(self) -> bool:
        """Whether the drop has ended."""
        if not self.later_size or self.log_evidence < math.log(NEEDED):
            return False
        return self.later_total / self.later_size <= self.margin

    def to_dict(self) -> dict[str, Any]:
        """Return the recovery as a dict that JSON can represent exactly, for `from_dict`."""
        stored = as_dict(self)
        return stored | {"evidence": list(self.evidence)}

    @staticmethod
    def from_dict(stored: Mapping[str, Any]) -> Recovery:
        """Return the recovery from the result of `to_dict`."""
        try:
            return Recovery(**{**stored, "evidence": tuple(stored["evidence"])})
        except (KeyError, TypeError) as error:
            raise UsageError(
                f"expected what to_dict gives, found {str(error)[:120]}",
                hint="start again with begin_recovery",
                code="bad_recovery",
            ) from error


def begin_recovery(fall: float, size: float) -> Recovery:
    """Return the recovery of a drop that was just found."""
    if not (math.isfinite(fall) and 0 < size < math.inf):
        raise UsageError(
            f"expected a mean gap and its number of users, found {fall} and {size}",
            hint="use Detector.fall and Detector.size",
            code="bad_recovery",
        )
    return Recovery(total=fall * size, size=size)


def follow(recovery: Recovery, gaps: Gaps) -> Recovery:
    """Return the recovery after one more period.

    The result doesn't depend on the order of the users. A period without users is ignored.
    """
    if not len(gaps.gap):
        return recovery
    size = float(len(gaps.gap) if gaps.weight is None else gaps.weight.sum())
    halfway = max((recovery.fall + gaps.margin) / 2, gaps.margin)
    # Nobody can be further below the level that is tested.
    worst = max(gaps.depth - halfway, LEAST_ROOM)
    fractions = np.array(BETS) / worst
    gains = np.log1p(np.multiply.outer(fractions, -gaps.cut(halfway))).sum(axis=1) * gaps.gamma
    before = np.array(recovery.evidence or [0.0] * len(BETS))
    after = np.maximum(before, 0) + gains
    total = size * gaps.mean
    found = replace(recovery, evidence=tuple(after.tolist()), margin=gaps.margin)
    if recovery.log_evidence > 0:
        return replace(
            found,
            later_total=recovery.later_total + total,
            later_size=recovery.later_size + size,
            periods=recovery.periods + 1,
        )
    # The recovery, if any, starts with this period: what came before belongs to the drop.
    return replace(
        found,
        total=recovery.total + recovery.later_total,
        size=recovery.size + recovery.later_size,
        later_total=total,
        later_size=size,
        periods=1,
    )
