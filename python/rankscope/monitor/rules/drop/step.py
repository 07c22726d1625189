"""Steps: the periods that a rule checks one by one, and when each can be checked."""

from __future__ import annotations

from rankscope.monitor.events.limits import HOUR
from rankscope.records import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.monitor.rules.drop.progress import RuleProgress
    from rankscope.monitor.rules.drop.rule import DropRule
    from rankscope.monitor.rules.run import Scene

FINAL = 0
"""The age of values that are final."""


@record(frozen=True, slots=True, kw_only=True)
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
    steps = [_make_step(rule, progress, age, scene) for age in _list_ages(rule, scene)]
    # What is final comes first: it says more than what is early.
    return min(steps, key=lambda one: (one.due, one.start, one.age))


def pass_step(progress: RuleProgress, step: Step) -> RuleProgress:
    """Return the progress after a period: the next one of its age follows."""
    return _continue_at(progress, step.age, step.until)


def pass_empty(rule: DropRule, progress: RuleProgress, scene: Scene) -> tuple[RuleProgress, int]:
    """Pass the periods before the first ranking and those after the last one at once."""
    first = min(version.first for version in scene.versions)
    last = max(version.last for version in scene.versions)
    passed = 0
    for age in _list_ages(rule, scene):
        step = _make_step(rule, progress, age, scene)
        length = step.until - step.start
        if not progress.streams and step.start < first:
            start = max(step.start, min(first, scene.now) // length * length)
            progress = _continue_at(progress, age, start)
            step = _make_step(rule, progress, age, scene)
        if step.start > last and step.due <= scene.now:
            count = (scene.now - step.due) // length + 1
            passed += count
            progress = _continue_at(progress, age, step.start + count * length)
            if age == FINAL:
                progress = progress.count(0, 0)
    return progress, passed


def _list_ages(rule: DropRule, scene: Scene) -> tuple[int, ...]:
    return (FINAL, *rule.choose_ages(scene.window))


def _make_step(rule: DropRule, progress: RuleProgress, age: int, scene: Scene) -> Step:
    if age == FINAL:
        start, length, wait = progress.following, rule.length, scene.window
    else:
        start, length, wait = dict(progress.early).get(age, progress.following), HOUR, age
    until = start + length
    return Step(due=until + wait + scene.grace, start=start, until=until, age=age)


def _continue_at(progress: RuleProgress, age: int, start: int) -> RuleProgress:
    if age == FINAL:
        return replace(progress, following=start)
    early = dict(progress.early) | {age: start}
    return replace(progress, early=tuple(sorted(early.items())))
