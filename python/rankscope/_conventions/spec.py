"""Conventions: the settings with which one version of a library computes its numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

from rankscope._settings import FIELDS, Policy, ScoreType
from rankscope.errors import MeasureError
from rankscope.measures import Measure, domains
from rankscope.measures.kernel import SHAPES
from rankscope.measures.spec import default_measure

Rule: TypeAlias = Mapping[str, Any]
"""The values of a policy field or parameter, or of parameters that form one rule together."""


def every(_grade: float) -> float:
    """Return 1 for every grade."""
    return 1.0


def truncated(grade: float) -> float:
    """Return the grade, truncated to an integer.

    Examples:
        >>> truncated(1.9), truncated(-0.5)
        (1.0, 0.0)
    """
    return float(int(grade))


def truncated_exp2(grade: float) -> float:
    """Return 2^grade - 1 of the truncated grade.

    Examples:
        >>> truncated_exp2(2.7)
        3.0
    """
    return 2.0 ** int(grade) - 1.0


def quarters(grade: float) -> float:
    """Return the grade divided by 4, at most 1.

    Examples:
        >>> quarters(3.0), quarters(5.0)
        (0.75, 1.0)
    """
    return min(grade, 4.0) / 4


TRUNCATED = {"linear": truncated, "exp2": truncated_exp2}
"""The gains of libraries that truncate grades, by the corresponding gain."""


@dataclass(frozen=True, slots=True)
class Limit:
    """The grades that a library accepts.

    Args:
        says: What the library does with other grades, to follow its name in a sentence.
        least: The lowest grade.
        most: The highest grade.
        integers: Whether grades must be integers.
    """

    says: str
    least: float = float("-inf")
    most: float = float("inf")
    integers: bool = False

    def allows(self, grade: float) -> bool:
        """Return whether the library accepts a grade."""
        return self.least <= grade <= self.most and not (self.integers and grade != int(grade))


@dataclass(frozen=True, slots=True)
class Form:
    """Measures as a library computes them.

    Args:
        names: The names of the measures in rankscope, separated by spaces.
        settings: The parameter values that correspond to the definition of the library.
        takes: The parameters that the caller can set, as far as the measures have them.
        cut: `True` if the library only has them with a cutoff, `False` if only without.
        policy: The policy fields in which they differ from the rest of the convention.
        score_type: How scores are compared, if this differs from the rest of the convention.
        limit: The grades accepted for these measures, if fewer than for the convention.
    """

    names: str
    settings: Mapping[str, object] = field(default_factory=dict)
    takes: tuple[str, ...] = ("k",)
    cut: bool | None = None
    policy: str = ""
    score_type: ScoreType | None = None
    limit: Limit | None = None

    @property
    def measures(self) -> list[str]:
        """The name of each measure."""
        return self.names.split()


@dataclass(frozen=True, slots=True)
class Option:
    """A setting that a library leaves to its user, and that can be combined with its convention.

    Args:
        name: The name of the setting in the library, such as `-c`.
        field: The policy field or measure parameter that corresponds to it.
        values: The values it can have; empty means any.
    """

    name: str
    field: str
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Convention:
    """The settings with which one version of a library computes its numbers.

    Args:
        address: The name with the version, such as `lightgbm@4.7.0`, to pass as `convention=`.
        tool: The library or program, as its authors write it.
        summary: A description in one sentence.
        verified: `run` if the tests compare rankscope with numbers that the library computed, else
            `read from source`.
        policy: The policy.
        forms: The measures that the library has.
        limit: The grades that the library accepts.
        truncates: Whether the library truncates grades to integers.
        score_type: The precision in which the library compares scores.
        computes_in: The precision in which the library computes; rankscope uses double precision.
        adds_in_order: Whether means are sums that are rounded after each query, in the order of
            their IDs. Other sums are exact.
        options: The settings that the library leaves to its user.
        notes: Further notes, as sentences.
        bugs: Bugs of the library that the convention doesn't reproduce: for each a short
            identifier, and what happens.
        source: The source of this information.
    """

    address: str
    tool: str
    summary: str
    verified: Literal["run", "read from source"] = "run"
    policy: Policy
    forms: tuple[Form, ...]
    limit: Limit | None = None
    truncates: bool = False
    score_type: ScoreType = "float64"
    computes_in: ScoreType = "float64"
    adds_in_order: bool = False
    options: tuple[Option, ...] = ()
    notes: str = ""
    bugs: Mapping[str, str] = field(default_factory=dict)
    source: str

    @property
    def name(self) -> str:
        """The name, which without a version means the newest version that was run."""
        return self.address.partition("@")[0]

    @property
    def version(self) -> str:
        """The version of the library."""
        return self.address.partition("@")[2]

    @property
    def measures(self) -> tuple[str, ...]:
        """The names of the measures that the library has."""
        return tuple(dict.fromkeys(name for form in self.forms for name in form.measures))

    def option(self, field: str) -> Option | None:
        """Return what the library leaves to its user of a policy field or parameter."""
        return next((option for option in self.options if option.field == field), None)

    def __repr__(self) -> str:
        return f"Convention({self.address!r})"


BINARY_GAINS = {"gain": "binary"}
EXP2 = {"gain": "exp2"}
REACHABLE = {"denominator": "reachable"}
RETRIEVED = {"denominator": "retrieved"}
LISTS_ONLY = "It only sees the retrieved documents. Documents without a judgment have grade 0."
LOG_CANCELS = "Its discount is 1/ln(rank + 1). The base cancels."
NO_NEGATIVE = Limit(
    "adds the gains of negative grades to its ideal, which rankscope doesn't reproduce", least=0
)


DISCOUNT = ("discount", "base", "s")
"""The parameters that form one rule together."""


@dataclass(frozen=True, slots=True)
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
        name: value if isinstance(value, str) else domains.literal(value)
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
