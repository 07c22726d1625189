"""Authenticates requests by key or session, with the keys in memory."""

from __future__ import annotations

import secrets
from collections import OrderedDict
from hashlib import sha256
from urllib.parse import quote

from anyio import to_thread

from rankscope.monitor.server.access.origin import is_own_machine, refuse_other_origins
from rankscope.monitor.server.access.rates import RateLimiter
from rankscope.monitor.server.http.address import links_of
from rankscope.monitor.server.http.problems import RefusedRequestError, ask_again
from rankscope.monitor.store.keys import SCOPES, authenticate
from rankscope.records import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from anyio import CapacityLimiter
    from starlette.requests import Request
    from starlette.responses import Response

    from rankscope.monitor.server.http.settings import Settings
    from rankscope.monitor.store.keys import ApiKey, Scope
    from rankscope.monitor.store.store import Store


LONGEST = 200
COOKIE = "rankscope-session"


class Authenticator:
    """Authenticates requests by key, by session, or as coming from this machine.

    Args:
        store: The store of the keys.
        settings: Rate limits, and the project that this machine may open without a key.
        clock: Returns monotonic seconds.
        threads: Limits how many threads read keys at a time.
    """

    def __init__(
        self,
        store: Store,
        settings: Settings,
        clock: Callable[[], float],
        threads: CapacityLimiter,
    ) -> None:
        self._keys = KeyCache(store, threads)
        self._sessions = Sessions(clock)
        self._store = store
        self._threads = threads
        # Who needs no key, as long as there never was one: keys are never deleted, only revoked,
        # so that the first key ends this for good.
        self._local = settings.open_project and Principal(
            {settings.open_project: SCOPES},
            "local",
            csrf=secrets.token_hex(32),
            project=settings.open_project,
        )
        self._rates = RateLimiter(settings.key_rate, settings.key_burst, clock)
        self._passing = RateLimiter(settings.open_rate, settings.open_burst, clock)
        self._failures = RateLimiter(settings.failure_rate, settings.failure_burst, clock)

    def pass_by(self, request: Request) -> None:
        """Admit a request to a route that needs no key."""
        _refuse_often(self._passing.take(_address_of(request)))

    async def enter(
        self, request: Request, scope: Scope, *, by_session: bool = False, is_global: bool = False
    ) -> Principal:
        """Authenticate a request by the key in its header, or else by the session of a browser.

        A valid key is admitted however many invalid ones came from its address. Who is admitted
        has a project, unless the route is outside of projects.
        """
        principal = None
        if "authorization" not in request.headers:
            principal = (
                await self.find_principal(request)
                if by_session
                else await self._find_local(request, sees_all=False)
            )
            if principal is not None:
                refuse_other_origins(request)
        if principal is None:
            principal = principal_of(await self.find_key(request, _read_bearer(request)))
        return self._admit(request, principal, scope, is_global=is_global)

    async def enter_page(
        self, request: Request, scope: Scope, *, is_global: bool = False
    ) -> Principal:
        """Authenticate a request as `enter` does, or send the browser to the sign-in page."""
        if "authorization" in request.headers:
            return await self.enter(request, scope, is_global=is_global)
        principal = await self.find_principal(request)
        if principal is not None:
            return self._admit(request, principal, scope, is_global=is_global)
        raise send_to_sign_in(request)

    async def find_principal(self, request: Request) -> Principal | None:
        """Return who is signed in, or the local principal where no key is needed."""
        kept = request.cookies.get(_cookie_of(request), "")
        session = self._sessions.find(kept) if kept else None
        if session is None:
            return await self._find_local(request)
        # Looked up each time, so that revoking a key ends its sessions at once.
        key = (await self._keys.read()).get(session.key_id)
        if key is None or key.revoked is not None:
            self._sessions.end(kept)
            return None
        principal = principal_of(key)
        # A scope that changes a project includes reading it.
        grants = {
            project: scopes if "read" in scopes else ("read", *scopes)
            for project, scopes in principal.grants.items()
        }
        return replace(principal, grants=grants, csrf=session.csrf)

    async def _find_local(self, request: Request, *, sees_all: bool = True) -> Principal | None:
        """Return the local principal if no key is needed.

        Unless it sees all, projects are read only if the address names one: events come often.
        """
        if not self._local or not is_own_machine(request):
            return None
        if await self._keys.read():
            self._local = None
        if not self._local or not (sees_all or links_of(request).project is not None):
            return self._local or None
        projects = await to_thread.run_sync(self._store.projects, limiter=self._threads)
        grants = dict.fromkeys([*projects, self._local.project], SCOPES)
        return replace(self._local, grants=grants)

    async def find_key(self, request: Request, presented: str) -> ApiKey:
        """Return the key that was presented."""
        key = None
        if presented and len(presented) <= LONGEST:
            # Looked up each time, so that a revoked key is refused at once.
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
        """Begin a session, and set its cookie in the response."""
        _refuse_often(self._rates.take(key.key_id))
        request.state.principal = principal_of(key)  # for the log
        self.forget(request)
        name = _cookie_of(request)
        response.set_cookie(
            name,
            self._sessions.begin(key.key_id),
            max_age=SECONDS,
            path=links_of(request).base or "/",
            secure=name != COOKIE,
            httponly=True,
            samesite="lax",
        )

    def sign_out(self, request: Request, response: Response) -> None:
        """End the session of a browser."""
        self.forget(request)
        name = _cookie_of(request)
        response.delete_cookie(
            name,
            path=links_of(request).base or "/",
            secure=name != COOKIE,
            httponly=True,
            samesite="lax",
        )

    def forget(self, request: Request) -> None:
        """End the session of a browser, and keep its cookie."""
        self._sessions.end(request.cookies.get(_cookie_of(request), ""))

    def _admit(
        self, request: Request, principal: Principal, scope: Scope, *, is_global: bool
    ) -> Principal:
        if not is_global:
            principal = _choose_project(request, principal)
        request.state.principal = principal
        if is_global:
            is_allowed = any(scope in scopes for scopes in principal.grants.values())
        else:
            is_allowed = scope in principal.scopes
        if not is_allowed:
            raise RefusedRequestError(
                403, f"expected a key with the scope {scope}", code="forbidden"
            )
        _refuse_often(self._rates.take(principal.actor))
        return principal


