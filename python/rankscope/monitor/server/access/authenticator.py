"""Authenticates requests by key or session, with the keys in memory."""

from __future__ import annotations

import secrets
from urllib.parse import quote, urlencode

from anyio import to_thread

from rankscope.monitor.server.access.origin import is_own_machine, refuse_other_origins
from rankscope.monitor.server.access.principal import Visitor, visitor_of
from rankscope.monitor.server.access.rates import Rates
from rankscope.monitor.server.access.sessions import SECONDS, Sessions
from rankscope.monitor.server.http.problems import RefusedRequestError, ask_again
from rankscope.monitor.store.keys import SCOPES, authenticate
from rankscope.records import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from anyio import CapacityLimiter
    from starlette.requests import Request
    from starlette.responses import Response

    from rankscope.monitor.server.settings import Settings
    from rankscope.monitor.store.keys import ApiKey, Scope
    from rankscope.monitor.store.store import Store

LONGEST = 200
COOKIE = "rankscope-session"


class Gate:
    """Lets requests in.

    Args:
        store: Where keys are.
        settings: How often one may ask.
        clock: Seconds that only grow.
        threads: How many look for keys at a time.
    """

    def __init__(
        self,
        store: Store,
        settings: Settings,
        clock: Callable[[], float],
        threads: CapacityLimiter,
    ) -> None:
        self._keys = KnownKeys(store, threads)
        self._sessions = Sessions(clock)
        self._open = OpenMode(self._keys, settings.open_project)
        self._rates = Rates(settings.key_rate, settings.key_burst, clock)
        self._passing = Rates(settings.open_rate, settings.open_burst, clock)
        self._failures = Rates(settings.failure_rate, settings.failure_burst, clock)

    def pass_by(self, request: Request) -> None:
        """Let somebody in where no key is needed.

        Raises:
            RefusedRequestError: There are too many requests from that address.
        """
        _refuse_often(self._passing.take(_address_of(request)))

    async def enter(self, request: Request, scope: Scope) -> Visitor:
        """Give who asks, by the key in the header.

        A good key is let in however many bad ones came from its address.

        Raises:
            RefusedRequestError: There is no key that opens something, it may not do this, or it
                asks too often. Which of the reasons a key opens nothing is not told.
        """
        visitor = None
        if "authorization" not in request.headers:
            visitor = await self._open.find_visitor(request)
            if visitor is not None:
                refuse_other_origins(request)
        if visitor is None:
            visitor = visitor_of(await self.find_key(request, _read_bearer(request)))
        return self._admit(request, visitor, scope)

    async def enter_page(self, request: Request, scope: Scope, *, sends: bool = True) -> Visitor:
        """Give who asks, by the key in the header or else by the session of a browser.

        Args:
            request: The request.
            scope: What the key has to be for.
            sends: Whether somebody who is not known is sent to where one signs in.

        Raises:
            RefusedRequestError: As `enter` does, or because somebody is sent there.
        """
        if "authorization" in request.headers:
            return await self.enter(request, scope)
        visitor = await self.find_visitor(request)
        if visitor is not None:
            return self._admit(request, visitor, scope)
        if sends:
            raise send_to_sign_in(request)
        return await self.enter(request, scope)

    async def find_visitor(self, request: Request) -> Visitor | None:
        """Give who is signed in, or needs not be."""
        kept = request.cookies.get(_cookie_of(request), "")
        session = self._sessions.find(kept) if kept else None
        if session is None:
            return await self._open.find_visitor(request)
        # Looked up each time, so that a key that was revoked ends its sessions at once.
        key = (await self._keys.read()).get(session.key_id)
        if key is None or key.revoked is not None:
            self._sessions.end(kept)
            return None
        visitor = visitor_of(key)
        # Whoever may change what is shown may see it.
        scopes = visitor.scopes if "read" in visitor.scopes else ("read", *visitor.scopes)
        return replace(visitor, scopes=scopes, csrf=session.csrf)

    async def find_key(self, request: Request, presented: str) -> ApiKey:
        """Give the key that was presented.

        Raises:
            RefusedRequestError: It opens nothing, or too many of those came from there.
        """
        key = None
        if presented and len(presented) <= LONGEST:
            # Looked up each time, so that a key that was revoked opens nothing at once.
            key = authenticate((await self._keys.read()).get, presented)
        if key is None:
            _refuse_often(self._failures.take(_address_of(request)))
            raise RefusedRequestError(
                401,
                "expected a key in the header authorization: Bearer rk_...",
                code="unauthorized",
                headers={"www-authenticate": "Bearer"},
            )
        return key

    def sign_in(self, request: Request, key: ApiKey, response: Response) -> None:
        """Begin a session, and let the answer hand it to the browser.

        Raises:
            RefusedRequestError: The key is used too often.
        """
        _refuse_often(self._rates.take(key.key_id))
        request.state.visitor = visitor_of(key)  # for the log
        self.forget(request)
        name = _cookie_of(request)
        response.set_cookie(
            name,
            self._sessions.begin(key.key_id),
            max_age=SECONDS,
            secure=name != COOKIE,
            httponly=True,
            samesite="lax",
        )

    def sign_out(self, request: Request, response: Response) -> None:
        """End the session of a browser."""
        self.forget(request)
        name = _cookie_of(request)
        response.delete_cookie(name, secure=name != COOKIE, httponly=True, samesite="lax")

    def forget(self, request: Request) -> None:
        """End the session of a browser, without telling it."""
        self._sessions.end(request.cookies.get(_cookie_of(request), ""))

    def _admit(self, request: Request, visitor: Visitor, scope: Scope) -> Visitor:
        request.state.visitor = visitor
        if scope not in visitor.scopes:
            raise RefusedRequestError(
                403, f"expected a key with the scope {scope}", code="forbidden"
            )
        _refuse_often(self._rates.take(visitor.actor))
        return visitor


