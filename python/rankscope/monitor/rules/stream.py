"""Streams: the evidence of a rule about one version and slice, by the age of values."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Literal, TypeAlias

from rankscope.monitor.definition.slices import Slice
from rankscope.monitor.evaluate.means import Mean
from rankscope.monitor.events.times import describe_duration, describe_time
from rankscope.monitor.plain import Stored, make_plain
from rankscope.monitor.sequential.detector import Detector, Recovery
from rankscope.monitor.sequential.lanes import Lane as Usual

Judged: TypeAlias = Literal["value", "discount"]
FINAL = timedelta()


@dataclass(frozen=True, slots=True, kw_only=True)
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

    @property
    def method(self) -> str:
        """The test that finds a drop: `calibrated`, or `anytime`.

        If the baseline is too small to calibrate the test, the reason follows.
        """
        usual = None if self.usual is None else self.usual.value
        if usual is None:
            return ""
        reason = f": {usual.uncalibrated}" if usual.uncalibrated else ""
        return f"anytime{reason}" if usual.noise is None else "calibrated"

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
            "value": make_plain(self.value),
            "floor": self.floor,
            "expected": self.expected,
            "baseline": make_plain(self.mean),
            "judged": self.judged,
            "log_evidence": evidence if math.isfinite(evidence) else None,
            "needed": self.needed,
            "is_named": self.is_named,
            "method": self.method,
        }


Judgment: TypeAlias = Literal["OK", "ALERT", "STALE", "INSUFFICIENT"]
Labels: TypeAlias = Literal["usual", "lost", "gained"]
# The number of a day, its rankings, their labels, and whether these were as usual.
LabelDay: TypeAlias = tuple[int, int, int, bool]

FEWEST_DAYS = 7
"""With so many days, the usual number of labels is known."""
DAY = timedelta(days=1)
ALL = "<all>"
"""The version of the stream that watches all versions of a model together, over the long term."""


@dataclass(frozen=True, slots=True)
class Inherited(Stored):
    """A fall of the version before that lasted when a version came.

    Args:
        version: The version before.
        since: When its fall began.
        came: When the new version came.
    """

    version: str
    since: datetime
    came: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream(Stored):
    """The evidence of a rule about one version and slice.

    Args:
        model: The model.
        version: Its version; `<all>` for the stream that compares all versions together with the
            model's long-term baseline.
        slice: Names of attributes and values; empty for all of its rankings.
        state: `OK`, `ALERT`, `STALE` where no rankings come any more, or `INSUFFICIENT` where
            nothing can be said.
        reason: Why, where nothing can be said.
        lanes: The evidence by the age of values; the first one is of final values.
        compared: The time from which the long-term baseline is.
        labels: Whether the newest final day had as many labels as usual.
        told: What is unusual about its labels, in a few words.
        label_days: The labels of the last days.
        warnings: What makes the evidence doubtful.
        smallest_fall: The smallest fall that is found within 30 days in half of the cases.
        users_needed: How many users the baseline would need to find a fall of 0.10 in 30 days.
        last: The end of the last final period with rankings.
        longest: The longest time between two such periods.
        absent: For how long its version has shown nothing while others did.
        inherited: The fall that it may go on with; `None` for none.
        has_lost_labels: Whether labels were lost also where the order is as usual.
    """

    model: str
    version: str
    slice: Slice = ()
    state: Judgment = "INSUFFICIENT"
    reason: str = ""
    lanes: tuple[Evidence, ...] = (Evidence(),)
    compared: datetime | None = None
    labels: Labels = "usual"
    told: str = ""
    label_days: tuple[LabelDay, ...] = ()
    warnings: tuple[str, ...] = ()
    smallest_fall: float | None = None
    users_needed: int | None = None
    last: datetime | None = None
    longest: timedelta = timedelta()
    absent: timedelta = timedelta()
    inherited: Inherited | None = None
    has_lost_labels: bool = False

    @property
    def key(self) -> tuple[str, str, Slice]:
        """The identity of the stream in its rule."""
        return self.model, self.version, self.slice

    @property
    def name(self) -> str:
        """The name of the stream, such as `device=tv, version=4`."""
        is_anchor = self.version == ALL
        parts = [*self.slice, ("model", self.model), ("version", "" if is_anchor else self.version)]
        named = [f"{name}={value}" for name, value in parts if value]
        if is_anchor:
            since = "" if self.compared is None else f" since {describe_time(self.compared)}"
            named.append(f"all versions{since}")
        return ", ".join(named) or "all rankings"

    @property
    def final(self) -> Evidence:
        """The evidence from final values."""
        return self.lanes[0]

    @property
    def leading(self) -> Evidence:
        """The evidence that the state is from: the strongest of a drop, or that of final values."""
        named = [lane for lane in self.lanes if lane.is_named]
        return max(named, key=lambda lane: lane.log_evidence, default=self.final)

    @property
    def knows_labels(self) -> bool:
        """Whether the usual number of labels is known, so that a loss isn't taken for a drop."""
        return len(self.label_days) >= FEWEST_DAYS

    @property
    def has_baseline(self) -> bool:
        """Whether final values can be compared with something."""
        return self.final.mean is not None

    @property
    def value(self) -> Mean | None:
        """The mean of the newest period that had values, with its interval over users."""
        return self.leading.value

    @property
    def floor(self) -> float | None:
        """What that mean is held against."""
        return self.leading.floor

    @property
    def baseline(self) -> Mean | None:
        """The mean of the baseline."""
        return self.leading.mean

    @property
    def detector(self) -> Detector | None:
        """The evidence of a drop."""
        return self.leading.detector

    @property
    def needed(self) -> float | None:
        """The logarithm of the evidence that is needed, among all that the rule collects."""
        return self.leading.needed

    @property
    def is_named(self) -> bool:
        """Whether the evidence was enough, and the drop has not ended since."""
        return any(lane.is_named for lane in self.lanes)

    @property
    def since(self) -> datetime | None:
        """When the drop seems to have begun, as it was estimated when it was found."""
        fall = self.continued
        return self._own_since if fall is None else fall.since

    @property
    def continued(self) -> Inherited | None:
        """The fall that its own one goes on with; `None` if it began on a later day."""
        fall, since = self.inherited, self._own_since
        is_same = fall is not None and since is not None and since < fall.came + DAY
        return fall if is_same else None

    @property
    def _own_since(self) -> datetime | None:
        return min((lane.since for lane in self.lanes if lane.since is not None), default=None)

    @property
    def at(self) -> datetime | None:
        """When the newest period began."""
        return self.leading.at

    @property
    def log_evidence(self) -> float:
        """The logarithm of the evidence of a drop; minus infinity if there is none."""
        return self.leading.log_evidence

    @property
    def periods(self) -> int:
        """The number of periods that the evidence comes from."""
        detector = self.detector
        return 0 if detector is None else detector.periods

    def lane(self, age: timedelta) -> Evidence | None:
        """Return the evidence from values of an age."""
        return next((lane for lane in self.lanes if lane.age == age), None)

    def set_lane(self, changed: Evidence) -> Stream:
        """Return the stream with other evidence from values of an age."""
        lanes = tuple(changed if lane.age == changed.age else lane for lane in self.lanes)
        return replace(self, lanes=lanes)

    def restart(self) -> Stream:
        """Discard the evidence.

        What was expected of a version stays; a model's long-term baseline is recomputed from the
        time before, as it is now known to be outdated.
        """
        lanes = tuple(lane.restart() for lane in self.lanes)
        kept = replace(self, reason="", lanes=lanes, inherited=None)
        if self.version == ALL:
            kept = replace(kept, lanes=(Evidence(),), compared=None)
        return replace(kept, state="OK" if kept.has_baseline else "INSUFFICIENT")

    def follow(self, version: str, came: datetime) -> Stream | None:
        """Return the stream of a version that comes while this one has fallen, if it has.

        It is held against the same baseline, as this version's values are those of the fall.
        """
        if self.since is None or not self.is_named:
            return None
        fresh = Stream(model=self.model, version=version, slice=self.slice)
        lanes = tuple(
            replace(lane.restart(), value=None, at=None, users=0, recent=()) for lane in self.lanes
        )
        return replace(
            fresh,
            lanes=lanes,
            label_days=self.label_days,
            warnings=self.warnings,
            inherited=Inherited(self.version, self.since, came),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the public part of it as JSON holds it."""
        evidence = self.log_evidence
        return {
            "model": self.model,
            "version": self.version,
            "slice": dict(self.slice),
            "state": self.state,
            "reason": self.reason,
            "floor": self.floor,
            "baseline": make_plain(self.baseline),
            "value": make_plain(self.value),
            "log_evidence": evidence if math.isfinite(evidence) else None,
            "needed": self.needed,
            "is_named": self.is_named,
            "since": make_plain(self.since),
            "at": make_plain(self.at),
            "periods": self.periods,
            "lane": "final" if self.leading.age == FINAL else self.leading.to_dict()["age"],
            "judged": self.leading.judged,
            "method": self.leading.method,
            "early": [lane.to_dict() for lane in self.lanes if lane.age != FINAL],
            "compared": make_plain(self.compared),
            "labels": self.labels,
            "warnings": list(self.warnings),
            "smallest_fall": self.smallest_fall,
            "users_needed": self.users_needed,
            "last": make_plain(self.last),
        }
