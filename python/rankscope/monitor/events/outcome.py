"""What happened to each object of a batch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple, TypeAlias, overload

from rankscope.monitor.events.rejection import Decoded, Reading, Rejection

Status: TypeAlias = Literal["accepted", "duplicate", "conflict"]


# There is one for each event: these tuples are made five times as fast as records.
class Outcome(NamedTuple):
    """What happened to an event.

    Args:
        status: `accepted`; `duplicate` if it was there already; `conflict` if its id was, with
            other content, which stays.
        seq: The number under which it is stored; with a conflict, that of what was there.
    """

    status: Status
    seq: int


class Outcomes(Sequence[Outcome]):
    """What happened to the events of a batch, in order.

    Args:
        statuses: A byte for each, its place in `STATUSES`.
        seqs: 8 bytes for each, its number.
    """

    def __init__(self, statuses: bytes, seqs: bytes) -> None:
        self.statuses = statuses
        self.seqs = seqs

    def __len__(self) -> int:
        return len(self.statuses)

    @overload
    def __getitem__(self, at: int) -> Outcome: ...
    @overload
    def __getitem__(self, at: slice) -> list[Outcome]: ...
    def __getitem__(self, at: int | slice) -> Outcome | list[Outcome]:
        if isinstance(at, slice):
            return [self[place] for place in range(*at.indices(len(self)))]
        status: Status = STATUSES[self.statuses[at]]  # type: ignore[assignment]  # of an event
        return Outcome(status, memoryview(self.seqs).cast("q")[at])

    def __repr__(self) -> str:
        return repr(list(self))


STATUSES = ("accepted", "duplicate", "conflict", "rejected")
"""What becomes of an object; a `duplicate` is one whose events all are."""

OTHER_COUNTERS = frozenset(
    {
        "accepted",
        "duplicate",
        "conflict",
        "unknown_field",
        "deleted_rankings",
        "deleted_labels",
        "replaced_rankings",
        "erased_rankings",
    }
)
"""The counters of a store that are of no rejected event; all others are reasons of rejections."""


def count_rejections(reading: Reading | Decoded) -> Counter[str]:
    """Count rejections by code, and unknown fields, for the counters of a store."""
    counts = Counter(rejection.code for rejection in reading.rejections)
    if reading.unknown:
        counts["unknown_field"] += sum(reading.unknown.values())
    return counts


def tell_statuses(reading: Reading, outcomes: Iterable[Outcome]) -> list[str]:
    """Return the status of each object from the outcomes of its events."""
    statuses = iter(outcomes)
    return [
        "rejected" if isinstance(answer, Rejection) else _tell_status(len(answer), statuses)
        for answer in reading.answers
    ]


def _tell_status(count: int, outcomes: Iterator[Outcome]) -> str:
    if count == 1:
        return next(outcomes).status
    # A ranking comes with the labels that were logged with it.
    statuses = {next(outcomes).status for _ in range(count)}
    if "conflict" in statuses:
        return "conflict"
    return "accepted" if "accepted" in statuses else "duplicate"
