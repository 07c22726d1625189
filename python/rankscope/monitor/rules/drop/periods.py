"""Steps: the periods that a rule checks one by one, and when each can be checked."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import cached_property

from rankscope.monitor.events.limits import DAY, HOUR, SECOND
from rankscope.monitor.rules.drop.progress import RuleProgress
from rankscope.monitor.rules.drop.rule import DropRule, choose_ages
from rankscope.monitor.rules.drop.sample import Cells, Sample, View, collect_samples
from rankscope.monitor.rules.run import Scene
from rankscope.monitor.store.records import Context

FINAL = 0
"""The age of values that are final."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A period that a rule checks.

    Args:
        due: When it can be checked, in microseconds since 1970 in UTC.
        start: When it begins.
        until: When it ends.
        age: How long after each ranking its labels count; 0 for the whole attribution window.
    """

    due: int
    start: int
    until: int
    age: int = FINAL


def next_step(rule: DropRule, progress: RuleProgress, scene: Scene) -> Step:
    """Return the period that a rule checks next, whether it is due or not.

    Periods are checked in the order in which they can be: final periods once their attribution
    windows are closed, and the hours of early values once they have the age.
    """
    steps = [_make_step(rule, progress, age, scene) for age in _list_ages(scene)]
    # What is final comes first: it says more than what is early.
    return min(steps, key=lambda one: (one.due, one.start, one.age))


def pass_empty(rule: DropRule, progress: RuleProgress, scene: Scene) -> tuple[RuleProgress, int]:
    """Pass the periods before the first ranking and those after the last one at once."""
    first = min(version.first for version in scene.versions)
    last = max(version.last for version in scene.versions)
    passed = 0
    for age in _list_ages(scene):
        step = _make_step(rule, progress, age, scene)
        length = step.until - step.start
        if not progress.streams and step.start < first:
            start = max(step.start, min(first, scene.now) // length * length)
            progress = continue_at(progress, age, start)
            step = _make_step(rule, progress, age, scene)
        if step.start > last and step.due <= scene.now:
            count = (scene.now - step.due) // length + 1
            passed += count
            progress = continue_at(progress, age, step.start + count * length)
            if age == FINAL:
                progress = progress.count(0, 0)
    return progress, passed


def _list_ages(scene: Scene) -> tuple[int, ...]:
    return (FINAL, *choose_ages(scene.window))


def _make_step(rule: DropRule, progress: RuleProgress, age: int, scene: Scene) -> Step:
    if age == FINAL:
        start, length, wait = progress.following, rule.length, scene.window
    else:
        start, length, wait = dict(progress.early).get(age, progress.following), HOUR, age
    until = start + length
    return Step(due=until + wait + scene.grace, start=start, until=until, age=age)


def continue_at(progress: RuleProgress, age: int, start: int) -> RuleProgress:
    """Return the progress that goes on with the period of an age that begins at a time."""
    if age == FINAL:
        return replace(progress, following=start)
    early = dict(progress.early) | {age: start}
    return replace(progress, early=tuple(sorted(early.items())))


MOST_HELD = 600_000
"""With more rankings, no values are held that are checked later only."""


@dataclass(frozen=True, slots=True)
class _ReadSpan:
    """Rankings that were read, with their values at one age.

    Args:
        age: The age.
        start: From when they are.
        until: Until when.
        sample: The rankings.
    """

    age: int
    start: int
    until: int
    sample: Sample

    def has(self, step: Step) -> bool:
        """Whether it has the rankings of a step."""
        if step.age != self.age:
            return False
        if step.age == FINAL:
            # A part of them doesn't know how often grades occur.
            return (self.start, self.until) == (step.start, step.until)
        return self.start <= step.start and step.until <= self.until


class PeriodReader:
    """Reads periods and baselines, once for all rules of a project.

    Args:
        scene: What the rules are checked on.
        measures: The names of the measures that rules need.
        ages: The ages of the early values that rules check.

    Attributes:
        scene: What the rules are checked on.
        definition: The definition of the project, with these measures only.
        ages: The ages of the values that rules check, the youngest first; `FINAL` is the last.
    """

    def __init__(self, scene: Scene, measures: Collection[str], ages: Collection[int] = ()) -> None:
        definition = scene.configuration.definition
        chosen = tuple(measure for measure in definition.measures if measure.name in measures)
        self.scene = scene
        self.definition = replace(definition, measures=chosen) if chosen else definition
        self.ages = (*sorted(ages), FINAL)
        self._held: list[_ReadSpan] = []

    @cached_property
    def contexts(self) -> dict[int, Context]:
        """The contexts, read when the first period is due."""
        return self.scene.store.contexts(self.scene.project)

    @cached_property
    def cells(self) -> Cells:
        """The cells that rankings are in."""
        return Cells(self.contexts, self.scene.slicing)

    def read(self, step: Step) -> Sample:
        """Read a period of production, with the values that rankings have at its age.

        The hours of a day that are due are read together, and with the values of later ages, as far
        as these are known: the periods that are checked at those ages come next.
        """
        held = next((one for one in self._held if one.has(step)), None)
        if held is None:
            until = step.until
            if step.age != FINAL:
                closed = (self.scene.now - step.age) // HOUR * HOUR
                until = max(until, min(step.start - step.start % DAY + DAY, closed))
            held = self._collect(step.age, step.start, until)
        if (held.start, held.until) == (step.start, step.until):
            return held.sample
        return held.sample.between(step.start, step.until)

    def _collect(self, age: int, since: int, until: int) -> _ReadSpan:
        """Read rankings, and hold them with their values at an age and at later ones."""
        self._held = [one for one in self._held if one.until + self.wait(one.age) >= since]
        later = self.ages_after(age)
        known = [one for one in later if until + self.wait(one) <= self.scene.now]
        ages = [age, *(known if self._has_room(1 + len(known)) else ())]
        shown = [
            number
            for number, context in self.contexts.items()
            if context.environment == "production"
        ]
        samples = collect_samples(
            self.scene.store.read(self.scene.project, since, until),
            shown,
            [self.view(one, until + self.wait(one)) for one in ages],
            threads=self.scene.threads,
        )
        found = [
            _ReadSpan(one, since, until, sample) for one, sample in zip(ages, samples, strict=True)
        ]
        self._held += found
        return found[0]

    def _has_room(self, count: int) -> bool:
        """Whether so many more samples can be held, each as large as the largest one."""
        sizes = [len(one.sample.times) for one in self._held]
        return sum(sizes) + count * max(sizes, default=0) <= MOST_HELD

    def ages_after(self, age: int) -> tuple[int, ...]:
        """Return the later ages of values."""
        return self.ages[self.ages.index(age) + 1 :]

    def wait(self, age: int) -> int:
        """Return how long after a ranking its values of an age are known."""
        return age or self.scene.window

    def view(self, age: int, now: int | None) -> View:
        """Return what is known of rankings as of a time, whose labels count up to an age."""
        definition = self.definition
        return View(replace(definition, window=age // SECOND) if age else definition, now)
