"""Collects the rankings of a validation or training set, which replace the stored ones at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, Protocol, TypeAlias

from rankscope.errors import EmptyError, FormatError
from rankscope.monitor.events.batch import digest
from rankscope.monitor.events.event import Event, Ranking
from rankscope.monitor.events.outcome import count_rejections
from rankscope.monitor.events.rejection import Reading, Rejection, show
from rankscope.monitor.intake.ingestion import Ingested

SetName: TypeAlias = Literal["validation", "training"]


class Target(Protocol):
    """Where a set is replaced."""

    def replace_set(
        self, environment: str, events: Sequence[Event], rejected: Mapping[str, int]
    ) -> int:
        """Replace a set, and return how many rankings it had."""


SETS: tuple[SetName, ...] = ("validation", "training")
MOST_RANKINGS = 100_000
"""Rankings in a set that is replaced. Other events wait while they are stored, a few seconds."""


class SetSink:
    """Collects the events of a set; `replace` stores them.

    Args:
        environment: The set.
        target: Where it is replaced.
    """

    def __init__(self, environment: SetName, target: Target) -> None:
        self._environment = environment
        self._target = target
        self._events: list[Event] = []
        self._digests: dict[str, bytes] = {}
        self._unknown = 0

    @property
    def takes_prepared(self) -> bool:
        """It compares the events of a set as they were read."""
        return False

    def take(self, reading: Reading) -> Sequence[str | Rejection]:
        """Collect the events of a batch, and return the status of each object."""
        self._unknown += count_rejections(reading)["unknown_field"]
        return [self._collect(at, answer) for at, answer in enumerate(reading.answers)]

    def replace(self, ingested: Ingested) -> int:
        """Replace the stored set by what was collected."""
        if ingested.reasons:
            raise FormatError(
                f"{sum(ingested.reasons.values())} of {ingested.objects} rankings were rejected; "
                f"the {self._environment} set stays as it was",
                hint="correct them, and send the whole set again",
                code="set_refused",
            )
        return self.replace_collected()

    def replace_collected(self) -> int:
        """Replace the stored set by what was collected, as `replace` does."""
        if not self._events:
            raise EmptyError(
                f"expected rankings, found none; the {self._environment} set stays as it was",
                hint="is the file empty?",
                code="empty_input",
            )
        rejected = {"unknown_field": self._unknown} if self._unknown else {}
        return self._target.replace_set(self._environment, self._events, rejected)

    def _collect(self, at: int, answer: tuple[Event, ...] | Rejection) -> str | Rejection:
        if isinstance(answer, Rejection):
            return "rejected"
        ranking = answer[0]
        if not isinstance(ranking, Ranking) or ranking.environment != self._environment:
            environment = getattr(ranking, "environment", "")
            hint = "log other rankings without replacing a set"
            wanted = f"rankings of the {self._environment} set"
            return Rejection(at, "other_set", "environment", wanted, show(environment), hint)
        content = digest(ranking)
        first = self._digests.setdefault(ranking.ranking_id, content)
        if first != content:
            return "conflict"
        if len(self._digests) > MOST_RANKINGS:
            most = f"at most {MOST_RANKINGS} rankings in a set"
            return Rejection(at, "set_size", "", most, "more", "replace it by a sample")
        if first is not content:
            return "duplicate"
        self._events += answer
        return "accepted"
