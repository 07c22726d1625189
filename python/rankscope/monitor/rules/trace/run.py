"""A rule that traces each model every night, during a check."""

from __future__ import annotations

from rankscope.monitor.events.limits import DAY
from rankscope.monitor.events.times import describe_time
from rankscope.monitor.rules.drop.run import KIND as DROP
from rankscope.monitor.rules.kind import Kind
from rankscope.monitor.rules.run import RuleRun, find_first, name_basis
from rankscope.monitor.rules.state import RuleVerdict
from rankscope.monitor.rules.stored import Stored
from rankscope.monitor.rules.trace.nights import NightlyTrace, SliceNight
from rankscope.monitor.rules.trace.rule import TraceRule
from rankscope.records import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from rankscope.monitor.definition.configuration import Configuration
    from rankscope.monitor.rules.finding import Finding, StreamKey
    from rankscope.monitor.rules.run import Scene
    from rankscope.monitor.store.records import RuleRow


@record(frozen=True, slots=True, kw_only=True)
class NightlyProgress(Stored):
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

    def mute(self, keys: Collection[StreamKey] | None = None) -> NightlyProgress:
        """Return the progress with slices, or all of them, muted: they open nothing for now."""
        slices = (one.mute() if keys is None or one.key in keys else one for one in self.slices)
        return replace(self, slices=tuple(slices))


def begin_nights(rule: TraceRule, configuration: Configuration, now: int, _seq: int) -> str:
    """Return the stored progress of a rule before its first night."""
    first = find_first(rule, now, DAY)
    basis = name_basis(rule, configuration)
    return NightlyProgress(basis=basis, first=first, following=first).to_json()


def mute_slices(
    row: RuleRow,
    keys: Collection[StreamKey],
    now: int = 0,  # noqa: ARG001 - they stay muted whenever that was
    *,
    is_all: bool = False,
) -> RuleRow:
    """Mute slices of a rule, or all of them, as a person has resolved their incidents."""
    progress = NightlyProgress.from_json(row.progress).mute(None if is_all else keys)
    return replace(row, progress=progress.to_json())


class NightlyRun(RuleRun):
    """A rule of kind `trace`: one trace of each model with each day that becomes final."""

    rule: TraceRule

    def __init__(self, scene: Scene, row: RuleRow) -> None:
        super().__init__(scene, row)
        self.progress = NightlyProgress.from_json(row.progress)
        self._versions = scene.shown
        self._night = NightlyTrace(
            scene.store,
            scene.project,
            scene.configuration,
            scene.shown,
            threads=scene.threads,
        )
        if self.complaint:
            return
        basis = name_basis(self.rule, scene.configuration)
        if basis != self.progress.basis:
            following = self.progress.following
            self.progress = NightlyProgress(basis=basis, first=following, following=following)
            self.restart()
        if self._versions:
            self._pass_empty(is_replay=scene.is_replay)

    def _pass_empty(self, *, is_replay: bool) -> None:
        """Pass all days before the first ranking at once."""
        progress = self.progress
        start = min(one.first for one in self._versions) // DAY * DAY
        has_begun = progress.following > progress.first
        if is_replay and self.rule.since is None and not has_begun:
            self.progress = replace(progress, first=start, following=start)
        elif progress.following < start:
            self.progress = replace(progress, following=min(start, self._scene.now // DAY * DAY))

    def find_due(self) -> int | None:
        """Return the moment at which the next day is final, `None` if that is not yet."""
        if self.complaint or not self._versions:
            return None
        due = self.progress.following + DAY + self._scene.wait
        return due if due <= self._scene.now else None

    def take(self, moment: int) -> tuple[Finding, ...]:  # noqa: ARG002 - follows from the progress
        """Trace the days up to the next one, and return what was found."""
        end = self.progress.following + DAY
        night = self._night.check(self.rule, self.progress.slices, end)
        self.progress = replace(
            self.progress,
            following=end,
            slices=night.slices,
            models=night.models,
            problem=night.problem,
        )
        self.has_ended_day = self.is_new = True
        self.periods += 1
        return night.findings

    def write_progress(self) -> str:
        """Return what it has looked at and concluded, as it is stored."""
        return self.progress.to_json()

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
    begin=begin_nights,
    read_progress=NightlyProgress.from_json,
    restart=mute_slices,
    make_run=NightlyRun,
)
