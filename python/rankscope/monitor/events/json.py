"""Reads JSON events strictly. A flaw rejects only the object that has it."""

from __future__ import annotations

from rankscope.monitor.events.rejection import RefusedError, show
from rankscope.monitor.strict_json import Flaw, JSONMistake, StrictJSON


class EventJSON:
    """Reads texts of JSON.

    Examples:
        >>> json = EventJSON()
        >>> json.settle(json.load(b'{"rank": 1}'))
        {'rank': 1}
        >>> print(json.settle(json.load(b'{"a": 1, "a": 2}')))
        expected each name once, found 'a' twice
    """

    def __init__(self) -> None:
        self._json = StrictJSON()

    def load(self, text: bytes) -> object:
        """Read JSON. A `Flaw` takes the place of each value that isn't accepted."""
        try:
            return self._json.load(text)
        except JSONMistake as mistake:
            raise _refuse(mistake.flaw) from None

    def settle(self, value: object) -> object:
        """Return a value that was read, or its first flaw as a `RefusedError`."""
        flaw = self._json.find_flaw(value)
        return value if flaw is None else _refuse(flaw)


def _refuse(flaw: Flaw) -> RefusedError:
    is_double = flaw.code == "duplicate_key"
    found = f"{show(flaw.text)} twice" if is_double else flaw.found
    return RefusedError("", flaw.expected, found, code=flaw.code, hint="")
