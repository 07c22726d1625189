"""Checks that a project measures what a rule is about."""

from __future__ import annotations

from rankscope.engine.requests import read_measure
from rankscope.errors import MeasureError, UsageError
from rankscope.monitor.rules.rule import bad

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from rankscope.measures import Measure
    from rankscope.monitor.definition.configuration import Configuration


def check_measure(name: str, configuration: Configuration, *, more: Iterable[str] = ()) -> Measure:
    """Return the measure with a name, which the project has to measure."""
    try:
        measure = read_measure(name)
    except MeasureError as error:
        raise UsageError(f"measure: {error.message}", hint=error.hint, code="bad_rule") from error
    names = [each.name for each in configuration.definition.measures]
    if measure.name not in names:
        raise bad("measure", f"one of {', '.join([*names, *more])}, which are measured", name)
    return measure