def send_to_sign_in(request: Request) -> RefusedRequestError:
    """Give the answer that sends a browser to where one signs in, and from there back."""
    wanted = "/"  # nothing is sent twice
    if request.method in {"GET", "HEAD"}:
        path = quote(request.scope["path"])
        query = request.scope["query_string"].decode("latin-1")
        wanted = f"{path}?{query}" if query else path
    return RefusedRequestError(
        303,
        "expected somebody who is signed in",
        code="sign_in",
        headers={"location": f"/sign-in?{urlencode({'next': wanted})}"},
    )


def _address_of(request: Request) -> str:
    return request.client.host if request.client else ""


def _cookie_of(request: Request) -> str:
    # Only this machine may ask by plain HTTP; a browser elsewhere keeps the other name only where
    # it came by HTTPS, and no other host can set it.
    is_plain = request.url.scheme == "http" and is_own_machine(request)
    return COOKIE if is_plain else f"__Host-{COOKIE}"


def _refuse_often(seconds: int) -> None:
    if seconds:
        raise RefusedRequestError(
            429, "expected fewer requests", code="rate_limit", headers=ask_again(seconds)
        )


def _read_bearer(request: Request) -> str:
    given = request.headers.getlist("authorization")
    kind, _, presented = (given[0] if len(given) == 1 else "").partition(" ")
    return presented if kind.lower() == "bearer" else ""


class KnownKeys:
    """Reads keys.

    Only the process that has opened the store writes to it, so that it knows when keys change.
    Without this, each request would wait for a thread and a query before it is let in or refused.

    Args:
        store: Where they are.
        threads: How many threads read them at a time.
    """

    def __init__(self, store: Store, threads: CapacityLimiter) -> None:
        self._store = store
        self._threads = threads
        self._version = -1
        self._keys: Mapping[str, ApiKey] = {}

    async def read(self) -> Mapping[str, ApiKey]:
        """Return all keys by their ids, those that were revoked among them."""
        version = self._store.keys_version
        if version != self._version:
            keys = await to_thread.run_sync(self._store.all_keys, limiter=self._threads)
            # A key that changes meanwhile has another version by now, and is read once more.
            self._keys = {key.key_id: key for key in keys}
            self._version = version
        return self._keys


class OpenMode:
    """Lets this machine in without a key.

    Keys are never deleted: once there is one, or was one that is revoked, this lets nobody in.

    Args:
        keys: All keys.
        project: The project that is opened, or `None` if none is to be.
    """

    def __init__(self, keys: KnownKeys, project: str | None) -> None:
        self._keys = keys
        self._visitor = project and Visitor(project, SCOPES, "local", csrf=secrets.token_hex(32))

    async def find_visitor(self, request: Request) -> Visitor | None:
        """Give who asks, if no key is needed."""
        if not self._visitor or not is_own_machine(request):
            return None
        if await self._keys.read():
            self._visitor = None
        return self._visitor or None
