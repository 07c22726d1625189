"""Rules of the kind `early`: what is shown, or how it is ordered, isn't as usual."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from rankscope.monitor.rules.rule import Rule
from rankscope.monitor.rules.settings import Setting, Severity

FalseWarnings = Annotated[
    float,
    Field(gt=0, le=10, allow_inf_nan=False),
    Setting(
        "how many false warnings a quarter may have, on average, over all signals and slices",
        "more than 0 and at most 10 warnings",
        label="False warnings a quarter",
        unit="warnings",
    ),
]


class EarlyRule(Rule):
    """A condition on what is known of rankings before their labels; see `Rule`."""

    kind: Literal["early"]
    false_warnings: FalseWarnings = 1.0
    severity: Severity = "info"

    def find_basis(self, _configuration: object) -> str:
        """Return what it looks at: what is usual is learned anew at every check."""
        return self.model or ""

    def describe(self) -> str:
        """Describe the rule in a sentence."""
        rate = f"{self.false_warnings:g} false warning{'s'[: self.false_warnings != 1]}"
        return (
            "Warns when lists or scores aren't as usual, before labels arrive. At most "
            f"{rate} a quarter, on average."
        )
