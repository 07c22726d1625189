"""What the watches of a project's data remember from one hour to the next."""

from __future__ import annotations

import json

from rankscope.monitor.events.limits import DAY
from rankscope.monitor.rules.data.counts import Place
from rankscope.records import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from rankscope.monitor.rules.finding import Kind

KEPT = 40 * DAY
"""How long what is over is remembered."""


@record(frozen=True, slots=True, kw_only=True)
class Trouble:
    """A stream that is not as usual.

    Args:
        kind: What is wrong.
        place: Whose it is.
        began: When it seems to have begun, in microseconds since 1970 in UTC.
        found: When it was found.
        ratio: The part of what is usual that came when it was found.
        back: The evidence that it is as usual again.
        reason: One sentence.
        evidence: The numbers.
    """

    kind: Kind
    place: Place
    began: int
    found: int
    ratio: float
    back: float = 0.0
    reason: str = ""
    evidence: Mapping[str, Any] = {}

    @property
    def key(self) -> tuple[Kind, Place]:
        """What tells it from others."""
        return self.kind, self.place


@record(frozen=True, slots=True)
class UnusualTime:
    """A time in which the counts of a place were not as usual, and nothing is learned from them.

    Args:
        kind: What was wrong.
        place: The place.
        since: When it began, in microseconds since 1970 in UTC.
        until: When it ended.
    """

    kind: Kind
    place: Place
    since: int
    until: int


@record(frozen=True, slots=True)
class Restart:
    """A time from which on the counts of a place are what is usual.

    Args:
        kind: The kind of watch.
        place: The place.
        since: The time, in microseconds since 1970 in UTC.
    """

    kind: Kind
    place: Place
    since: int


@record(frozen=True, slots=True)
class RateDay:
    """The rankings and labels of a day that is final.

    Args:
        day: When it begins, in microseconds since 1970 in UTC.
        rankings: By model, the number of rankings.
        labelled: By model, how many of them have labels.
        empty: By model, how many of them have no relevant document.
        labels: By model and kind of label, the number of labels.
    """

    day: int
    rankings: Mapping[str, int]
    labelled: Mapping[str, int]
    empty: Mapping[str, int]
    labels: Mapping[str, Mapping[str, int]]


@record(frozen=True, slots=True, kw_only=True)
class WatchProgress:
    """What the watches remember.

    Args:
        basis: What is watched, in short; with another one everything is looked at anew.
        first: The first moment that was looked at, in microseconds since 1970 in UTC.
        moment: The last one.
        day: The first day that is not final yet.
        rates: The last days that are final.
        troubles: What is not as usual.
        spans: What was not.
        restarts: What counts as usual from some time on.
        watched: How many streams are compared with what is usual.
        waits: Until when there is too little to compare with; 0 where there is enough.
    """

    basis: str
    first: int
    moment: int
    day: int
    rates: tuple[RateDay, ...] = ()
    troubles: tuple[Trouble, ...] = ()
    spans: tuple[UnusualTime, ...] = ()
    restarts: tuple[Restart, ...] = ()
    watched: int = 0
    waits: int = 0

    def find(self, kind: Kind, place: Place) -> Trouble | None:
        """Find what is wrong with a place."""
        return next((one for one in self.troubles if one.key == (kind, place)), None)

    def add(self, trouble: Trouble) -> WatchProgress:
        """Add a trouble, or replace the one of its stream."""
        others = [one for one in self.troubles if one.key != trouble.key]
        return replace(self, troubles=tuple(sorted([*others, trouble], key=lambda one: one.key)))

    def end(self, trouble: Trouble, until: int) -> WatchProgress:
        """Remove a trouble that is over; what came while it lasted is not learned from."""
        others = tuple(one for one in self.troubles if one.key != trouble.key)
        span = UnusualTime(trouble.kind, trouble.place, trouble.began, until)
        return replace(self, troubles=others, spans=(*self.spans, span))

    def restart(self, kind: Kind, place: Place, since: int) -> WatchProgress:
        """Take what came since a time for usual."""
        troubles = tuple(one for one in self.troubles if one.key != (kind, place))
        others = [one for one in self.restarts if (one.kind, one.place) != (kind, place)]
        made = [*others, Restart(kind, place, since)]
        return replace(self, troubles=troubles, restarts=tuple(made))

    def forget(self, before: int) -> WatchProgress:
        """Forget what was over before a time."""
        return replace(
            self,
            spans=tuple(one for one in self.spans if one.until >= before),
            # What match nothing is intended, once a person has said so.
            restarts=tuple(
                one for one in self.restarts if one.since >= before or one.kind == "names"
            ),
            rates=tuple(one for one in self.rates if one.day >= before),
        )

    def to_json(self) -> str:
        """Return all of it as JSON that `from_json` reads back."""
        said = {name: getattr(self, name) for name in FIELDS}
        said["rates"] = [[getattr(one, name) for name in RATE_FIELDS] for one in self.rates]
        said["troubles"] = [
            {name: getattr(one, name) for name in TROUBLE_FIELDS} for one in self.troubles
        ]
        said["spans"] = [[one.kind, one.place, one.since, one.until] for one in self.spans]
        said["restarts"] = [[one.kind, one.place, one.since] for one in self.restarts]
        return json.dumps(said, sort_keys=True, separators=(",", ":"), allow_nan=False)

    @staticmethod
    def from_json(text: str) -> WatchProgress:
        """Read what `to_json` has written."""
        said = json.loads(text)
        read = {
            "rates": tuple(RateDay(*one) for one in said["rates"]),
            "troubles": tuple(
                Trouble(**{**one, "place": _read_place(one["place"])}) for one in said["troubles"]
            ),
            "spans": tuple(
                UnusualTime(kind, _read_place(place), *ends) for kind, place, *ends in said["spans"]
            ),
            "restarts": tuple(
                Restart(kind, _read_place(place), since) for kind, place, since in said["restarts"]
            ),
        }
        return WatchProgress(**{**said, **read})


FIELDS: tuple[str, ...] = WatchProgress.__match_args__
RATE_FIELDS: tuple[str, ...] = RateDay.__match_args__
TROUBLE_FIELDS: tuple[str, ...] = Trouble.__match_args__


def _read_place(stored: list[Any]) -> Place:
    model, version, pairs = stored
    return Place(model, version, tuple((name, value) for name, value in pairs))
