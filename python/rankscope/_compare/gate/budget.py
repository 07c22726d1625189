"""Budgets of a gate: what a candidate may lose, and whether an interval says that it doesn't."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from rankscope._names import check_choice, is_real, quote
from rankscope.errors import UsageError
from rankscope.measures import Measure

Kind: TypeAlias = Literal["max-drop", "max-loss", "min", "tolerance"]
Verdict: TypeAlias = Literal["holds", "unchanged", "broken", "inconclusive"]
OnInconclusive: TypeAlias = Literal["fail", "pass"]


HOLDS: Verdict = "holds"
BROKEN: Verdict = "broken"
INCONCLUSIVE: Verdict = "inconclusive"
UNCHANGED: Verdict = "unchanged"
ON_INCONCLUSIVE = ("fail", "pass")
METHODS = ("auto", "dense", "bounded", "t")
"""The intervals of means that a gate can be decided by."""
FIELDS: dict[Kind, str] = {
    "max-drop": "max_drop",
    "max-loss": "max_loss",
    "min": "minimum",
    "tolerance": "tolerance",
}
"""The field of a budget that sets a limit of each kind."""
DIFFERENCES = ("max-drop", "tolerance")
"""The kinds that limit a difference, which can be a share of what the baseline has."""


def decide(lower: float, upper: float, least: float) -> Verdict:
    """Decide whether a value is at least `least`, given its confidence interval.

    The budget holds if the whole interval is at or above `least`, is broken if the whole interval
    is below it, and is inconclusive otherwise, or if there is no interval (NaN).

    Examples:
        >>> decide(-0.005, 0.01, -0.005), decide(-0.02, -0.006, -0.005), decide(-0.02, 0.01, -0.005)
        ('holds', 'broken', 'inconclusive')
    """
    if lower >= least:
        return HOLDS
    return BROKEN if upper < least else INCONCLUSIVE


@dataclass(frozen=True, slots=True)
class Budget:
    """What a candidate may lose. Give exactly one limit.

    Args:
        measure: The measure, or its name.
        max_drop: How far the mean of the candidate may be below that of the baseline: a number, or
            text such as `"2%"` for a share of the baseline's mean.
        max_loss: The most that the loss of a query (its value under the baseline minus its value
            under the candidate) may be at the quantile `quantile`.
        minimum: The lowest mean that the candidate may have, whatever the baseline has.
        tolerance: How much worse the value of the candidate may be than that of the baseline, for a
            measure of all lists together, such as Coverage: a number, or text such as `"5%"` for a
            share of the baseline's value. Worse is higher where lower values are better, as of
            Gini. The two values are compared as they are, without an interval: no query has a value
            to resample.
        quantile: The quantile of `max_loss`, between 0 and 1. With 0.95, 5 % of the queries may
            lose more than `max_loss`.
        by: Check each slice of this attribute instead of all queries; several attributes are
            combined. The confidence is corrected for the number of slices (Bonferroni).
        confidence: The confidence level of the two-sided interval (default: that of the gate).
        on_inconclusive: `"fail"` or `"pass"` (default: that of the gate).

    Raises:
        UsageError: A value is out of range, or there isn't exactly one limit.

    Examples:
        >>> print(Budget("nDCG@10", max_drop="2%"))
        nDCG@10: max drop 2%
        >>> print(Budget("AP", max_loss=0.3, by="country"))
        AP: max p95 loss 0.3, by country
        >>> print(Budget("Coverage@10", tolerance=0.02))
        Coverage@10: tolerance 0.02
    """

    measure: str | Measure
    max_drop: float | str | None = None
    max_loss: float | None = None
    minimum: float | None = None
    tolerance: float | str | None = None
    quantile: float = 0.95
    by: str | Sequence[str] | None = None
    confidence: float | None = None
    on_inconclusive: OnInconclusive | None = None

    def __post_init__(self) -> None:
        if sum(getattr(self, field) is not None for field in FIELDS.values()) != 1:
            raise bad_budget(
                f"the budget of {self.measure} needs exactly one limit",
                "set a largest drop, a largest loss, a minimum, or a tolerance",
            )
        if self.tolerance is not None and (self.by is not None or self.confidence is not None):
            raise bad_budget(
                f"the tolerance of {self.measure} has no slices and no confidence",
                "remove by and confidence: two values of all lists are compared, without intervals",
            )
        if not math.isfinite(self.limit) or (self.limit < 0 and self.minimum is None):
            field = FIELDS[self.kind]
            range_text = "a number of 0 or more" if self.minimum is None else "a finite number"
            raise bad_budget(
                f"expected {field} to be {range_text}, found {quote(getattr(self, field))}",
                "write 0.005, or '2%'" if self.kind in DIFFERENCES else "write 0.3",
            )
        check_share("quantile", self.quantile)
        check_choices(self.confidence, self.on_inconclusive)

    @property
    def kind(self) -> Kind:
        """Which limit it sets: `"max-drop"`, `"max-loss"`, `"min"` or `"tolerance"`."""
        return next(kind for kind, field in FIELDS.items() if getattr(self, field) is not None)

    @property
    def limit(self) -> float:
        """The limit as a number; a share from 0 to 1 if `is_relative`."""
        limit = getattr(self, FIELDS[self.kind])
        if self.is_relative:
            return to_number(limit.rstrip()[:-1]) / 100
        return float(limit) if is_real(limit) else math.nan

    @property
    def is_relative(self) -> bool:
        """Whether the limit is a share of the baseline's mean or value."""
        limit = getattr(self, FIELDS[self.kind])
        is_text = self.kind in DIFFERENCES and isinstance(limit, str)
        return is_text and limit.rstrip().endswith("%")

    @property
    def attributes(self) -> tuple[str, ...]:
        """The attributes of the slices; empty for all queries."""
        return () if self.by is None else (self.by,) if isinstance(self.by, str) else (*self.by,)

    def describe(self, measure: str) -> str:
        """Return the measure and the limit in a few words."""
        limit = f"{100 * self.limit:g}%" if self.is_relative else f"{self.limit:g}"
        if self.kind == "max-loss":
            return f"{measure}: max p{100 * self.quantile:g} loss {limit}"
        return f"{measure}: {self.kind.replace('-', ' ')} {limit}"

    def __str__(self) -> str:
        by = f", by {', '.join(self.attributes)}" if self.attributes else ""
        return self.describe(str(self.measure)) + by


