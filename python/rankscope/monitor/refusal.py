"""Why one event is not taken."""

from __future__ import annotations

from rankscope.errors import FormatError
from rankscope.records import record

SHOWN = 120
MOST_BITS = 256


@record(frozen=True, slots=True)
class Rejection:
    """Why one event of a batch was not taken.

    Args:
        index: Its place in the batch, from 0.
        code: A stable name for programs, such as `duplicate_doc`.
        where: The field, such as `items[3].rank`; empty for the whole event.
        expected: What was expected there.
        found: What was found, escaped and cut.
        hint: How to mend it, or empty.
    """

    index: int
    code: str
    where: str
    expected: str
    found: str
    hint: str = ""

    def __str__(self) -> str:
        place = f"{self.index}.{self.where}" if self.where else str(self.index)
        return f"{place}: expected {self.expected}, found {self.found} [{self.code}]"


class RefusedError(FormatError):
    """An event that cannot be taken; readers turn it into a `Rejection`.

    Attributes:
        where: The field.
        expected: What was expected there.
        found: What was found, escaped and cut.
    """

    def __init__(self, where: str, expected: str, found: str, *, code: str, hint: str = "") -> None:
        place = f"{where}: " if where else ""
        super().__init__(f"{place}expected {expected}, found {found}", hint=hint, code=code)
        self.where = where
        self.expected = expected
        self.found = found

    def at(self, index: int) -> Rejection:
        """Give it as the answer to the event at a place of a batch."""
        return Rejection(index, self.code, self.where, self.expected, self.found, self.hint)


def show(value: object) -> str:
    """Give a value as messages show it: in ASCII, without control characters, and not long."""
    if isinstance(value, dict):
        return f"an object of {len(value)} fields"
    if isinstance(value, list | tuple):
        return f"a list of {len(value)}"
    if isinstance(value, int) and value.bit_length() > MOST_BITS:
        return f"an integer of {value.bit_length()} bits"
    shown = ascii(value if not isinstance(value, str) else value[: SHOWN + 1])
    return shown if len(shown) <= SHOWN else f"{shown[:SHOWN]}..."
