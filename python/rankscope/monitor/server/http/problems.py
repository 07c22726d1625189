"""Refused requests: a status, a stable code, and a message that reveals nothing internal."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, NotRequired

from starlette.responses import JSONResponse
from typing_extensions import TypedDict

from rankscope.errors import DeadlineError, FileError

if TYPE_CHECKING:
    from starlette.types import Scope


class RefusedRequestError(Exception):
    """A request that is refused.

    Args:
        status: The HTTP status.
        message: What was expected and found.
        code: A stable code, such as `body_too_large`.
        headers: Headers of the answer.
        hint: How to fix it, or empty.
    """

    def __init__(
        self,
        status: int,
        message: str,
        *,
        code: str,
        headers: Mapping[str, str] | None = None,
        hint: str = "",
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.code = code
        self.headers = dict(headers or {})
        self.hint = hint

    def __reduce__(self) -> tuple[Callable[..., RefusedRequestError], tuple[int, str]]:
        """Pickle all attributes: the processes that read bodies refuse some of them."""
        named = partial(type(self), code=self.code, headers=self.headers, hint=self.hint)
        return named, (self.status, self.message)


class ProblemFields(TypedDict):
    """What is wrong with a request."""

    code: str
    message: str
    hint: NotRequired[str]


class Problem(TypedDict):
    """The answer to a request that is refused."""

    error: ProblemFields
    request_id: str


CLOSE = {"connection": "close"}
"""The header of an answer that ends the connection."""

_BAD_HTTP = b'{"error":{"code":"bad_http","message":"expected a request of HTTP/1.1"}}'
BAD_HTTP = (
    b"HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\nconnection: close\r\n"
    b"x-content-type-options: nosniff\r\ncache-control: no-store\r\n"
    b"content-length: %d\r\n\r\n%b" % (len(_BAD_HTTP), _BAD_HTTP)
)
"""The whole answer to bytes that aren't HTTP, which never reach a route."""

STORE_ERRORS = {
    "store_overloaded": (429, 1, "too many events wait to be stored"),
    "store_busy": (503, 5, "the store is locked by another process"),
    "store_unreachable": (503, 5, "the database cannot be reached"),
    "store_full": (507, 30, "the disk is full"),
    "store_failed": (503, 60, "the store takes nothing more"),
    "store_damaged": (503, 60, "the store takes nothing more"),
    "store_closed": (503, 5, "the service is closing"),
    "worker_ended": (503, 5, "the process that reads large bodies has ended"),
}
"""By code of an error of the store: the status, the seconds to wait, and the message."""


LATE_SECONDS = 30
"""Seconds after which a read that took too long may be tried again."""


def as_refusal(error: FileError) -> RefusedRequestError | None:
    """Return the answer to a request that the store refused, or `None` for an internal error."""
    if error.code not in STORE_ERRORS:
        return None
    status, seconds, message = STORE_ERRORS[error.code]
    return RefusedRequestError(
        status, f"{message}: nothing was acknowledged", code=error.code, headers=ask_again(seconds)
    )


def as_late(error: DeadlineError) -> RefusedRequestError:
    """Return the answer to a request whose read was stopped."""
    seconds = LATE_SECONDS if error.code == "read_timeout" else STORE_ERRORS["store_closed"][1]
    return RefusedRequestError(
        503, error.message, code=error.code, headers=ask_again(seconds), hint=error.hint
    )


def ask_again(seconds: int) -> dict[str, str]:
    """Return the header that tells a client when to retry."""
    return {"retry-after": str(seconds)}


def answer_problem(problem: RefusedRequestError, scope: Scope) -> JSONResponse:
    """Return the answer to a refused request."""
    error: ProblemFields = {"code": problem.code, "message": problem.message}
    if problem.hint:
        error["hint"] = problem.hint
    body: Problem = {"error": error, "request_id": scope["state"]["request_id"]}
    return JSONResponse(body, problem.status, problem.headers)
