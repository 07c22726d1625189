"""Query parameters and form fields, checked and converted."""

from __future__ import annotations

import hmac
import re
from urllib.parse import parse_qsl

from rankscope.errors import RankscopeError
from rankscope.monitor.server.http.problems import RefusedRequestError
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from starlette.requests import Request

    from rankscope.monitor.server.access.principal import Visitor

KEY = re.compile("rk_[0-9a-f]{16}_", re.IGNORECASE)
SECRETS = frozenset({"key", "api_key", "apikey", "token", "access_token", "authorization"})
LONGEST = 512
TEXT = {"type": "string", "maxLength": LONGEST}


@record(frozen=True, slots=True)
class Parameter:
    """A parameter.

    Args:
        name: What it is called.
        summary: What it says, in a line.
        read: Makes a value of its text, or raises a `RankscopeError`.
        schema: What its text may be, as JSON Schema says it. `maxLength` is checked before the text
            is read.
        is_needed: Whether it has to be given.
        is_many: Whether it may be given more than once; its value is a tuple then.
    """

    name: str
    summary: str
    read: Callable[[str], Any] = str
    schema: Mapping[str, Any] = TEXT
    is_needed: bool = False
    is_many: bool = False


def refuse_secrets(request: Request, parameters: Sequence[Parameter]) -> None:
    """Refuse addresses that may carry a key, for addresses are kept in many places.

    Raises:
        RefusedRequestError: There is a key, or a query where none is expected.
    """
    text = request.scope["query_string"].decode("latin-1")
    if not text:
        return
    names = {part.partition("=")[0].lower() for part in text.split("&")}
    if not parameters or names & SECRETS or KEY.search(text):
        raise RefusedRequestError(
            400,
            "expected no key in the query, nor what is not known there: keys belong in the "
            "header authorization",
            code="query_string",
        )


def read_parameters(request: Request, parameters: Sequence[Parameter]) -> dict[str, Any]:
    """Read the query of an address.

    Raises:
        RefusedRequestError: It says something else, something twice, or too much.
    """
    text = request.scope["query_string"].decode("latin-1")
    given = dict(parse_pairs(text))
    read: dict[str, Any] = {}
    for parameter in parameters:
        values = given.pop(parameter.name, ())
        most = parameter.schema.get("maxLength", LONGEST)
        if any(len(value) > most for value in values):
            raise _refused(f"{parameter.name} of at most {most} characters", "parameter")
        if len(values) > 1 and not parameter.is_many:
            raise _refused(f"{parameter.name} once", "parameter")
        if values:
            try:
                made = tuple(parameter.read(value) for value in values)
            except RankscopeError as error:
                raise RefusedRequestError(
                    422, f"{parameter.name}: {error.message}", code=error.code, hint=error.hint
                ) from None
            read[parameter.name] = made if parameter.is_many else made[0]
        elif parameter.is_needed:
            raise _refused(f"the parameter {parameter.name}", "parameter")
    if given:
        known = ", ".join(parameter.name for parameter in parameters)
        raise _refused(f"no other parameters than {known}", "parameter")
    return read


def _refused(expected: str, code: str) -> RefusedRequestError:
    return RefusedRequestError(422, f"expected {expected}", code=code)


FORM = "application/x-www-form-urlencoded"
MOST_FIELDS = 500


def check_form_type(request: Request) -> None:
    """Refuse what is not said to be a form.

    Raises:
        RefusedRequestError: It is not.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != FORM or "content-encoding" in request.headers:
        raise RefusedRequestError(
            415, f"expected a form of {FORM}", code="content_type", headers={"accept": FORM}
        )


def parse_pairs(text: str) -> Mapping[str, tuple[str, ...]]:
    """Read names and values, as forms and queries of addresses have them.

    Raises:
        RefusedRequestError: There are too many, or they are not UTF-8.

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
    """Read the body of a form.

    Raises:
        RefusedRequestError: It is none.
    """
    if not body.isascii():
        raise RefusedRequestError(400, "expected a form, found other bytes", code="bad_form")
    return parse_pairs(body.decode("ascii"))


def check_token(form: Mapping[str, tuple[str, ...]], visitor: Visitor) -> None:
    """Refuse a form that was not made for whoever sends it.

    Raises:
        RefusedRequestError: It was not.
    """
    said = form.get("csrf", ())
    token = visitor.csrf.encode()
    if not token or len(said) != 1 or not hmac.compare_digest(said[0].encode(), token):
        raise RefusedRequestError(
            403,
            "expected a form of this session: go back, load the page again, and send it again",
            code="csrf",
        )
