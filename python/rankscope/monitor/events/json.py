"""Reads JSON strictly: no name twice, no NaN, no integer that has no place, no endless depth."""

from __future__ import annotations

import json
from collections import Counter

from rankscope.monitor.events.rejection import RefusedError, show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

LONGEST_INTEGER = 20


class Flaw:
    """A value that is not taken, in the place of which it stands.

    Attributes:
        expected: What was expected there.
        found: What was found, escaped and cut.
        code: A stable name for programs.
    """

    def __init__(self, expected: str, found: str, code: str) -> None:
        self.expected = expected
        self.found = found
        self.code = code


class StrictJSON:
    r"""Reads texts of JSON.

    Examples:
        >>> json = StrictJSON()
        >>> json.settle(json.load(b'{"rank": 1}'))
        {'rank': 1}
        >>> print(json.settle(json.load(b'{"a": 1, "a": 2}')))
        expected each name once, found 'a' twice
    """

    def __init__(self) -> None:
        self._has_flaws = False

    def load(self, text: bytes) -> object:
        """Read a text; what is not taken in it stands there as a flaw.

        Raises:
            RefusedError: It is no JSON.
        """
        try:
            return self._decode(text.decode(), int)
        except UnicodeDecodeError:
            raise RefusedError("", "UTF-8", "other bytes", code="not_utf8") from None
        except RecursionError:
            raise RefusedError("", "few lists in each other", "many", code="depth") from None
        except json.JSONDecodeError as error:
            found = f"{error.msg.lower()} at character {error.pos + 1}"
            raise RefusedError("", "JSON", found, code="json_syntax") from None
        except ValueError:  # Python reads no integer of so many digits
            return self._decode(text.decode(), self._read_integer)

    def settle(self, value: object) -> object:
        """Give a value that was read, or the first flaw in it as a `RefusedError`."""
        return (_find_flaw(value) if self._has_flaws else None) or value

    def _decode(self, text: str, read_integer: Callable[[str], object]) -> object:
        return json.loads(
            text,
            parse_constant=self._refuse_constant,
            parse_int=read_integer,
            object_pairs_hook=self._see_pairs,
        )

    def _refuse_constant(self, text: str) -> Flaw:
        self._has_flaws = True
        return Flaw("a number of JSON", text, "json_syntax")

    def _read_integer(self, text: str) -> int | Flaw:
        if len(text) <= LONGEST_INTEGER:
            return int(text)
        self._has_flaws = True
        return Flaw("an integer of 64 bits", f"one of {len(text)} characters", "integer_range")

    def _see_pairs(self, pairs: list[tuple[str, Any]]) -> dict[str, Any] | Flaw:
        made = dict(pairs)
        if len(made) == len(pairs):
            return made
        self._has_flaws = True
        [(twice, _)] = Counter(name for name, _ in pairs).most_common(1)
        return Flaw("each name once", f"{show(twice)} twice", "duplicate_key")


def _find_flaw(value: object) -> RefusedError | None:
    """Find the first value within another that is not taken."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, Flaw):
            return RefusedError("", one.expected, one.found, code=one.code)
        if isinstance(one, dict):
            waiting += reversed(one.values())
        elif isinstance(one, list):
            waiting += reversed(one)
    return None
