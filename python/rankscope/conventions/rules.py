"""The settings behind a number, as rules that can be compared and exchanged one by one."""

from __future__ import annotations

from rankscope.measures import spelling
from rankscope.measures.spec import default_measure
from rankscope.records import record
from rankscope.settings.policy import FIELDS, Policy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

    from rankscope.measures import Measure
    from rankscope.settings.policy import ScoreType

    Settings: TypeAlias = tuple[tuple[str, object], ...]
    """The parameters or policy fields of a rule, with their values."""

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
    score_type: ScoreType

    def to_dict(self) -> dict[str, Settings]:
        """Return the rules by name."""
        rules: dict[str, Settings] = {
            field: ((field, getattr(self.policy, field)),) for field in FIELDS
        }
        rules["score_type"] = (("score_type", self.score_type),)
        parameters = self.measure.parameters
        for name, value in parameters.items():
            if name not in {"k", *DISCOUNT}:
                rules[name] = ((name, value),)
        if "discount" in parameters:
            rules["discount"] = tuple(
                (name, parameters[name]) for name in DISCOUNT if name in parameters
            )
        return rules

    def take(self, name: str, settings: Settings) -> Rules:
        """Return the rules with one of them replaced."""
        values = dict(settings)
        if name == "score_type":
            return Rules(self.measure, self.policy, values[name])  # type: ignore[arg-type]  # of other rules
        if name in FIELDS:
            fields = self.policy.to_dict() | values
            return Rules(self.measure, Policy(**fields), self.score_type)  # type: ignore[arg-type]  # likewise
        # Start from the defaults, so that no setting of the old rule remains.
        kept = {key: value for key, value in self.measure.settings.items() if key not in values}
        taken = {key: value for key, value in settings if _is_said(settings, key)}
        measure = default_measure(self.measure.row)(**kept, **taken)
        return Rules(measure, self.policy, self.score_type)

    def differ(self, other: Rules) -> list[str]:
        """Return the names of the rules that differ, policy fields first."""
        theirs = other.to_dict()
        return [name for name, settings in self.to_dict().items() if theirs.get(name) != settings]


def write(settings: Settings) -> str:
    """Return the value of a rule as text, such as `average`, or `log, base=10` for a discount.

    Examples:
        >>> write((("ties", "average"),)), write((("discount", "zipf"), ("s", 2.0)))
        ('average', 'zipf, s=2')
    """
    (_, value), *others = settings
    said = [f"{name}={_word(other)}" for name, other in others if _is_said(settings, name)]
    return ", ".join([_word(value), *said])


def _is_said(settings: Settings, name: str) -> bool:
    """Return whether a parameter belongs to the discount of the settings."""
    discount = settings[0][1]
    if name == "base":
        return discount in {"log", "jk"}
    return name != "s" or discount == "zipf"


def _word(value: object) -> str:
    return value if isinstance(value, str) else spelling.literal(value)  # type: ignore[arg-type]  # as measures keep it
