"""Reads bodies of JSON as objects, strictly: a mistake is of its object where one can tell."""

from __future__ import annotations

import json
from collections import Counter

from rankscope.monitor.refusal import RefusedError, show
from rankscope.monitor.server.problems import RefusedRequestError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Never

LONGEST_INTEGER = 20
BOM = b"\xef\xbb\xbf"


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


class Parser:
    r"""Reads one body.

    Args:
        most: How many objects it may hold.

    Examples:
        >>> Parser(2).parse(b'{"rank": 1}', is_lines=False)
        [{'rank': 1}]
        >>> refused, taken = Parser(2).parse(b'{"a": 1, "a": 2}\n{}', is_lines=True)
        >>> print(refused, taken)
        expected each name once, found 'a' twice {}
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._has_flaws = False

    def parse(self, body: bytes, *, is_lines: bool) -> list[object]:
        """Read a body.

        Args:
            body: The body, in UTF-8.
            is_lines: Whether there is an object in every line; else there is one, or a list.

        Returns:
            The objects, or in the place of one a `RefusedError` that says why it is none.

        Raises:
            RefusedRequestError: It is not to be read at all, or has too many objects.
        """
        if not body.strip():
            raise RefusedRequestError(400, "expected JSON, found nothing", code="empty_body")
        if body.startswith(BOM):
            raise RefusedRequestError(
                400, "expected JSON, found a byte order mark before it", code="json_syntax"
            )
        objects = self._parse_lines(body) if is_lines else self._parse_whole(body)
        if not objects:
            raise RefusedRequestError(400, "expected an event, found none", code="empty_body")
        return objects

    def _parse_whole(self, body: bytes) -> list[object]:
        try:
            value = self._load(body)
        except RefusedError as error:
            raise RefusedRequestError(400, error.message, code=error.code) from None
        objects = value if isinstance(value, list) else [value]
        if len(objects) > self._most:
            self._refuse_more()
        if not self._has_flaws:
            return objects
        return [_find_flaw(one) or one for one in objects]

    def _parse_lines(self, body: bytes) -> list[object]:
        objects: list[object] = []
        for line in body.split(b"\n"):
            if not line.strip():
                continue
            if len(objects) == self._most:
                self._refuse_more()
            try:
                value = self._load(line)
            except RefusedError as error:
                objects.append(error)
            else:
                objects.append((_find_flaw(value) if self._has_flaws else None) or value)
        return objects

    def _load(self, text: bytes) -> object:
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

    def _decode(self, text: str, read_integer: Callable[[str], object]) -> object:
        return json.loads(
            text,
            parse_constant=self._refuse_constant,
            parse_int=read_integer,
            object_pairs_hook=self._see_pairs,
        )

    def _refuse_more(self) -> Never:
        raise RefusedRequestError(
            413, f"expected at most {self._most} events, found more", code="batch_too_large"
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
