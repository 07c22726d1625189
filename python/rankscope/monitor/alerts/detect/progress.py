"""How far a rule has looked, and what it has concluded."""

from __future__ import annotations

import json

from rankscope.monitor.alerts.detect.stream import Stream
from rankscope.monitor.alerts.rule import LENGTHS
from rankscope.monitor.events.times import to_micros
from rankscope.records import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.monitor.alerts.rule import Rule


@record(frozen=True, slots=True, kw_only=True)
class RuleProgress:
    """How far a rule has looked, and what it has concluded.

    Args:
        basis: What was measured, in short; with another one the streams start anew.
        first: When the first period begins, in microseconds since 1970 in UTC.
        following: When the period begins that is looked at next.
        seq: Up to which number of the store late rankings were counted.
        late_rankings: How many rankings came after their period was looked at.
        rankings: How many rankings the periods before the newest had.
        labelled: How many of them had labels.
        newest_rankings: How many rankings the newest period had.
        newest_labelled: How many of them had labels.
        passed_over: How many periods told nothing, because their labels were late.
        streams: What is known of each version and slice.
    """

    basis: str
    first: int
    following: int
    seq: int = 0
    late_rankings: int = 0
    rankings: int = 0
    labelled: int = 0
    newest_rankings: int = 0
    newest_labelled: int = 0
    passed_over: int = 0
    streams: tuple[Stream, ...] = ()

    @property
    def has_late_labels(self) -> bool:
        """Whether less than half as many rankings have labels as had before."""
        if not (self.rankings and self.newest_rankings):
            return False
        return 2 * self.newest_labelled * self.rankings < self.labelled * self.newest_rankings

    def count(self, rankings: int, labelled: int) -> RuleProgress:
        """Make a period the newest."""
        return replace(
            self,
            rankings=self.rankings + self.newest_rankings,
            labelled=self.labelled + self.newest_labelled,
            newest_rankings=rankings,
            newest_labelled=labelled,
        )

    def restart(self) -> RuleProgress:
        """Forget all evidence, and what was said because of it, but not what it is held against."""
        return replace(self, streams=tuple(map(_restart, self.streams)))

    def to_json(self) -> str:
        """Write all of it, to be read by `from_json` without a difference."""
        said = {name: getattr(self, name) for name in FIELDS}
        said["streams"] = [stream.store() for stream in self.streams]
        return json.dumps(said, sort_keys=True, separators=(",", ":"), allow_nan=False)

    @staticmethod
    def from_json(text: str) -> RuleProgress:
        """Read what `to_json` has written."""
        said = json.loads(text)
        return RuleProgress(**{**said, "streams": tuple(map(Stream.restore, said["streams"]))})


FIELDS: tuple[str, ...] = RuleProgress.__match_args__


def begin(rule: Rule, basis: str, now: int, seq: int) -> RuleProgress:
    """Begin with the period in which the rule says so, or with the newest.

    Args:
        rule: The rule.
        basis: What is measured, in short.
        now: The time, in microseconds since 1970 in UTC.
        seq: The last number of the store.
    """
    at = now if rule.since is None else to_micros(rule.since)
    first = at - at % LENGTHS[rule.period]
    return RuleProgress(basis=basis, first=first, following=first, seq=seq)


def _restart(stream: Stream) -> Stream:
    return replace(
        stream,
        state="INSUFFICIENT" if stream.floor is None else "OK",
        detector=None if stream.detector is None else stream.detector.restart(),
        is_named=False,
        moments=(),
        since=None,
    )
