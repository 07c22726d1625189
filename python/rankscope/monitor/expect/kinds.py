"""What is stored of forecasts: their columns, and why one is doubtful or missing."""

from __future__ import annotations

import json
from hashlib import sha256

from rankscope.monitor.plain import Stored
from rankscope.records import record
from rankscope.stats.expected.calibration import Calibration

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.monitor.definition.configuration import Configuration
    from rankscope.monitor.definition.slices import Slice

RULE = 1
"""The version of the computation; a change of any value raises it."""
COLUMNS = ("expected", "lower", "upper", "defined", "marks")
"""The columns of each measure; the last one adds up the bits of `DOUBTS` and `REFUSALS`."""

DOUBTS = {
    "scores": "Many scores are outside of the range that they had in the calibration.",
    "lists": "The lists are unlike nearly all lists of the calibration.",
    "signals": "What is shown, or its order, has moved far from the days of the calibration.",
    "labels": "The first labels contradict the calibration.",
    "missed": "The last forecasts missed: of the last 7 final values, 3 were outside of their "
    "intervals, or one of the last 3 was twice as far from what was expected as the interval is.",
}
"""Why a forecast is doubtful."""
REFUSALS = {
    "version": "The version has too few final rankings.",
    "slice": "The slice has too few final rankings of the version.",
    "few": "Too few rankings were shown.",
}
"""Why there is no forecast."""
BITS = {name: 1 << place for place, name in enumerate((*DOUBTS, *REFUSALS))}


def read_marks(marks: int) -> tuple[str, ...]:
    """Return the names of marks.

    Examples:
        >>> read_marks(BITS["scores"] | BITS["missed"])
        ('scores', 'missed')
    """
    return tuple(name for name, bit in BITS.items() if marks & bit)


def digest(configuration: Configuration) -> bytes:
    """Return the 16 bytes that identify the stored forecasts of a configuration."""
    said = {"expected": RULE, "configuration": configuration.digest.hex()}
    return sha256(json.dumps(said, sort_keys=True).encode()).digest()[:16]


@record(frozen=True, slots=True)
class CalibratedVersion(Stored):
    """A version and its calibrations.

    Args:
        model: The model.
        version: Its version.
        rankings: How many final rankings with a value it has in the time of the calibration.
        days: On how many days.
        fits: The calibration of each measure; none where there are too few rankings.
    """

    model: str
    version: str
    rankings: int
    days: int
    fits: tuple[tuple[str, Calibration], ...]


@record(frozen=True, slots=True)
class Usual(Stored):
    """What a signal usually is.

    Args:
        model: The model.
        version: Its version.
        slice: The slice.
        signal: The name of the signal.
        mean: The mean of its days.
        deviation: Their standard deviation.
    """

    model: str
    version: str
    slice: tuple[tuple[str, str], ...]
    signal: str
    mean: float
    deviation: float


@record(frozen=True, slots=True)
class Missed(Stored):
    """A stream whose last forecasts missed.

    Args:
        model: The model.
        version: Its version.
        slice: The slice.
        measure: The measure.
    """

    model: str
    version: str
    slice: tuple[tuple[str, str], ...]
    measure: str


@record(frozen=True, slots=True)
class State(Stored):
    """What forecasts of a day are made from, fixed when it begins.

    Args:
        since: The start of the first hour with forecasts.
        day: When the day begins.
        groups: The slices that calibrations number.
        versions: The versions, those with the most rankings first.
        usual: What signals usually are.
        missed: The streams whose last forecasts missed.
    """

    since: int
    day: int
    groups: tuple[tuple[tuple[str, str], ...], ...]
    versions: tuple[CalibratedVersion, ...]
    usual: tuple[Usual, ...]
    missed: tuple[Missed, ...]

    def find(self, model: str, version: str) -> CalibratedVersion | None:
        """Return what is known of a version."""
        for one in self.versions:
            if (one.model, one.version) == (model, version):
                return one
        return None

    def has_missed(self, model: str, version: str, place: Slice, measure: str) -> bool:
        """Return whether the last forecasts of a stream missed."""
        return Missed(model, version, place, measure) in self.missed