def _choose_project(request: Request, principal: Principal) -> Principal:
    """Return a principal with the project of the address, or else its own or only one."""
    named = links_of(request).project
    if named is None:
        named = principal.project or (next(iter(principal.grants)) if principal.is_of_one else None)
    if named is None:
        raise RefusedRequestError(
            400,
            "expected the project in the address, such as /projects/NAME/v1/values",
            code="project",
        )
    if named not in principal.grants:
        # The same answer as for a project that doesn't exist.
        raise RefusedRequestError(404, "there is nothing here", code="not_found")
    return replace(principal, project=named)


def send_to_sign_in(request: Request) -> RefusedRequestError:
    """Return the answer that sends a browser to the sign-in page, and from there back."""
    links = links_of(request)
    wanted = links("/")  # a form is not sent again
    if request.method in {"GET", "HEAD"}:
        query = request.scope["query_string"].decode("latin-1")
        wanted = links(quote(request.scope["path"])) + (query and f"?{query}")
    return RefusedRequestError(
        303,
        "expected somebody who is signed in",
        code="sign_in",
        headers={"location": links.top("/sign-in", next=wanted)},
    )


def _address_of(request: Request) -> str:
    return request.client.host if request.client else ""


def _cookie_of(request: Request) -> str:
    # Plain HTTP is for this machine only. Browsers keep a `__Host-` cookie only if it came by
    # HTTPS, and no other host can set it; but it is sent to all paths of its host, where a proxy
    # may have other services.
    if request.url.scheme == "http" and is_own_machine(request):
        return COOKIE
    return f"__Secure-{COOKIE}" if links_of(request).base else f"__Host-{COOKIE}"


def _refuse_often(seconds: int) -> None:
    if seconds:
        raise RefusedRequestError(
            429, "expected fewer requests", code="rate_limit", headers=ask_again(seconds)
        )


def _read_bearer(request: Request) -> str:
    given = request.headers.getlist("authorization")
    kind, _, presented = (given[0] if len(given) == 1 else "").partition(" ")
    return presented if kind.lower() == "bearer" else ""


