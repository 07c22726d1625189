"""The periods a rule has checked, and what it has concluded."""

from __future__ import annotations

import zlib
from base64 import b64decode, b64encode
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any, Self

from rankscope.monitor.rules.run import Progress
from rankscope.monitor.rules.state import StreamKey
from rankscope.monitor.rules.stream import Stream


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleProgress(Progress):
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

    @classmethod
    def begin(cls, basis: str, first: int, seq: int) -> Self:
        """Return the progress of a rule before its first period."""
        return cls(basis=basis, first=first, following=first, seq=seq)

    @property
    def is_alert(self) -> bool:
        """Whether a stream has fallen."""
        return any(stream.state == "ALERT" for stream in self.streams)

    def restart(
        self,
        keys: Collection[StreamKey],
        now: int,  # noqa: ARG002 - what is expected stays
        *,
        is_all: bool,
    ) -> Self:
        """Discard the evidence of some streams, or of all, but keep what is expected."""
        chosen = {key[1:] for key in keys}
        streams = (
            each.restart() if is_all or each.key in chosen else each for each in self.streams
        )
        return replace(self, streams=tuple(streams))

    def describe(self) -> dict[str, Any]:
        """Return its streams, and what was left out."""
        told = (told for stream in self.streams for told in list_warnings(stream))
        return {
            "streams": tuple(sorted(self.streams, key=_urgency)),
            "late_rankings": self.late_rankings,
            "passed_over": self.passed_over,
            "warnings": tuple(dict.fromkeys(told)),
            "unwatched": self.unwatched,
        }

    def to_text(self) -> str:
        """Return it as compressed JSON.

        A third of JSON is the names of its fields, and baselines of many streams are alike.
        """
        return b64encode(zlib.compress(self.to_json().encode())).decode()

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Read what `to_text` has written."""
        return cls.from_json(zlib.decompress(b64decode(text)).decode())


def list_warnings(stream: Stream) -> tuple[str, ...]:
    """Return what makes conclusions about a stream doubtful."""
    if stream.labels == "usual" or stream.state == "ALERT":
        return stream.warnings
    told = (
        f"{stream.name}: labels were {stream.labels}, {stream.told}; it is judged by the ranks of "
        "the labels that are there"
    )
    return (*stream.warnings, told)


def _urgency(stream: Stream) -> tuple[object, ...]:
    return stream.state != "ALERT", -stream.log_evidence, stream.key
