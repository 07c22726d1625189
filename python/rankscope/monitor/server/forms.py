"""Reads the forms of pages."""

from __future__ import annotations

import hmac
from urllib.parse import parse_qsl

from rankscope.monitor.server.problems import RefusedRequestError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.requests import Request

    from rankscope.monitor.server.visitor import Visitor

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
