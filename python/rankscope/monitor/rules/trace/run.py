"""A rule that traces each model every night, during a check."""

from __future__ import annotations

from rankscope.monitor.events.limits import DAY
from rankscope.monitor.events.times import describe_time
from rankscope.monitor.rules.drop.run import KIND as DROP
from rankscope.monitor.rules.kind import Kind
from rankscope.monitor.rules.run import Progress, RuleRun
from rankscope.monitor.rules.state import RuleVerdict
from rankscope.monitor.rules.trace.nights import SliceNight, check_night
from rankscope.monitor.rules.trace.rule import TraceRule
from rankscope.records import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Self

    from rankscope.monitor.rules.finding import Finding, StreamKey


@record(frozen=True, slots=True, kw_only=True)
class NightlyProgress(Progress):
    """The nights that a rule has traced.

    Args:
        basis: The hash of what is measured.
        first: When the first day begins, in microseconds since 1970 in UTC.
        following: When the day begins whose end is traced next.
        slices: The slices that were found and have not recovered.
        models: How many models were compared in the last night.
        problem: Why some were not, in one sentence; empty if all were.
    """

    basis: str
    first: int
    following: int
    slices: tuple[SliceNight, ...] = ()
    models: int = 0
    problem: str = ""

    @property
    def is_alert(self) -> bool:
        """Whether slices have fallen that nobody has resolved."""
        return any(each.muted is None for each in self.slices)

    def restart(
        self,
        keys: Collection[StreamKey],
        now: int,  # noqa: ARG002 - they stay muted whenever that was
        *,
        is_all: bool,
    ) -> Self:
        """Mute slices, or all of them, as a person has resolved their incidents."""
        slices = (each.mute() if is_all or each.key in keys else each for each in self.slices)
        return replace(self, slices=tuple(slices))


class NightlyRun(RuleRun):
    """A rule of kind `trace`: one trace of each model with each day that becomes final."""

    progress_type = NightlyProgress
    rule: TraceRule
    progress: NightlyProgress

    @classmethod
    def find_length(cls, _rule: TraceRule) -> int:
        """Return how long a day is."""
        return DAY

    def take(self, moment: int) -> tuple[Finding, ...]:  # noqa: ARG002 - follows from the progress
        """Trace the days up to the next one, and return what was found."""
        end = self.progress.following + DAY
        night = check_night(self._scene, self.rule, self.progress.slices, end)
        self.pass_period(
            following=end, slices=night.slices, models=night.models, problem=night.problem
        )
        self.has_ended_day = True
        return night.findings

    def decide(self, moment: int) -> RuleVerdict:  # noqa: ARG002 - nights alone change the state
        """Return the state of the rule, apart from its incidents."""
        return decide_night(self.progress)


def decide_night(progress: NightlyProgress) -> RuleVerdict:
    """Return the state of a rule from its nights: `ALERT` while slices are found and not muted."""
    until = describe_time(progress.following)
    if progress.following == progress.first:
        told = f"no day is final yet; the first begins at {describe_time(progress.first)}"
        return RuleVerdict("INSUFFICIENT", told)
    fallen = [one for one in progress.slices if one.muted is None]
    if fallen:
        return RuleVerdict("ALERT", "; ".join(one.reason for one in fallen[:MOST_NAMED]))
    if not progress.models:
        return RuleVerdict("INSUFFICIENT", progress.problem or f"no rankings by {until}")
    models = "1 model" if progress.models == 1 else f"{progress.models} models"
    told = f"no slice of {models} had fallen by {until}"
    return RuleVerdict("OK", f"{told}; {progress.problem}" if progress.problem else told)


MOST_NAMED = 3

KIND = Kind(
    record=TraceRule,
    words="any slice, traced every night",
    text="searches all slices every night for one that fell more than everything did",
    problems=DROP.problems,
    run=NightlyRun,
)
