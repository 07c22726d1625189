"""Strict JSON: no name twice, no NaN, no integer without end, no endless depth."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection
from typing import Any

from rankscope._names import quote

LONGEST_INTEGER = 20
"""Longer integers are beyond 64 bits."""


class Flaw:
    """What stands in the place of a value that is not accepted.

    Attributes:
        expected: What was expected there.
        found: What was found, escaped.
        code: A stable name for programs.
        text: A number as it is written: `NaN`, `Infinity`, or more digits than any type holds; or
            the name that stands twice.
    """

    def __init__(self, expected: str, found: str, code: str, text: str = "") -> None:
        self.expected = expected
        self.found = found
        self.code = code
        self.text = text


class JSONMistake(Exception):  # noqa: N818 - it is turned into an error that says where
    """A text that is not JSON.

    Attributes:
        flaw: What is wrong with it.
        column: The 1-based column on its line, 0 where that says nothing.
    """

    def __init__(self, flaw: Flaw, message: str = "", column: int = 0) -> None:
        super().__init__(flaw.found)
        self.flaw = flaw
        self.message = message
        self.column = column


class StrictJSON:
    """Reads texts of JSON, and puts a `Flaw` in the place of each value that is not accepted.

    Args:
        names: The names that may stand in an object only once; all of them where not given.
        is_bounded: Whether an integer of more than 20 digits is a flaw even where Python reads it.

    Examples:
        >>> reader = StrictJSON()
        >>> reader.load(b'{"rank": 1}'), reader.has_flaws
        ({'rank': 1}, False)
        >>> reader.load(b'{"a": 1, "a": 2}').found, reader.has_flaws
        ("'a' twice", True)
    """

    def __init__(self, names: Collection[str] | None = None, *, is_bounded: bool = False) -> None:
        self._names = names
        self._is_bounded = is_bounded
        self.has_flaws = False
        """Whether any text that was read has a flaw."""

    def load(self, text: bytes) -> Any:  # noqa: ANN401 - JSON can hold anything
        """Read a text."""
        try:
            decoded = text.decode()
            if self._is_bounded:
                return self._decode(decoded, self._read_integer)
            try:
                return self._decode(decoded, int)
            except json.JSONDecodeError:
                raise
            except ValueError:  # an integer has more digits than Python reads
                return self._decode(decoded, self._try_integer)
        except UnicodeDecodeError:
            raise JSONMistake(Flaw("UTF-8", "other bytes", "not_utf8")) from None
        except RecursionError:
            raise JSONMistake(Flaw("few lists in each other", "many", "depth")) from None
        except json.JSONDecodeError as error:
            found = f"{error.msg.lower()} at character {error.pos + 1}"
            flaw = Flaw("JSON", found, "json_syntax")
            raise JSONMistake(flaw, error.msg, error.colno) from None

    def find_flaw(self, value: object, code: str = "") -> Flaw | None:
        """Return the first flaw, or the first with a code, in a value that was read."""
        waiting = [value] if self.has_flaws else []
        while waiting:
            one = waiting.pop()
            if isinstance(one, Flaw) and code in {"", one.code}:
                return one
            if isinstance(one, dict | list):
                waiting += reversed(one.values() if isinstance(one, dict) else one)
        return None

    def _decode(self, text: str, read_integer: Any) -> Any:  # noqa: ANN401 - as above
        return json.loads(
            text,
            parse_constant=self._refuse_constant,
            parse_int=read_integer,
            object_pairs_hook=self._see_pairs,
        )

    def _refuse_constant(self, text: str) -> Flaw:
        self.has_flaws = True
        return Flaw("a number of JSON", text, "json_syntax", text)

    def _read_integer(self, text: str) -> int | Flaw:
        if len(text) <= LONGEST_INTEGER:
            return int(text)
        self.has_flaws = True
        found = f"one of {len(text)} characters"
        return Flaw("an integer of 64 bits", found, "integer_range", text)

    def _try_integer(self, text: str) -> int | Flaw:
        # Shorter ones stay what they are in a text without such an integer.
        try:
            return int(text)
        except ValueError:
            return self._read_integer(text)

    def _see_pairs(self, pairs: list[tuple[str, Any]]) -> dict[str, Any] | Flaw:
        made = dict(pairs)
        if len(made) == len(pairs):
            return made
        for name, count in Counter(name for name, _ in pairs).most_common():
            if count > 1 and (self._names is None or name in self._names):
                self.has_flaws = True
                return Flaw("each name once", f"{quote(name)} twice", "duplicate_key", name)
        return made