def read_budgets(budgets: object, by: str | Sequence[str] | None = None) -> tuple[Budget, ...]:
    """Return the budgets of a caller, also in each slice of an attribute.

    Examples:
        >>> [str(budget) for budget in read_budgets({"nDCG@10": 0.005, "AP": "2%"})]
        ['nDCG@10: max drop 0.005', 'AP: max drop 2%']
    """
    several: list[Any] = [budgets]
    if isinstance(budgets, Mapping):
        several = [Budget(measure, max_drop=limit) for measure, limit in budgets.items()]
    elif isinstance(budgets, Iterable) and not isinstance(budgets, str):
        several = [*budgets]
    if not several or not all(isinstance(budget, Budget) for budget in several):
        raise bad_budget(
            f"expected budgets, found {quote(budgets)}",
            "write {'nDCG@10': 0.005}, or a list of rs.Budget('nDCG@10', max_drop=0.005)",
        )
    checked: list[Budget] = []
    for budget in several:
        checked.append(budget)
        if by is not None and budget.by is None and budget.tolerance is None:
            checked.append(replace(budget, by=by))
    return tuple(checked)


def check_choices(
    confidence: float | None, on_inconclusive: str | None, method: str = "auto"
) -> None:
    """Refuse a confidence that isn't between 0 and 1, an unknown outcome, and an unknown method."""
    check_choice("method", method, METHODS)
    if confidence is not None:
        check_share("confidence", confidence)
    if on_inconclusive not in (None, *ON_INCONCLUSIVE):
        raise bad_budget(
            f"unknown value {quote(on_inconclusive)} of on_inconclusive", "write 'fail' or 'pass'"
        )


def check_share(name: str, share: object) -> None:
    """Refuse anything but a number between 0 and 1."""
    if not (is_real(share) and 0 < share < 1):  # type: ignore[operator]  # a number
        raise bad_budget(
            f"expected a {name} between 0 and 1, found {quote(share)}", "write 0.95 for 95 percent"
        )


def to_number(text: str) -> float:
    """Return a number; NaN for text that is none."""
    try:
        return float(text)
    except ValueError:
        return math.nan


def bad_budget(message: str, hint: str) -> UsageError:
    """Return the error for a budget that nothing can be checked by."""
    return UsageError(message, hint=hint, code="bad_budget")
