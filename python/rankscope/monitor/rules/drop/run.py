"""A rule about a drop during a check, and the kind."""

from __future__ import annotations

from dataclasses import replace

from rankscope.monitor.events.limits import DAY
from rankscope.monitor.rules.drop.check import Period
from rankscope.monitor.rules.drop.feed import feed
from rankscope.monitor.rules.drop.findings import decide, make_findings
from rankscope.monitor.rules.drop.floors import Floors
from rankscope.monitor.rules.drop.periods import PeriodReader, Step, next_step, pass_empty
from rankscope.monitor.rules.drop.progress import RuleProgress
from rankscope.monitor.rules.drop.rule import DropRule, choose_ages
from rankscope.monitor.rules.run import Kind, Problem, RuleRun, Scene
from rankscope.monitor.rules.state import Finding, RuleVerdict
from rankscope.monitor.rules.stream import ALL
from rankscope.monitor.store.records import RuleRow


def share_floors(scene: Scene) -> Floors:
    """Return what reads periods and baselines, once for all rules about drops."""
    measures = {rule.measure for rule in scene.rules if isinstance(rule, DropRule)}
    return Floors(PeriodReader(scene, measures, choose_ages(scene.window)))


class DropRun(RuleRun):
    """A rule about the values of a measure."""

    progress_type = RuleProgress
    rule: DropRule
    progress: RuleProgress

    def __init__(self, scene: Scene, row: RuleRow) -> None:
        super().__init__(scene, row)
        self._counted = self.progress.following
        if not self.complaint:
            self._pass_empty()

    def _begin(self) -> None:
        """Begin with the first ranking in a replay; otherwise `_pass_empty` does."""
        if self._scene.is_replay and not self.progress.streams:
            super()._begin()

    def find_due(self) -> int | None:
        """Return the moment at which the next period can be checked, `None` if that is not yet."""
        if self.complaint or not self._scene.versions:
            return None
        due = self._next().due
        return due if due <= self._scene.now else None

    def _next(self) -> Step:
        return next_step(self.rule, self.progress, self._scene)

    def take(self) -> tuple[Finding, ...]:
        """Look at the next period, and return what was found."""
        floors, step = self._scene.share(share_floors), self._next()
        watched = {stream.key for stream in self.progress.streams}
        period = Period(self.rule, step, floors.reader.read(step), floors)
        self.progress = feed(self.progress, period)
        self.pass_period()
        self.has_ended_day = not step.age and step.until % DAY == 0
        self._pass_empty()
        left = watched - {stream.key for stream in self.progress.streams}
        return (*make_findings(self.rule, self.progress), *map(_leave, sorted(left)))

    def _pass_empty(self) -> None:
        """Pass all periods before the first ranking and after the last one at once."""
        if self._scene.versions:
            self.progress, count = pass_empty(self.rule, self.progress, self._scene)
            self.periods += count

    def write_progress(self) -> str:
        """Return what it has looked at and concluded, as it is stored."""
        late = self.progress.late_rankings + self._scene.store.count_late(
            self._scene.project,
            model=self.rule.model,
            since=self.progress.first,
            until=self._counted,
            after=self.progress.seq,
            upto=self._scene.seq,
        )
        self.progress = replace(self.progress, late_rankings=late, seq=self._scene.seq)
        return super().write_progress()

    def decide(self, moment: int) -> RuleVerdict:
        """Return the state of the rule at a moment, apart from its incidents."""
        return decide(self.rule, self.progress, self._scene.versions, moment)

    def keep(self, row: RuleRow) -> None:
        """Take note that a row was stored."""
        super().keep(row)
        self._counted = self.progress.following


def _leave(key: tuple[str, str, tuple[tuple[str, str], ...]]) -> Finding:
    """Return the finding about a version that is watched no more, whether it had fallen or not."""
    model, version, place = key
    said = f"model {model}" if version in {"", ALL} else f"version {version}"
    return Finding(
        kind="quality",
        model=model,
        version=version,
        slice=place,
        verdict="gone",
        reason=f"{said} is no longer served",
    )


KIND = Kind(
    record=DropRule,
    words="a drop over several periods",
    text="collects evidence over several periods, and has a stated false-alarm rate",
    problems={
        "quality": Problem(
            name="quality fell",
            verb="fell",
            step="Open the incident for the queries that fell most. If a release caused it, "
            "roll it back. Then acknowledge the incident.",
            drawn="measure",
        ),
    },
    run=DropRun,
)
