"""The settings behind a number, as rules that can be compared and exchanged one by one."""

from __future__ import annotations

from rankscope.errors import MeasureError
from rankscope.measures import spelling
from rankscope.measures.kernel import SHAPES
from rankscope.measures.spec import default_measure
from rankscope.records import record, replace
from rankscope.settings.policy import FIELDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, TypeAlias

    from rankscope.measures import Measure
    from rankscope.settings.policy import Policy, ScoreType

    Rule: TypeAlias = Mapping[str, Any]
    """The values of a policy field or parameter, or of parameters that form one rule together."""

DISCOUNT = ("discount", "base", "s")
"""The parameters that form one rule together."""


@record(frozen=True, slots=True)
class Rules:
    """The settings behind a number: a measure, a policy and the score type.

    Args:
        measure: The measure, with its parameters.
        policy: The policy.
        score_type: The precision in which scores are compared.
    """

    measure: Measure
    policy: Policy
    score_type: ScoreType = "float64"

    @property
    def settings(self) -> dict[str, Any]:
        """The policy fields and the score type, by name."""
        return self.policy.to_dict() | {"score_type": self.score_type}

    def to_dict(self) -> dict[str, Rule]:
        """Return the rules by name."""
        parameters = self.measure.parameters
        values = self.settings | parameters
        rules: dict[str, Rule] = {
            name: {name: value} for name, value in values.items() if name not in {"k", *DISCOUNT}
        }
        if "discount" in parameters:
            rules["discount"] = {name: parameters[name] for name in DISCOUNT if name in parameters}
        return rules

    def take(self, rule: Rule) -> Rules | None:
        """Return the rules with one of them replaced, if it fits the others."""
        if "score_type" in rule:
            return replace(self, score_type=rule["score_type"])
        if not rule.keys().isdisjoint(FIELDS):
            return replace(self, policy=replace(self.policy, **rule))
        # Start from the defaults, so that no setting of the old rule remains.
        kept = {name: value for name, value in self.measure.settings.items() if name not in rule}
        try:
            measure = default_measure(self.measure.row)(**kept, **_needed(rule))
        except MeasureError:
            return None
        return replace(self, measure=measure)


def write(rule: Rule) -> str:
    """Return the value of a rule as text, such as `average`, or `log, base=10` for a discount.

    Examples:
        >>> write({"ties": "average"}), write({"discount": "zipf", "base": 2.0, "s": 2.0})
        ('average', 'zipf, s=2')
    """
    words = {
        name: value if isinstance(value, str) else spelling.literal(value)
        for name, value in _needed(rule).items()
    }
    first, *others = words
    return ", ".join([words[first], *(f"{name}={words[name]}" for name in others)])


def _needed(rule: Rule) -> Rule:
    """Return a rule without the parameters of other discounts than its own."""
    if "discount" not in rule:
        return rule
    needed = {"discount", SHAPES.get(rule["discount"])}
    return {name: value for name, value in rule.items() if name in needed}
