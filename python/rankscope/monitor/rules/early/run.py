"""The rule that gives early warnings, during a check."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from rankscope.monitor.evaluate.stored_windows import StoredCell
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.events.times import describe_time
from rankscope.monitor.rules.early.cells import Cells
from rankscope.monitor.rules.early.check import Table, check_signals
from rankscope.monitor.rules.early.outcome import find_end, judge_warning
from rankscope.monitor.rules.early.progress import KIND as EARLY
from rankscope.monitor.rules.early.progress import EarlyProgress
from rankscope.monitor.rules.early.queries import QueryReader
from rankscope.monitor.rules.early.rule import EarlyRule
from rankscope.monitor.rules.early.usual import FEWEST_DAYS
from rankscope.monitor.rules.early.words import choose_fact, conclude, describe_fact
from rankscope.monitor.rules.run import Kind, Problem, RuleRun, Scene
from rankscope.monitor.rules.state import Finding, RuleVerdict, join_first
from rankscope.monitor.signals.kinds import SIGNALS
from rankscope.monitor.signals.refresh import find_known, read_signals
from rankscope.monitor.store.records import RuleRow


def open_table(scene: Scene) -> Table:
    """Return the signals of a project, of which nothing is read yet."""

    def read(since: int, until: int) -> Iterable[StoredCell]:
        return read_signals(scene.store, scene.project, scene.configuration, since, until)

    reader = QueryReader(scene.store, scene.project, scene.configuration, scene.slicing)
    return Table(
        SIGNALS,
        Cells(read, range(len(SIGNALS))),
        calendar=scene.configuration.calendar,
        read_queries=reader.read,
    )


def find_end_of_signals(scene: Scene) -> int:
    """Return up to when signals are known."""
    known = find_known(scene.store, scene.project, scene.configuration)
    return 0 if known is None else known[1]


class EarlyRun(RuleRun):
    """A rule that gives early warnings: one hour after another."""

    progress_type = EarlyProgress
    rule: EarlyRule
    progress: EarlyProgress

    def __init__(self, scene: Scene, row: RuleRow) -> None:
        super().__init__(scene, row)
        self.wait = scene.grace
        self._first = min((each.first for each in scene.shown), default=0) // HOUR * HOUR

    def find_due(self) -> int | None:
        """Return when the next hour is over and its signals are known, `None` if not by now."""
        is_known = self.progress.following + HOUR <= self._scene.share(find_end_of_signals)
        return super().find_due() if is_known else None

    def take(self) -> tuple[Finding, ...]:
        """Look at the next hour, and return what was found."""
        end = self.progress.following + HOUR
        if not self.progress.warnings and end - self._first <= FEWEST_DAYS * DAY:
            self.pass_period(following=end)  # no stream has days to compare with
            return ()
        table = self._scene.share(open_table)
        findings, self.progress = check_signals(table, self.rule, self.progress, end)
        told = {each.key: each for each in findings} | self._judge(end)
        self.pass_period()
        return tuple(told.values())

    def _judge(self, end: int) -> dict[object, Finding]:
        """Take note of what final labels say of warnings."""
        known = self.progress
        judged = [
            judge_warning(self._scene, each, end)
            if not each.judged and find_end(each) + self._scene.window <= end
            else each
            for each in (*known.warnings, *known.over)
        ]
        count = len(known.warnings)
        self.progress = replace(known, warnings=tuple(judged[:count]), over=tuple(judged[count:]))
        # Of a stream with another warning by now, the incident is that one's.
        return {
            each.key: conclude(each, "noted", each.told)
            for each in reversed(judged)
            if each.judged == end
            and (not each.until or all(one.key != each.key for one in known.warnings))
        }

    def decide(self, moment: int) -> RuleVerdict:  # noqa: ARG002 - hours alone change the state
        """Return the state of the rule, apart from its incidents."""
        known = self.progress
        if known.warnings:
            reasons = [describe_fact(choose_fact(each)) for each in known.warnings]
            return RuleVerdict("ALERT", join_first(reasons, " ", " "))
        if known.following == known.first:
            return RuleVerdict("INSUFFICIENT", "no hour has been checked yet")
        if not known.watched:
            until = describe_time(known.following)
            told = f"by {until}, no stream had {FEWEST_DAYS} days to compare with"
            return RuleVerdict("INSUFFICIENT", told)
        are = "stream is" if known.watched == 1 else "streams are"
        return RuleVerdict("OK", f"lists and scores of {known.watched} {are} as usual")


KIND = Kind(
    record=EarlyRule,
    words="early warnings, before labels arrive",
    text="compares lists and scores with those of the days before, and warns before labels arrive",
    problems={
        EARLY: Problem(
            name="early warning",
            step="Look at the lists: what they show, or how they are ordered, has changed. If the "
            "change is intended, resolve the incident, and it counts as usual. If it isn't, fix "
            "it; the warning then ends by itself.",
            is_hourly=True,
        ),
    },
    run=EarlyRun,
)