class KeyCache:
    """Keeps all keys in memory, and reads them again when one has changed.

    Without it, each request would wait for a thread and a query. Only the process that has opened
    the store writes to it, so it knows when keys change.

    Args:
        store: The store of the keys.
        threads: Limits how many threads read keys at a time.
    """

    def __init__(self, store: Store, threads: CapacityLimiter) -> None:
        self._store = store
        self._threads = threads
        self._version = -1
        self._keys: Mapping[str, ApiKey] = {}

    async def read(self) -> Mapping[str, ApiKey]:
        """Return all keys by id, including revoked ones."""
        version = self._store.keys_version
        if version != self._version:
            keys = await to_thread.run_sync(self._store.all_keys, limiter=self._threads)
            # A key that changed meanwhile has raised the version, so keys are read again.
            self._keys = {key.key_id: key for key in keys}
            self._version = version
        return self._keys


SECONDS = 12 * 3600
MOST = 10_000
MOST_OF_KEY = 100


@record(frozen=True, slots=True)
class Session:
    """A browser that is signed in.

    Args:
        key_id: The key that it signed in with; its scopes are looked up for each request.
        csrf: The token that its forms must send.
        ends: When it expires, by the clock of the sessions.
    """

    key_id: str
    csrf: str
    ends: float


class Sessions:
    """The open sessions; the oldest of the same key ends when there are too many.

    When there are too many of all keys together, the oldest of all ends.

    Args:
        clock: Returns monotonic seconds.

    Examples:
        >>> seconds = 0.0
        >>> sessions = Sessions(lambda: seconds)
        >>> kept = sessions.begin("3f")
        >>> sessions.find(kept).key_id, sessions.find(kept + "0")
        ('3f', None)
        >>> seconds = 12 * 3600.0
        >>> sessions.find(kept) is None
        True
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._sessions: OrderedDict[bytes, Session] = OrderedDict()

    def begin(self, key_id: str) -> str:
        """Begin a session, and return the 256 random bits of its cookie."""
        own = [place for place, one in self._sessions.items() if one.key_id == key_id]
        if len(own) >= MOST_OF_KEY:
            del self._sessions[own[0]]
        kept = secrets.token_hex(32)
        session = Session(key_id, secrets.token_hex(32), self._clock() + SECONDS)
        self._sessions[_digest(kept)] = session
        if len(self._sessions) > MOST:
            self._sessions.popitem(last=False)
        return kept

    def find(self, kept: str) -> Session | None:
        """Return the session of a cookie, or `None` if there is none or it has expired."""
        session = self._sessions.get(_digest(kept))
        if session is not None and session.ends <= self._clock():
            self.end(kept)
            return None
        return session

    def end(self, kept: str) -> None:
        """End a session."""
        self._sessions.pop(_digest(kept), None)


def _digest(kept: str) -> bytes:
    return sha256(kept.encode("utf-8", "replace")).digest()


@record(frozen=True, slots=True)
class Principal:
    """The caller of a request.

    Args:
        grants: What the caller may do, by project.
        actor: The name in the audit log: the id of the key, or `local`.
        name: The name of the key; empty if there is none.
        csrf: The token that forms must send; empty for callers without a session.
        project: The project of the request; before it is known, the one meant where an address
            names none, or empty.
    """

    grants: Mapping[str, tuple[Scope, ...]]
    actor: str
    name: str = ""
    csrf: str = ""
    project: str = ""

    @property
    def scopes(self) -> tuple[Scope, ...]:
        """What the caller may do in the project of the request."""
        return self.grants.get(self.project, ())

    @property
    def readable(self) -> tuple[str, ...]:
        """The projects that the caller may read, by name."""
        return tuple(sorted(name for name, scopes in self.grants.items() if "read" in scopes))

    @property
    def is_of_one(self) -> bool:
        """Whether the caller may see just one project."""
        return len(self.grants) == 1


ANONYMOUS = Principal({}, "")
"""The caller of a route that needs no key."""


def principal_of(key: ApiKey) -> Principal:
    """Return the principal of a key."""
    grants = {key.project: key.scopes}
    return Principal(grants, key.key_id, key.name, project=key.project)
