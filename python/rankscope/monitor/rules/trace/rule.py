"""Rules of the kind `trace`: a slice falls that no other rule watches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Self

from rankscope.monitor.evaluate.values import name_columns
from rankscope.monitor.rules.measured import check_measure
from rankscope.monitor.rules.rule import Rule, bad
from rankscope.monitor.rules.settings import Measure, RunLength

if TYPE_CHECKING:
    from rankscope.monitor.definition.configuration import Configuration

MOST_NIGHTS = 2500
"""The longest run length of a trace: the p-value that it asks for needs twice as many reassignments
for each of at most 20 models, and a trace draws 100,000."""


class TraceRule(Rule):
    """A search of all slices, every night; see `Rule`."""

    kind: Literal["trace"]
    measure: Measure
    run_length: RunLength = 1800.0

    @property
    def subject(self) -> str:
        """The measure that its incidents are about."""
        return self.measure

    def check(self, configuration: Configuration) -> Self:
        """Check that the project measures what the rule needs, and return it with full names."""
        if self.run_length > MOST_NIGHTS:
            raise bad("run_length", f"at most {MOST_NIGHTS} nights for a trace", self.run_length)
        measure = check_measure(self.measure, configuration)
        if len(name_columns(configuration.definition.only(measure))) < 2:
            raise bad("measure", "one whose losses add up to 1, such as nDCG@10", self.measure)
        return self.replace(measure=measure.name)

    def describe(self) -> str:
        """Describe the rule in a sentence."""
        models = "each model" if self.model is None else f"the model {self.model}"
        return (
            f"Traces {models} every night, and alerts when {self.measure} of a slice fell more "
            f"than that of everything. At most one false alarm in {self.run_length:,.0f} nights, "
            "on average."
        )
