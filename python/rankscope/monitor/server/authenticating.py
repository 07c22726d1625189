"""Who asks: the key in the header, what it may do, and how often."""

from __future__ import annotations

from anyio import to_thread

from rankscope.monitor.keys import authenticate
from rankscope.monitor.server.problems import RefusedRequestError, ask_again
from rankscope.monitor.server.rates import Rates

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from anyio import CapacityLimiter
    from starlette.requests import Request

    from rankscope.monitor.keys import ApiKey, KeyFinder, Scope
    from rankscope.monitor.server.settings import Settings

LONGEST = 200


class Gate:
    """Lets requests in.

    Args:
        finder: Where keys are.
        settings: How often one may ask.
        clock: Seconds that only grow.
        threads: How many look for keys at a time.
    """

    def __init__(
        self,
        finder: KeyFinder,
        settings: Settings,
        clock: Callable[[], float],
        threads: CapacityLimiter,
    ) -> None:
        self._finder = finder
        self._threads = threads
        self._keys = Rates(settings.key_rate, settings.key_burst, clock)
        self._failures = Rates(settings.failure_rate, settings.failure_burst, clock)

    async def enter(self, request: Request, scope: Scope) -> ApiKey:
        """Give the key of a request.

        A good key is let in however many bad ones came from its address.

        Raises:
            RefusedRequestError: There is no key that opens something, it may not do this, or it
                asks too often. Which of the reasons a key opens nothing is not told.
        """
        if request.scope["query_string"]:
            raise RefusedRequestError(
                400,
                "expected no query, for keys belong in the header authorization",
                code="query_string",
            )
        presented = _read_bearer(request)
        key = None
        if presented:
            # Looked up each time, so that a key that was revoked opens nothing at once.
            key = await to_thread.run_sync(
                authenticate, self._finder, presented, limiter=self._threads
            )
        if key is None:
            self._refuse(request)
            raise RefusedRequestError(
                401,
                "expected a key in the header authorization: Bearer rk_...",
                code="unauthorized",
                headers={"www-authenticate": "Bearer"},
            )
        request.state.key = key
        if scope not in key.scopes:
            raise RefusedRequestError(
                403, f"expected a key with the scope {scope}", code="forbidden"
            )
        _refuse_often(self._keys.take(key.key_id))
        return key

    def _refuse(self, request: Request) -> None:
        address = request.client.host if request.client else ""
        _refuse_often(self._failures.take(address))


def _refuse_often(seconds: int) -> None:
    if seconds:
        raise RefusedRequestError(
            429, "expected fewer requests", code="rate_limit", headers=ask_again(seconds)
        )


def _read_bearer(request: Request) -> str:
    given = request.headers.getlist("authorization")
    kind, _, presented = (given[0] if len(given) == 1 else "").partition(" ")
    return presented if kind.lower() == "bearer" and len(presented) <= LONGEST else ""
