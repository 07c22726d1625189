"""The periods a rule has checked, and what it has concluded."""

from __future__ import annotations

import zlib
from base64 import b64decode, b64encode

from rankscope.monitor.rules.run import find_first
from rankscope.monitor.rules.stored import Stored
from rankscope.monitor.rules.stream import Stream
from rankscope.records import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import TypeAlias

    from rankscope.monitor.definition.slices import Slice
    from rankscope.monitor.rules.drop.rule import DropRule

    # A model, a version and a slice.
    Key: TypeAlias = tuple[str, str, Slice]


@record(frozen=True, slots=True, kw_only=True)
class RuleProgress(Stored):
    """The periods a rule has checked, and what it has concluded.

    Args:
        basis: What was measured, in short; with another one the streams start anew.
        first: When the first period begins, in microseconds since 1970 in UTC.
        following: When the period begins that is looked at next.
        early: When the hour begins that is looked at next, by the age of early values.
        seq: Up to which number of the store late rankings were counted.
        late_rankings: How many rankings came after their period was looked at.
        rankings: How many rankings the periods before the newest had.
        labelled: How many of them had labels.
        newest_rankings: How many rankings the newest period had.
        newest_labelled: How many of them had labels.
        passed_over: How many periods told nothing, because their labels were late.
        unwatched: How many versions and slices of the newest period are beyond those that a rule
            watches at most.
        streams: What is known of each version and slice.
    """

    basis: str
    first: int
    following: int
    early: tuple[tuple[int, int], ...] = ()
    seq: int = 0
    late_rankings: int = 0
    rankings: int = 0
    labelled: int = 0
    newest_rankings: int = 0
    newest_labelled: int = 0
    passed_over: int = 0
    unwatched: int = 0
    streams: tuple[Stream, ...] = ()

    @property
    def has_late_labels(self) -> bool:
        """Whether the share of rankings with labels is less than half of what it was before."""
        if not (self.rankings and self.newest_rankings):
            return False
        return 2 * self.newest_labelled * self.rankings < self.labelled * self.newest_rankings

    def count(self, rankings: int, labelled: int) -> RuleProgress:
        """Return the progress with the counts of a new period."""
        return replace(
            self,
            rankings=self.rankings + self.newest_rankings,
            labelled=self.labelled + self.newest_labelled,
            newest_rankings=rankings,
            newest_labelled=labelled,
        )

    def restart(self, keys: Collection[Key] | None = None) -> RuleProgress:
        """Discard the evidence of some streams, or of all, but keep what is expected."""
        streams = (
            each.restart() if keys is None or each.key in keys else each for each in self.streams
        )
        return replace(self, streams=tuple(streams))

    def to_text(self) -> str:
        """Return all of it as text that `from_text` reads back: JSON, compressed.

        A third of JSON is the names of its fields, and baselines of many streams are alike.
        """
        return b64encode(zlib.compress(self.to_json().encode())).decode()

    @staticmethod
    def from_text(text: str) -> RuleProgress:
        """Read what `to_text` has written."""
        return RuleProgress.from_json(zlib.decompress(b64decode(text)).decode())


def begin(rule: DropRule, basis: str, now: int, seq: int) -> RuleProgress:
    """Return the progress of a rule before its first period."""
    first = find_first(rule, now, rule.length)
    return RuleProgress(basis=basis, first=first, following=first, seq=seq)
