"""Numbers from elsewhere, which have so many digits and no more."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation

from rankscope.errors import UsageError
from rankscope.records import record

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

        Raises:
            UsageError: It is no number.

        Examples:
            >>> Wanted.read("0.4860")
            Wanted(text='0.4860', value=0.486, half=5e-05)
        """
        # `str` and not `repr`, which writes the type of NumPy's numbers beside them.
        text = str(given).strip()
        try:
            number = Decimal(text)
        except InvalidOperation:
            number = Decimal("NaN")
        exponent = number.as_tuple().exponent
        if not isinstance(exponent, int):
            raise UsageError(
                f"expected got as a finite number, found {given!r}",
                hint="write it as it was printed: got='0.4863'",
                code="bad_parameter",
            )
        return cls(text, float(number), float(Decimal((0, (5,), exponent - 1))))

    def is_near(self, value: float, computed_in: str = "float64") -> bool:
        """Whether a value is this number, to its digits."""
        return abs(value - self.value) <= max(self.half * (1 + 1e-9), SLACK[computed_in])
