"""Queries of addresses and bodies of forms: parsed, limited, and read as records."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from pydantic import ValidationError

from rankscope.monitor.server.http.problems import RefusedRequestError
from rankscope.monitor.shapes import as_refused, describe_type, find_adapter, place

if TYPE_CHECKING:
    from starlette.requests import Request


KEY = re.compile("rk_[0-9a-f]{16}_", re.IGNORECASE)
SECRETS = frozenset({"key", "api_key", "apikey", "token", "access_token", "authorization"})
LONGEST = 512
FORM = "application/x-www-form-urlencoded"
OPEN = "x-open"
"""The keyword of a record whose other parameters mean nothing, and aren't refused."""
MOST_FIELDS = 500


class QueryReader:
    """Reads the query of an address as a record.

    Args:
        kind: The type of the record, a `TypedDict`; `None` for a route that takes no query.
    """

    def __init__(self, kind: Any) -> None:  # noqa: ANN401 - a type
        said = {} if kind is None else describe_type(kind)
        self._fields: dict[str, Any] = said.get("properties", {})
        self._is_open = OPEN in said
        self._adapter = kind and find_adapter(kind)

    def refuse_secrets(self, request: Request) -> None:
        """Refuse addresses that may carry a key, because addresses end up in many logs."""
        text = request.scope["query_string"].decode("latin-1")
        if not text:
            return
        names = {part.partition("=")[0].lower() for part in text.split("&")}
        if not self._fields or names & SECRETS or KEY.search(text):
            raise RefusedRequestError(
                400,
                "this address takes no such parameters; send keys in the header Authorization, "
                "not in the address",
                code="query_string",
            )

    def read(self, request: Request) -> Mapping[str, Any]:
        """Read the query of an address."""
        given = parse_pairs(request.scope["query_string"].decode("latin-1"))
        if self._is_open:  # others may add what they like, and it means nothing
            given = {name: values for name, values in given.items() if name in self._fields}
        for name, values in given.items():
            field = self._fields.get(name)
            if field is None:
                known = ", ".join(self._fields)
                raise _refuse(f"expected no other parameters than {known}")
            most = field.get("items", field).get("maxLength", LONGEST)
            if any(len(value) > most for value in values):
                raise _refuse(f"expected {name} of at most {most} characters")
            if len(values) > 1 and "items" not in field:
                raise _refuse(f"expected {name} once")
        return self._validate(
            {
                name: values if "items" in self._fields[name] else values[0]
                for name, values in given.items()
            }
        )

    def _validate(self, given: Mapping[str, Any]) -> Mapping[str, Any]:
        if self._adapter is None:
            return given
        try:
            return self._adapter.validate_python(given, strict=True, extra="forbid")  # type: ignore[no-any-return]  # a dict
        except ValidationError as error:
            [problem, *_] = error.errors(include_url=False)
            name = place(problem["loc"][:1])
            if problem["type"] == "missing":
                raise _refuse(f"expected the parameter {name}") from None
            refused = as_refused(error)
            code = "parameter" if refused.code == "json_type" else refused.code
            message = refused.message.removeprefix(f"{name}: ")
            raise RefusedRequestError(
                422, f"{name}: {message}", code=code, hint=refused.hint
            ) from None


def _refuse(message: str) -> RefusedRequestError:
    return RefusedRequestError(422, message, code="parameter")


def check_form_type(request: Request) -> None:
    """Refuse a body that isn't declared as a form."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != FORM or "content-encoding" in request.headers:
        raise RefusedRequestError(
            415, f"expected a form of {FORM}", code="content_type", headers={"accept": FORM}
        )


def parse_pairs(text: str) -> Mapping[str, tuple[str, ...]]:
    """Parse the names and values of a form or a query.

    Examples:
        >>> parse_pairs("a=1&b=%C3%A4&a=+2&c=")
        {'a': ('1', ' 2'), 'b': ('ä',), 'c': ('',)}
    """
    try:
        pairs = parse_qsl(text, True, errors="strict", max_num_fields=MOST_FIELDS)
    except UnicodeDecodeError:
        raise RefusedRequestError(
            400, "expected UTF-8, found other bytes", code="not_utf8"
        ) from None
    except ValueError:
        raise RefusedRequestError(
            400, f"expected at most {MOST_FIELDS} fields, found more", code="bad_form"
        ) from None
    read: dict[str, tuple[str, ...]] = {}
    for name, value in pairs:
        read[name] = (*read.get(name, ()), value)
    return read


def parse_form(body: bytes) -> Mapping[str, tuple[str, ...]]:
    """Parse the body of a form."""
    if not body.isascii():
        raise RefusedRequestError(400, "expected a form, found other bytes", code="bad_form")
    return parse_pairs(body.decode("ascii"))
