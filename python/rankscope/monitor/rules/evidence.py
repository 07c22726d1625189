"""The evidence about a stream from values of one age."""

from __future__ import annotations

import math
from datetime import datetime, timedelta
from typing import Any, Literal, TypeAlias

from rankscope.monitor.events.times import describe_duration
from rankscope.monitor.rules.stored import Stored, write
from rankscope.records import record, replace
from rankscope.stats.means import Mean
from rankscope.stats.sequential.detector import Detector, Recovery
from rankscope.stats.sequential.lanes import Lane as Usual

Judged: TypeAlias = Literal["value", "discount"]
FINAL = timedelta()


@record(frozen=True, slots=True, kw_only=True)
class Evidence(Stored):
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
            "value": write(self.value),
            "floor": self.floor,
            "expected": self.expected,
            "baseline": write(self.mean),
            "judged": self.judged,
            "log_evidence": evidence if math.isfinite(evidence) else None,
            "needed": self.needed,
            "is_named": self.is_named,
        }
