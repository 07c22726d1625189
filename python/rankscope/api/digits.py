"""Numbers from elsewhere, which have so many digits and no more."""

from __future__ import annotations

import math
from decimal import Decimal, InvalidOperation

from rankscope.errors import UsageError
from rankscope.names import quote
from rankscope.records import record

LONGEST_TEXT = 200
"""A number of more characters was not printed as the value of a measure."""

SLACK = {"float64": 1e-12, "float32": 1e-6}
"""How far a number may be off for the precision it was computed in, beside its digits."""


@record(frozen=True, slots=True)
class Wanted:
    """A number with its digits.

    Args:
        text: The number as it was given.
        value: The number.
        half: Half a unit of its last digit.
    """

    text: str
    value: float
    half: float

    @classmethod
    def read(cls, given: object) -> Wanted:
        """Read a number and how many digits it has.

        A number with a positive exponent, such as `2e3`, is read as a whole number: `2000`.

        Raises:
            UsageError: It is not a number, or one that double precision cannot hold.

        Examples:
            >>> Wanted.read("0.4860")
            Wanted(text='0.4860', value=0.486, half=5e-05)
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

    def is_near(self, value: float, computed_in: str = "float64") -> bool:
        """Whether a value is this number, to its digits."""
        return abs(value - self.value) <= max(self.half * (1 + 1e-9), SLACK[computed_in])


def _no_number(given: object) -> UsageError:
    return UsageError(
        f"expected got as a finite number, found {quote(given)}",
        hint="write it as it was printed: got='0.4863'",
        code="bad_parameter",
    )
