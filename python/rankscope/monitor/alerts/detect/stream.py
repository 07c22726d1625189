"""Streams: the evidence of a rule about one version and slice."""

from __future__ import annotations

import math
from datetime import timedelta

from rankscope.monitor.events.times import MICROSECOND, to_datetime, to_micros
from rankscope.records import record
from rankscope.stats.detector import Detector
from rankscope.stats.means import Mean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from typing import Any, Literal, TypeAlias

    from rankscope.monitor.definition.slices import Slice

    Judgment: TypeAlias = Literal["OK", "ALERT", "INSUFFICIENT"]


@record(frozen=True, slots=True, kw_only=True)
class Stream:
    """The evidence of a rule about one version and slice.

    Args:
        model: The model.
        version: Its version.
        slice: Names of attributes and values; empty for all of its rankings.
        state: `OK`, `ALERT`, or `INSUFFICIENT` where nothing can be said.
        reason: Why, where nothing can be said.
        floor: What the mean is held against: the baseline, less the interval of a drop and the
            tolerance. It stays as it was when the stream started.
        baseline: The mean that this was made from.
        detector: The evidence of a drop.
        needed: The logarithm of the evidence that is needed, among all streams of the rule.
        is_named: Whether the evidence was enough, and has not gone since.
        moments: When the periods began at which the detector may have started, by their number.
        value: The mean of the newest period that had values, with its interval over users.
        at: When that period began, in UTC.
        since: When the drop seems to have begun, as it was estimated when it was found.
        absent: For how long its version has shown nothing while others did.
    """

    model: str
    version: str
    slice: Slice = ()
    state: Judgment = "INSUFFICIENT"
    reason: str = ""
    floor: float | None = None
    baseline: Mean | None = None
    detector: Detector | None = None
    needed: float | None = None
    is_named: bool = False
    moments: tuple[tuple[int, datetime], ...] = ()
    value: Mean | None = None
    at: datetime | None = None
    since: datetime | None = None
    absent: timedelta = timedelta()

    @property
    def key(self) -> tuple[str, str, Slice]:
        """The identity of the stream in its rule."""
        return self.model, self.version, self.slice

    @property
    def name(self) -> str:
        """The name of the stream, such as `device=tv, version=4`."""
        parts = [*self.slice, ("model", self.model), ("version", self.version)]
        return ", ".join(f"{name}={value}" for name, value in parts if value) or "all rankings"

    @property
    def log_evidence(self) -> float:
        """The logarithm of the evidence of a drop; minus infinity if there is none."""
        return -math.inf if self.detector is None else self.detector.log_evidence

    @property
    def periods(self) -> int:
        """The number of periods that the evidence comes from."""
        return 0 if self.detector is None else self.detector.periods

    def to_dict(self) -> dict[str, Any]:
        """Return the public part of it as JSON holds it."""
        stored = self.store()
        del stored["detector"], stored["moments"], stored["absent"]
        evidence = self.log_evidence
        return stored | {
            "slice": dict(self.slice),
            "log_evidence": evidence if math.isfinite(evidence) else None,
            "periods": self.periods,
        }

    def store(self) -> dict[str, Any]:
        """Return all of it as JSON holds it, so that `restore` reads it back."""
        said = {name: getattr(self, name) for name in FIELDS}
        return said | {
            "slice": [list(pair) for pair in self.slice],
            "baseline": write_mean(self.baseline),
            "value": write_mean(self.value),
            "detector": None if self.detector is None else self.detector.to_dict(),
            "moments": [[number, to_micros(moment)] for number, moment in self.moments],
            "at": None if self.at is None else to_micros(self.at),
            "since": None if self.since is None else to_micros(self.since),
            "absent": self.absent // MICROSECOND,
        }

    @staticmethod
    def restore(stored: Mapping[str, Any]) -> Stream:
        """Read what `store` returned."""
        held = stored["detector"]
        read = {
            "slice": _pairs(stored["slice"]),
            "baseline": _read_mean(stored["baseline"]),
            "value": _read_mean(stored["value"]),
            "detector": None if held is None else Detector.from_dict(held),
            "moments": tuple((number, to_datetime(at)) for number, at in stored["moments"]),
            "at": None if stored["at"] is None else to_datetime(stored["at"]),
            "since": None if stored["since"] is None else to_datetime(stored["since"]),
            "absent": timedelta(microseconds=stored["absent"]),
        }
        return Stream(**{**stored, **read})


FIELDS: tuple[str, ...] = Stream.__match_args__
MEAN: tuple[str, ...] = Mean.__match_args__


def write_mean(mean: Mean | None) -> dict[str, float | None] | None:
    """Return a mean as JSON holds it; NaN becomes `None`."""
    if mean is None:
        return None
    said = {name: getattr(mean, name) for name in MEAN}
    return {name: value if math.isfinite(value) else None for name, value in said.items()}


def _read_mean(stored: Mapping[str, Any] | None) -> Mean | None:
    if stored is None:
        return None
    read: dict[str, Any] = {
        name: math.nan if value is None else value for name, value in stored.items()
    }
    return Mean(**read)


def _pairs(stored: list[list[Any]]) -> tuple[tuple[Any, Any], ...]:
    return tuple((one, other) for one, other in stored)
