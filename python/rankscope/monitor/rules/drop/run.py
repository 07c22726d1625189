"""A rule about a drop during a check, and the kind."""

from __future__ import annotations

from rankscope.monitor.events.limits import DAY, SECOND
from rankscope.monitor.events.times import count_micros
from rankscope.monitor.rules.drop.feed import feed
from rankscope.monitor.rules.drop.findings import make_findings
from rankscope.monitor.rules.drop.periods import PeriodReader
from rankscope.monitor.rules.drop.progress import RuleProgress, begin
from rankscope.monitor.rules.drop.rule import DropRule
from rankscope.monitor.rules.drop.state import decide, describe_progress
from rankscope.monitor.rules.drop.step import next_step, pass_empty
from rankscope.monitor.rules.finding import Finding
from rankscope.monitor.rules.kind import Kind, Problem
from rankscope.monitor.rules.run import RESOLVED, RuleRun, Scene, name_basis
from rankscope.monitor.rules.stream import ALL
from rankscope.records import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from rankscope.monitor.definition.configuration import Configuration
    from rankscope.monitor.rules.drop.step import Step
    from rankscope.monitor.rules.finding import StreamKey
    from rankscope.monitor.rules.state import RuleVerdict
    from rankscope.monitor.store.records import RuleRow


def share_reader(scene: Scene) -> PeriodReader:
    """Return what reads periods and baselines, once for all rules about drops."""
    rules = [rule for rule in scene.rules if isinstance(rule, DropRule)]
    window = scene.configuration.definition.window * SECOND
    return PeriodReader(
        scene.store,
        scene.project,
        scene.configuration,
        scene.slicing,
        measures={rule.measure for rule in rules},
        ages={age for rule in rules for age in rule.choose_ages(window) if age < window},
        versions=scene.versions,
        now=scene.now,
        threads=scene.threads,
    )


class DropRun(RuleRun):
    """A rule about the values of a measure."""

    rule: DropRule

    def __init__(self, scene: Scene, row: RuleRow) -> None:
        super().__init__(scene, row)
        self.progress = RuleProgress.from_text(row.progress)
        self._versions = scene.versions
        self._window = scene.configuration.definition.window * SECOND
        self._grace = count_micros(scene.configuration.grace)
        self._counted = self.progress.following
        if self.complaint:
            return
        basis = name_basis(self.rule, scene.configuration)
        shown = [each.first for each in scene.shown]
        if basis != self.progress.basis:
            self.progress = replace(
                begin(self.rule, basis, scene.now, scene.seq),
                first=self.progress.following,
                following=self.progress.following,
            )
            self.restart()
        elif scene.is_replay and shown and self.rule.since is None and not self._has_begun:
            first = min(shown) // self.rule.length * self.rule.length
            self.progress = replace(self.progress, first=first, following=first)
        self._pass_empty()

    @property
    def _has_begun(self) -> bool:
        progress = self.progress
        return bool(progress.streams) or progress.following > progress.first

    def find_due(self) -> int | None:
        """Return the moment at which the next period can be checked, `None` if that is not yet."""
        if self.complaint or not self._versions:
            return None
        due = self._next().due
        return due if due <= self._scene.now else None

    def _next(self) -> Step:
        return next_step(self.rule, self.progress, self._window, self._grace)

    def take(self, moment: int) -> tuple[Finding, ...]:  # noqa: ARG002 - follows from the progress
        """Look at the next period, and return what was found."""
        reader, step = self._scene.share(share_reader), self._next()
        watched = {stream.key for stream in self.progress.streams}
        self.progress = feed(
            self.progress,
            self.rule,
            step,
            reader.read(step),
            contexts=reader.contexts,
            slicing=self._scene.slicing,
            floors=reader.floors,
        )
        self.has_ended_day = not step.age and step.until % DAY == 0
        self.periods += 1
        self._pass_empty()
        self.is_new = True
        left = watched - {stream.key for stream in self.progress.streams}
        return (*make_findings(self.rule, self.progress), *map(_leave, sorted(left)))

    def _pass_empty(self) -> None:
        """Pass all periods before the first ranking and after the last one at once."""
        if self._versions:
            self.progress, count = pass_empty(
                self.rule,
                self.progress,
                self._window,
                self._grace,
                first=min(one.first for one in self._versions),
                last=max(one.last for one in self._versions),
                now=self._scene.now,
            )
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
        return self.progress.to_text()

    def decide(self, moment: int) -> RuleVerdict:
        """Return the state of the rule at a moment, apart from its incidents."""
        return decide(self.rule, self.progress, self._versions, moment)

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


def begin_drop(rule: DropRule, configuration: Configuration, now: int, seq: int) -> str:
    """Return the stored progress of a rule that has looked at nothing yet."""
    return begin(rule, name_basis(rule, configuration), now, seq).to_text()


def restart_streams(
    row: RuleRow, keys: Collection[StreamKey], now: int, *, is_all: bool
) -> RuleRow:
    """Discard the evidence of some streams; what is expected of them stays."""
    chosen = None if is_all else [key[1:] for key in keys]
    progress = RuleProgress.from_text(row.progress).restart(chosen)
    changed = replace(row, progress=progress.to_text())
    if row.state == "ALERT" and all(stream.state != "ALERT" for stream in progress.streams):
        return replace(changed, state="OK", reason=RESOLVED, since=now, evaluated=now)
    return changed


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
        )
    },
    begin=begin_drop,
    read_progress=RuleProgress.from_text,
    restart=restart_streams,
    make_run=DropRun,
    summarize=describe_progress,
)
