"""The evidence about a stream from values of one age."""

from __future__ import annotations

import math
from datetime import timedelta

from rankscope.monitor.events.times import MICROSECOND, describe_duration, to_datetime, to_micros
from rankscope.records import record, replace
from rankscope.stats.means import Mean
from rankscope.stats.sequential.detector import Detector
from rankscope.stats.sequential.lanes import Lane as Usual
from rankscope.stats.sequential.recovery import Recovery

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from typing import Any

    from rankscope.stats.sequential.lanes import Judged

FINAL = timedelta()


@record(frozen=True, slots=True, kw_only=True)
class Evidence:
    """The evidence about a stream from values of one age.

    Args:
        age: How long after each ranking its labels count; 0 for values that are final.
        tried: What the baseline was made from, or was to be; it is recomputed if the data differ.
        reason: Why there is no baseline.
        mix: The attributes whose shares the expected mean follows.
        mean: The mean of the baseline.
        usual: What is expected of the measure, and of the discount per gain, by which periods
            with an unusual number of labels are judged.
        detector: The evidence of a drop.
        recovery: The evidence that a drop has ended; `None` while there is none.
        needed: The logarithm of the evidence that is needed, among all lanes of the rule.
        is_named: Whether the evidence was enough, and the drop has not ended since.
        moments: When the periods began at which the detector may have started, by their number.
        since: When the drop seems to have begun, as it was estimated when it was found.
        value: The mean of the newest period that had values, with its interval.
        floor: What that mean was held against.
        expected: What was expected of that mean.
        judged: What the newest period was judged by: the `value` or the `discount` per gain.
        at: When that period began.
        day: The day of the newest hour, counted from 1970 in UTC.
        users: How many users with a value that day has had so far.
        recent: The last 24 hours that had rankings: the number of the hour, counted from 1970, its
            rankings, and their gains.
    """

    age: timedelta = FINAL
    tried: str = ""
    reason: str = ""
    mix: tuple[str, ...] = ()
    mean: Mean | None = None
    usual: Usual | None = None
    detector: Detector | None = None
    recovery: Recovery | None = None
    needed: float | None = None
    is_named: bool = False
    moments: tuple[tuple[int, datetime], ...] = ()
    since: datetime | None = None
    value: Mean | None = None
    floor: float | None = None
    expected: float | None = None
    judged: Judged = "value"
    at: datetime | None = None
    day: int = 0
    users: int = 0
    recent: tuple[tuple[int, int, float], ...] = ()

    @property
    def log_evidence(self) -> float:
        """The logarithm of the evidence of a drop; minus infinity if there is none."""
        return -math.inf if self.detector is None else self.detector.log_evidence

    @property
    def name(self) -> str:
        """What its values are called: `final`, or `after 15 min`."""
        return "final" if self.age == FINAL else f"after {describe_duration(self.age)}"

    def restart(self) -> Evidence:
        """Discard the evidence, but keep what is expected."""
        return replace(
            self,
            detector=None if self.detector is None else self.detector.restart(),
            recovery=None,
            is_named=False,
            moments=(),
            since=None,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the public part of it as JSON holds it."""
        evidence = self.log_evidence
        return {
            "age": describe_duration(self.age) if self.age else "final",
            "value": write_mean(self.value),
            "floor": self.floor,
            "expected": self.expected,
            "baseline": write_mean(self.mean),
            "judged": self.judged,
            "log_evidence": evidence if math.isfinite(evidence) else None,
            "needed": self.needed,
            "is_named": self.is_named,
        }

    def store(self) -> dict[str, Any]:
        """Return all of it as JSON holds it, so that `restore` reads it back."""
        said = {name: getattr(self, name) for name in FIELDS}
        for name in PARTS:
            said[name] = None if said[name] is None else said[name].to_dict()
        return said | {
            "age": self.age // MICROSECOND,
            "mix": list(self.mix),
            "mean": write_mean(self.mean),
            "value": write_mean(self.value),
            "moments": [[number, to_micros(moment)] for number, moment in self.moments],
            "recent": [list(hour) for hour in self.recent],
            "at": write_time(self.at),
            "since": write_time(self.since),
        }

    @staticmethod
    def restore(stored: Mapping[str, Any]) -> Evidence:
        """Read what `store` returned."""
        read: dict[str, Any] = {
            name: None if stored[name] is None else part.from_dict(stored[name])
            for name, part in PARTS.items()
        }
        read |= {
            "age": timedelta(microseconds=stored["age"]),
            "mix": tuple(stored["mix"]),
            "mean": read_mean(stored["mean"]),
            "value": read_mean(stored["value"]),
            "moments": tuple((number, to_datetime(at)) for number, at in stored["moments"]),
            "recent": tuple((hour, count, gain) for hour, count, gain in stored["recent"]),
            "at": read_time(stored["at"]),
            "since": read_time(stored["since"]),
        }
        return Evidence(**{**stored, **read})


FIELDS: tuple[str, ...] = Evidence.__match_args__
MEAN: tuple[str, ...] = Mean.__match_args__
PARTS: Mapping[str, Any] = {
    "usual": Usual,
    "detector": Detector,
    "recovery": Recovery,
}


def write_mean(mean: Mean | None) -> dict[str, float | None] | None:
    """Return a mean as JSON holds it; NaN becomes `None`."""
    if mean is None:
        return None
    said = {name: getattr(mean, name) for name in MEAN}
    return {name: value if math.isfinite(value) else None for name, value in said.items()}


def read_mean(stored: Mapping[str, Any] | None) -> Mean | None:
    """Read what `write_mean` returned."""
    if stored is None:
        return None
    read: dict[str, Any] = {
        name: math.nan if value is None else value for name, value in stored.items()
    }
    return Mean(**read)


def write_time(time: datetime | None) -> int | None:
    """Return a time as JSON holds it, in microseconds since 1970 in UTC."""
    return None if time is None else to_micros(time)


def read_time(stored: int | None) -> datetime | None:
    """Read what `write_time` returned."""
    return None if stored is None else to_datetime(stored)
