"""The rules behind a number, one by one, so that they can be compared and exchanged."""

from __future__ import annotations

from rankscope.data.policy import FIELDS, Policy
from rankscope.measures import spelling
from rankscope.measures.spec import default_measure
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

    from rankscope.data.policy import ScoreType
    from rankscope.measures import Measure

    Settings: TypeAlias = tuple[tuple[str, object], ...]
    """Parameters or fields of one rule, and their values."""

DISCOUNT = ("discount", "base", "s")
"""The parameters that are one rule together."""


@record(frozen=True, slots=True)
class Rules:
    """What a number is made by: a measure, a policy and how scores are compared.

    Args:
        measure: The measure, with its parameters.
        policy: The policy.
        score_type: How scores are compared.
    """

    measure: Measure
    policy: Policy
    score_type: ScoreType

    def to_dict(self) -> dict[str, Settings]:
        """Give the rules by name."""
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
        """Make the same rules but for one.

        Args:
            name: The name of the rule, as `to_dict` has it.
            settings: Its settings, as `to_dict` of other rules has them.

        Raises:
            MeasureError: The measure has no such parameter, or it does not fit the others.
        """
        values = dict(settings)
        if name == "score_type":
            return Rules(self.measure, self.policy, values[name])  # type: ignore[arg-type]  # of other rules
        if name in FIELDS:
            fields = self.policy.to_dict() | values
            return Rules(self.measure, Policy(**fields), self.score_type)  # type: ignore[arg-type]  # likewise
        # From the defaults, so that nothing of the old rule stays.
        kept = {key: value for key, value in self.measure.settings.items() if key not in values}
        taken = {key: value for key, value in settings if _is_said(settings, key)}
        measure = default_measure(self.measure.row)(**kept, **taken)
        return Rules(measure, self.policy, self.score_type)

    def differ(self, other: Rules) -> list[str]:
        """Name the rules that differ, those of the policy first."""
        theirs = other.to_dict()
        return [name for name, settings in self.to_dict().items() if theirs.get(name) != settings]


def write(settings: Settings) -> str:
    """Write the value of a rule, such as `average`, or `log, base=10` for a discount.

    Examples:
        >>> write((("ties", "average"),)), write((("discount", "zipf"), ("s", 2.0)))
        ('average', 'zipf, s=2')
    """
    (_, value), *others = settings
    said = [f"{name}={_word(other)}" for name, other in others if _is_said(settings, name)]
    return ", ".join([_word(value), *said])


def _is_said(settings: Settings, name: str) -> bool:
    """Whether a parameter belongs to the discount beside which it stands."""
    discount = settings[0][1]
    if name == "base":
        return discount in {"log", "jk"}
    return name != "s" or discount == "zipf"


def _word(value: object) -> str:
    return value if isinstance(value, str) else spelling.literal(value)  # type: ignore[arg-type]  # as measures keep it
