"""The number that another tool printed, or that of each query, with its digits."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import TypeAlias

from rankscope._names import quote
from rankscope._reconcile.workbench import Outcome
from rankscope.errors import UsageError

Number: TypeAlias = float | str | Mapping[str, float | str]

PERCENT = 100
LONGEST_TEXT = 200
"""A number of more characters was not printed as the value of a measure."""
SLACK = {"float64": 1e-12, "float32": 1e-6}
"""How far a number may be off for the precision it was computed in, beside its digits."""


@dataclass(frozen=True, slots=True)
class Target:
    """A number, and how many digits of it are known; or the mean of those of queries.

    Args:
        text: The number as it was printed, or what the values are called in messages.
        value: The number.
        half: Half a unit of its last digit.
        queries: The number of each query, if these decide.
    """

    text: str
    value: float
    half: float = 0.0
    queries: Mapping[str, Target] | None = None

    @classmethod
    def read(cls, got: Number, highest: float) -> Target:
        """Read a number, or that of each query, in percent if it is above the highest value."""
        if not isinstance(got, Mapping):
            number = cls.of_number(got)
            return number.of_percent() if number.is_percent(highest) else number
        if not got:
            raise _no_number(got)
        numbers = {str(query): cls.of_number(value) for query, value in got.items()}
        if any(number.is_percent(highest) for number in numbers.values()):
            numbers = {query: number.of_percent() for query, number in numbers.items()}
        mean = math.fsum(number.value for number in numbers.values()) / len(numbers)
        queries = "1 query" if len(numbers) == 1 else f"{len(numbers)} queries"
        return cls(f"the values of {queries}", mean, queries=numbers)

    @classmethod
    def of_number(cls, got: object) -> Target:
        """Read a number and count its digits.

        A number with a positive exponent, such as `2e3`, is read as a whole number: `2000`.

        Examples:
            >>> number = Target.of_number("0.4860")
            >>> number.value, number.half
            (0.486, 5e-05)
        """
        try:
            # `str` and not `repr`, which writes the type of NumPy's numbers beside them.
            text = str(got).strip()
            number = Decimal(text[: LONGEST_TEXT + 1])
            value = float(number)
        except (InvalidOperation, ValueError):  # no number, or an integer of thousands of digits
            raise _no_number(got) from None
        # Infinity is no number of a measure, and every value would be near one of infinite slack.
        if not math.isfinite(value) or len(text) > LONGEST_TEXT:
            raise _no_number(got)
        exponent = min(int(number.as_tuple().exponent), 0)
        return cls(text, value, float(f"5e{exponent - 1}"))

    def is_percent(self, highest: float) -> bool:
        """Check whether a number is too high for the values of a measure, but not in percent."""
        return highest < self.value <= PERCENT * highest

    def of_percent(self) -> Target:
        """Return the share that a number in percent means."""
        return Target(f"{self.text} %", self.value / PERCENT, self.half / PERCENT)

    def is_near(self, value: float, computed_in: str = "float64") -> bool:
        """Check whether a value rounds to this number."""
        return abs(value - self.value) <= max(self.half * (1 + 1e-9), SLACK[computed_in])

    def is_met(self, outcome: Outcome, computed_in: str = "float64") -> bool:
        """Check whether the mean, or every query, has its value. Other queries don't matter."""
        if self.queries is None:
            return self.is_near(outcome.value, computed_in)
        values = outcome.by_query
        return all(
            query in values and number.is_near(values[query], computed_in)
            for query, number in self.queries.items()
        )


def _no_number(got: object) -> UsageError:
    return UsageError(
        f"expected got as a finite number, found {quote(got)}",
        hint="write it as it was printed: got='0.4863'",
        code="bad_parameter",
    )
