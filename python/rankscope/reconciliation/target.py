"""The number, or the value of each query, that another tool printed, with its digits."""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation

from rankscope.errors import UsageError
from rankscope.names import quote
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

    from rankscope.reconciliation.workbench import RuleOutcome

    Given: TypeAlias = float | str | Mapping[str, float | str]
    Target: TypeAlias = "TargetNumber | TargetValues"

PERCENT = 100
LONGEST_TEXT = 200
"""A number of more characters was not printed as the value of a measure."""

SLACK = {"float64": 1e-12, "float32": 1e-6}
"""How far a number may be off for the precision it was computed in, beside its digits."""


@record(frozen=True, slots=True)
class TargetNumber:
    """A number, and how many digits of it are known.

    Args:
        text: The number as it was given.
        value: The number.
        half: Half a unit of its last digit.
    """

    text: str
    value: float
    half: float

    @classmethod
    def read(cls, given: object) -> TargetNumber:
        """Read a number and count its digits.

        A number with a positive exponent, such as `2e3`, is read as a whole number: `2000`.

        Examples:
            >>> TargetNumber.read("0.4860")
            TargetNumber(text='0.4860', value=0.486, half=5e-05)
        """
        try:
            # `str` and not `repr`, which writes the type of NumPy's numbers beside them.
            text = str(given).strip()
            number = Decimal(text[: LONGEST_TEXT + 1])
            value = float(number)
        except (InvalidOperation, ValueError):  # no number, or an integer of thousands of digits
            raise _no_number(given) from None
        # Infinity is no number of a measure, and every value would be near one of infinite slack.
        if not math.isfinite(value) or len(text) > LONGEST_TEXT:
            raise _no_number(given)
        exponent = min(int(number.as_tuple().exponent), 0)
        return cls(text, value, float(f"5e{exponent - 1}"))

    def of_share(self, highest: float) -> TargetNumber:
        """Return a number that is too high for the values of a measure as the share it can mean."""
        if not highest < self.value <= PERCENT * highest:
            return self
        return TargetNumber(f"{self.text} %", self.value / PERCENT, self.half / PERCENT)

    def is_near(self, value: float, computed_in: str = "float64") -> bool:
        """Check whether a value rounds to this number."""
        return abs(value - self.value) <= max(self.half * (1 + 1e-9), SLACK[computed_in])

    def is_met(self, outcome: RuleOutcome, computed_in: str = "float64") -> bool:
        """Check whether the mean rounds to this number."""
        return self.is_near(outcome.value, computed_in)


@record(frozen=True, slots=True)
class TargetValues:
    """The value of each query, as another tool printed it.

    Args:
        numbers: The number of each query.
    """

    numbers: Mapping[str, TargetNumber]

    @property
    def text(self) -> str:
        """What the values are called in messages."""
        queries = "1 query" if len(self.numbers) == 1 else f"{len(self.numbers)} queries"
        return f"the values of {queries}"

    @property
    def value(self) -> float:
        """Their mean."""
        return math.fsum(each.value for each in self.numbers.values()) / len(self.numbers)

    @property
    def half(self) -> float:
        """Half a unit of the last digit of the least precise value."""
        return max(each.half for each in self.numbers.values())

    def is_met(self, outcome: RuleOutcome, computed_in: str = "float64") -> bool:
        """Check whether every query has its value. Queries without one are not compared."""
        found = dict(zip(outcome.evaluation.query_texts, outcome.values.tolist(), strict=True))
        return all(
            query in found and number.is_near(found[query], computed_in)
            for query, number in self.numbers.items()
        )


def read_target(given: Given, highest: float) -> Target:
    """Read a number, or the number of each query, in percent if it is above the highest value."""
    if not isinstance(given, Mapping):
        return TargetNumber.read(given).of_share(highest)
    if not given:
        raise _no_number(given)
    numbers = {str(query): TargetNumber.read(each) for query, each in given.items()}
    if any(each.of_share(highest) is not each for each in numbers.values()):
        numbers = {
            query: TargetNumber(each.text, each.value / PERCENT, each.half / PERCENT)
            for query, each in numbers.items()
        }
    return TargetValues(numbers)


def _no_number(given: object) -> UsageError:
    return UsageError(
        f"expected got as a finite number, found {quote(given)}",
        hint="write it as it was printed: got='0.4863'",
        code="bad_parameter",
    )
