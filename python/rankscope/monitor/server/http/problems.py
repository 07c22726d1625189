"""Requests that are refused: a status, a code for programs, and a message without our insides."""

from __future__ import annotations

from functools import partial

from starlette.responses import JSONResponse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rankscope.errors import DeadlineError, FileError


class RefusedRequestError(Exception):
    """A request that is not done.

    Args:
        status: Of HTTP.
        message: What was expected and found.
        code: A stable name for programs, such as `body_too_large`.
        headers: What the answer says besides.
        hint: How to mend it, or empty.
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
        """Pickle it with all it says: a process that reads bodies refuses some of them."""
        named = partial(type(self), code=self.code, headers=self.headers, hint=self.hint)
        return named, (self.status, self.message)


CLOSE = {"connection": "close"}
"""The header of an answer after which nothing more is read."""

_BAD_HTTP = b'{"error":{"code":"bad_http","message":"expected a request of HTTP/1.1"}}'
BAD_HTTP = (
    b"HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\nconnection: close\r\n"
    b"x-content-type-options: nosniff\r\ncache-control: no-store\r\n"
    b"content-length: %d\r\n\r\n%b" % (len(_BAD_HTTP), _BAD_HTTP)
)
"""The whole answer to what is not HTTP, which no route ever sees."""

STORE_SAYS = {
    "store_overloaded": (429, 1, "too many events wait to be stored"),
    "store_busy": (503, 5, "the store is locked by another process"),
    "store_full": (507, 30, "the disk is full"),
    "store_failed": (503, 60, "the store takes nothing more"),
    "store_damaged": (503, 60, "the store takes nothing more"),
    "store_closed": (503, 5, "the service is closing"),
    "worker_ended": (503, 5, "the process that reads large bodies has ended"),
}
"""By code of a store: the status, after how many seconds to ask again, and what is told."""


LATE_SECONDS = 30
"""After so many seconds a read that took too long may be tried again."""


def as_refusal(error: FileError) -> RefusedRequestError | None:
    """Give the answer to a request that the store did not take, `None` if that is our mistake."""
    if error.code not in STORE_SAYS:
        return None
    status, seconds, message = STORE_SAYS[error.code]
    return RefusedRequestError(
        status, f"{message}: nothing was acknowledged", code=error.code, headers=ask_again(seconds)
    )


def as_late(error: DeadlineError) -> RefusedRequestError:
    """Return the answer to a request whose read was ended."""
    seconds = LATE_SECONDS if error.code == "read_timeout" else STORE_SAYS["store_closed"][1]
    return RefusedRequestError(
        503, error.message, code=error.code, headers=ask_again(seconds), hint=error.hint
    )


def ask_again(seconds: int) -> dict[str, str]:
    """Give the header that says when to ask again."""
    return {"retry-after": str(seconds)}


def answer_problem(problem: RefusedRequestError, request_id: str) -> JSONResponse:
    """Make the answer to a request that was refused."""
    said = {"code": problem.code, "message": problem.message}
    if problem.hint:
        said["hint"] = problem.hint
    body = {"error": said, "request_id": request_id}
    return JSONResponse(body, problem.status, problem.headers)
