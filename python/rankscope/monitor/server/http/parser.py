"""Reads JSON bodies strictly; a mistake in one object of a batch refuses that object only."""

from __future__ import annotations

from rankscope.monitor.events.json import EventJSON
from rankscope.monitor.events.rejection import RefusedError, show
from rankscope.monitor.server.http.problems import RefusedRequestError
from rankscope.strict_json import Flaw

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Never

BOM = b"\xef\xbb\xbf"


class Parser:
    r"""Reads one body.

    Args:
        most: The most objects in a body.

    Examples:
        >>> Parser(2).parse(b'{"rank": 1}', is_lines=False)
        [{'rank': 1}]
        >>> refused, taken = Parser(2).parse(b'{"a": 1, "a": 2}\n{}', is_lines=True)
        >>> print(refused, taken)
        expected each name once, found 'a' twice {}
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._json = EventJSON()

    def parse(self, body: bytes, *, is_lines: bool) -> list[object]:
        """Read a body."""
        _check_start(body)
        objects = self._parse_lines(body) if is_lines else self._parse_whole(body)
        if not objects:
            raise RefusedRequestError(400, "expected an event, found none", code="empty_body")
        return objects

    def parse_one(self, body: bytes) -> object:
        """Read a body that is one value."""
        _check_start(body)
        return self._json.settle(self._load(body))

    def _parse_whole(self, body: bytes) -> list[object]:
        value = self._load(body)
        if not isinstance(value, list | dict | Flaw):
            raise RefusedRequestError(
                422, f"expected an event, or a list of them, found {show(value)}", code="json_type"
            )
        objects = value if isinstance(value, list) else [value]
        if len(objects) > self._most:
            self._refuse_more()
        return [self._json.settle(one) for one in objects]

    def _load(self, body: bytes) -> object:
        try:
            return self._json.load(body)
        except RefusedError as error:
            raise RefusedRequestError(400, error.message, code=error.code) from None

    def _parse_lines(self, body: bytes) -> list[object]:
        objects: list[object] = []
        for line in body.split(b"\n"):
            if not line.strip():
                continue
            if len(objects) == self._most:
                self._refuse_more()
            try:
                objects.append(self._json.settle(self._json.load(line)))
            except RefusedError as error:
                objects.append(error)
        return objects

    def _refuse_more(self) -> Never:
        raise RefusedRequestError(
            413, f"expected at most {self._most} events, found more", code="batch_too_large"
        )


def _check_start(body: bytes) -> None:
    if not body.strip():
        raise RefusedRequestError(400, "expected JSON, found nothing", code="empty_body")
    if body.startswith(BOM):
        raise RefusedRequestError(
            400, "expected JSON, found a byte order mark before it", code="json_syntax"
        )
