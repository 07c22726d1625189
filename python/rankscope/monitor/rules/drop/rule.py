"""Rules of the kind `drop`: the mean of a measure falls below its floor."""

from __future__ import annotations

from collections.abc import Collection
from typing import Annotated, Literal, Self

from pydantic import Field

from rankscope.monitor.definition.configuration import Configuration
from rankscope.monitor.events.limits import HOUR, MINUTE
from rankscope.monitor.rules.rule import Rule, bad, check_measure
from rankscope.monitor.rules.settings import (
    BETWEEN,
    EMPTY,
    LENGTHS,
    FalseAlarms,
    Measure,
    Period,
    Setting,
    Slices,
)

AGES = (15 * MINUTE, HOUR, 4 * HOUR)
"""The ages at which early values are checked: the last two that the window allows."""
MOST_AGES = 2
LEAST_WINDOW = 4
"""The ages are at most the attribution window divided by this."""

Tolerance = Annotated[
    float,
    Field(ge=0, allow_inf_nan=False),
    Setting(
        "how far the mean may be below the baseline: a value such as 0.02, or a share of the "
        "baseline such as 5%",
        "0 or more, and below 1 where it is a share",
    ),
]
IsRelative = Annotated[
    bool,
    Setting(
        "read the tolerance as a share of the baseline, as 5% is",
        label="Tolerance is a share of the baseline",
    ),
]


class DropRule(Rule):
    """A condition on the mean of a measure in production; see `Rule`."""

    kind: Literal["drop"] = "drop"
    measure: Measure
    slices: Slices = ()
    period: Period = "day"
    tolerance: Tolerance = 0.02
    is_relative: IsRelative = False
    false_alarms: FalseAlarms = 0.05

    def model_post_init(self, _: object) -> None:
        """Check what depends on two fields."""
        if self.is_relative and self.tolerance >= 1:
            raise bad("tolerance", "0 or more, and below 1 where it is a share", self.tolerance)

    @property
    def subject(self) -> str:
        """The measure that its incidents are about."""
        return self.measure

    @property
    def is_rise_bad(self) -> bool:
        """Whether a larger value of the measure is a worse one."""
        return self.measure == EMPTY

    @property
    def length(self) -> int:
        """How much it looks at together, as the store counts time."""
        return LENGTHS[self.period]

    @property
    def step(self) -> int:
        """How long a period of final values is."""
        return self.length

    def check(self, configuration: Configuration) -> Self:
        """Check that the project measures what the rule needs, and return it with full names."""
        slices = tuple(check_slice(name, configuration) for name in self.slices)
        if self.measure == EMPTY:
            return self.replace(slices=slices)
        measure = check_measure(self.measure, configuration, more=[EMPTY])
        lowest, highest = measure.row.value_range
        if not 0 <= lowest <= highest <= 1:
            raise bad("measure", "one whose values are from 0 to 1", self.measure)
        return self.replace(measure=measure.name, slices=slices)

    def describe(self) -> str:
        """Describe the rule in a sentence.

        Examples:
            >>> DropRule(name="quality", measure="nDCG@5", slices=("device",)).describe()
            'Alerts when nDCG@5 drops more than 0.02 below the baseline, checked every day, \
overall and by device. The chance of a false alarm in a quarter is at most 5%.'
        """
        amount = f"{100 * self.tolerance:g}%" if self.is_relative else f"{self.tolerance:g}"
        what, below = f"{self.measure} drops", "below"
        if self.is_rise_bad:
            what, below = "the share of rankings without relevant documents rises", "above"
        where = f" for the model {self.model}" if self.model is not None else ""
        slices = f" and by {', '.join(self.slices)}" if self.slices else ""
        return (
            f"Alerts when {what} more than {amount} {below} the baseline, checked every "
            f"{self.period}, overall{slices}{where}. The chance of a false "
            f"alarm in a quarter is at most {100 * self.false_alarms:g}%."
        )


def choose_ages(window: int) -> tuple[int, ...]:
    """Return the ages at which early values are checked, in microseconds, the youngest first.

    Args:
        window: The attribution window, in microseconds.

    Examples:
        >>> [age // HOUR for age in choose_ages(24 * HOUR)]
        [1, 4]
    """
    return tuple(age for age in AGES if LEAST_WINDOW * age <= window)[-MOST_AGES:]


def check_slice(name: str, configuration: Configuration) -> str:
    """Return the name of an attribute, or of a pair in the order of the configuration."""
    attributes, pairs = configuration.attributes, configuration.all_pairs
    dimension = find_dimension(name, attributes)
    if len(dimension) == 2:
        for pair in (dimension, dimension[::-1]):
            if pair in pairs:
                return BETWEEN.join(pair)
        known = ", ".join(BETWEEN.join(pair) for pair in pairs) or "none"
        raise bad(
            "slices",
            f"a pair of attributes that the project slices together: {known}",
            name,
            "add the pair to the configuration of the project, or leave its pairs out for all",
        )
    if not dimension:
        known = ", ".join(attributes) or "none"
        example = f", or two of them as in {BETWEEN.join(attributes[:2])}" if attributes[1:] else ""
        raise bad(
            "slices",
            f"attributes of the project ({known}){example}",
            name,
            "add the attribute with rankscope monitor configure STORE --slice, or correct its name",
        )
    return name


def find_dimension(name: str, attributes: Collection[str]) -> tuple[str, ...]:
    """Return the attributes that a rule's slice names: one, two, or none if there are none such.

    Examples:
        >>> find_dimension("device:country", ("country", "device"))
        ('device', 'country')
        >>> find_dimension("client:app", ("client:app", "device")), find_dimension("os", ())
        (('client:app',), ())
    """
    if name in attributes:
        return (name,)
    for at, letter in enumerate(name):
        first, second = name[:at], name[at + 1 :]
        if letter == BETWEEN and first != second and first in attributes and second in attributes:
            return first, second
    return ()
