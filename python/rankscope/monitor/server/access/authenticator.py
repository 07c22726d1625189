"""Authenticates requests: by the key of a machine, or by the session of a person."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from ipaddress import IPv6Address, ip_network
from typing import TYPE_CHECKING, Literal, TypeAlias, TypeVar
from urllib.parse import quote

from anyio import to_thread
from starlette.responses import Response

from rankscope.errors import FileError
from rankscope.monitor.events.limits import SECOND
from rankscope.monitor.server.access.origin import is_own_machine, refuse_other_origins
from rankscope.monitor.server.access.rates import RateLimiter
from rankscope.monitor.server.http.address import links_of
from rankscope.monitor.server.http.problems import RefusedRequestError, ask_again
from rankscope.monitor.server.http.settings import Settings
from rankscope.monitor.store.keys import SCOPES, ApiKey, Scope, authenticate
from rankscope.monitor.store.methods import fold
from rankscope.monitor.store.people import (
    ROLES,
    SEEN_EVERY,
    SESSION_LIFE,
    BrowserSession,
    Person,
    hash_secret,
)
from rankscope.monitor.store.store import Store
from rankscope.monitor.store.tables.keys import touch_key
from rankscope.monitor.store.tables.people import renew_session

T = TypeVar("T")
Need: TypeAlias = Scope | Literal["person", "operator"]
"""What a route asks of its caller: a scope, to be signed in, or to be an operator."""

if TYPE_CHECKING:
    from anyio import CapacityLimiter
    from starlette.requests import Request


LONGEST = 200
LONGEST_AGENT = 200
SESSION, DEVICE, FLOW = "rankscope-session", "rankscope-device", "rankscope-sign-in"
"""The cookies: of a session, of a browser in which somebody has signed in by password, and of a
sign-in that is under way at a provider."""
COOKIES = {SESSION: SESSION_LIFE // SECOND, DEVICE: 180 * 86_400, FLOW: 600}
"""How many seconds browsers keep each of them."""


class Authenticator:
    """Authenticates requests by key, by session, or as coming from this machine.

    Args:
        store: The store of the keys, people and sessions.
        settings: Rate limits, and the project that this machine may open without a key.
        clock: Returns monotonic seconds.
        threads: Limits how many threads read keys at a time.
        now: Returns the time, in microseconds since 1970 in UTC.
    """

    def __init__(
        self,
        store: Store,
        settings: Settings,
        clock: Callable[[], float],
        threads: CapacityLimiter,
        now: Callable[[], int],
    ) -> None:
        self._keys = KeyCache(store, threads)
        self._store = store
        self._threads = threads
        self._now = now
        self._used: dict[str, int] = {}
        # Who needs no key, as long as there never was one, nor a person: neither is ever deleted,
        # so that the first one ends this for good.
        self._local = settings.open_project and Principal(
            {settings.open_project: SCOPES},
            "local",
            csrf=secrets.token_hex(32),
            project=settings.open_project,
            is_operator=True,
        )
        self._rates = RateLimiter(settings.key_rate, settings.key_burst, clock)
        self._passing = RateLimiter(settings.open_rate, settings.open_burst, clock)
        self._failures = RateLimiter(settings.failure_rate, settings.failure_burst, clock)

    def pass_by(self, request: Request) -> None:
        """Admit a request to a route that needs no key."""
        _refuse_often(self._passing.take(address_of(request)))

    async def enter(
        self, request: Request, scope: Need, *, by_session: bool = False, is_global: bool = False
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
            principal = principal_of(await self._find_key(request, _read_bearer(request)))
        return self._admit(request, principal, scope, is_global=is_global)

    async def enter_page(
        self, request: Request, scope: Need, *, is_global: bool = False
    ) -> Principal:
        """Authenticate a request as `enter` does, or send the browser to the sign-in page."""
        if "authorization" in request.headers:
            return await self.enter(request, scope, is_global=is_global)
        principal = await self.find_principal(request)
        if principal is not None:
            return self._admit(request, principal, scope, is_global=is_global)
        raise send_to_sign_in(request)

    async def find_principal(self, request: Request) -> Principal | None:
        """Return who is signed in, or the local principal where no key is needed.

        Session, account and roles are read each time, whichever process has changed them: a session
        that ends and a role that is taken away do so at once.
        """
        cookie, now = read_cookie(request, SESSION), self._now()
        digest = hash_secret(cookie)
        found = None
        if cookie:
            found = await self._read(partial(self._store.find_session, digest, now))
        if found is None:
            return await self._find_local(request)
        session, person, access = found
        if session.rights != access.digest:
            # As at sign-in: who knew the cookie from before doesn't get the new rights.
            cookie = secrets.token_hex(32)
            changes = {"digest": hash_secret(cookie), "rights": access.digest, "seen": now}
            renew = partial(self._store.renew_session, digest, changes)
            if not await self._read(renew):  # another request has just done so
                return None
            set_cookie(request, SESSION, cookie)
        elif now - session.seen >= SEEN_EVERY:
            self._note(fold(renew_session, (digest, {"seen": now}), {}))
        grants = {project: ROLES[role] for project, role in access.roles.items()}
        return Principal(
            grants,
            person.email,
            person.name,
            csrf=hash_secret(f"csrf {cookie}"),
            person=person,
            is_operator=access.is_operator,
        )

    async def _read(self, read: Callable[[], T]) -> T:
        return await to_thread.run_sync(read, limiter=self._threads)

    def _note(self, work: Callable[..., object]) -> None:
        """Store when something was used, without waiting; it's no harm if that isn't stored."""
        with suppress(FileError):
            self._store.transact(work)

    async def _find_local(self, request: Request, *, sees_all: bool = True) -> Principal | None:
        """Return the local principal if no key is needed.

        Unless it sees all, projects are read only if the address names one: events come often.
        """
        if not self._local or not is_own_machine(request):
            return None
        if await self._keys.read() or self._keys.has_people:
            self._local = None
        if not self._local or not (sees_all or links_of(request).project is not None):
            return self._local or None
        projects = await to_thread.run_sync(self._store.projects, limiter=self._threads)
        grants = dict.fromkeys([*projects, self._local.project], SCOPES)
        return replace(self._local, grants=grants)

    async def _find_key(self, request: Request, presented: str) -> ApiKey:
        """Return the key that was presented."""
        key, now = None, self._now()
        if presented and len(presented) <= LONGEST:
            # Looked up each time, so that a revoked key is refused at once.
            key = authenticate((await self._keys.read()).get, presented, now)
        if key is None:
            self.refuse_often(request)
            raise RefusedRequestError(
                401,
                "expected a key in the header authorization: Bearer rk_...",
                code="unauthorized",
                headers={"www-authenticate": "Bearer"},
            )
        self._use(key, now)
        return key

    def _use(self, key: ApiKey, now: int) -> None:
        if now - self._used.get(key.key_id, key.used or 0) >= SEEN_EVERY:
            self._used[key.key_id] = now
            self._note(fold(touch_key, (key.key_id, now), {}))

    def refuse_often(self, request: Request) -> None:
        """Count a request that proved nobody, and refuse it if an address sends many."""
        _refuse_often(self._failures.take(address_of(request)))

    def _admit(
        self, request: Request, principal: Principal, scope: Need, *, is_global: bool
    ) -> Principal:
        if not is_global:
            principal = _choose_project(request, principal)
        request.state.principal = principal
        if scope == "person":
            is_allowed = principal.person is not None
        elif scope == "operator":
            is_allowed = principal.is_operator
        elif is_global:  # an operator may come before there is a project
            granted = principal.grants.values()
            is_allowed = principal.is_operator or any(scope in scopes for scopes in granted)
        else:
            is_allowed = scope in principal.scopes
        if not is_allowed:
            raise RefusedRequestError(403, FORBIDDEN[scope], code="forbidden")
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


FORBIDDEN: Mapping[str, str] = {
    "ingest": "expected a key with the scope ingest",
    "read": "expected a key with the scope read, or the role viewer",
    "edit": "expected a key with the scope edit, or the role editor",
    "admin": "expected a key with the scope admin, or the role admin",
    "person": "expected a person who is signed in",
    "operator": "expected an operator",
}
"""The message of a refusal, by the scope that a route requires."""


def address_of(request: Request) -> str:
    """Return the address of a caller; of IPv6, the network, which one caller has for itself."""
    host = request.client.host if request.client else ""
    with suppress(ValueError):
        return str(ip_network((IPv6Address(host), 64), strict=False))
    return host


def make_session(request: Request, person: Person, now: int) -> tuple[BrowserSession, str]:
    """Make a session and its cookie, which nobody can have known before."""
    cookie = secrets.token_hex(32)
    said = request.headers.get("user-agent", "")
    agent = "".join(each for each in said if each.isprintable())[:LONGEST_AGENT]
    session = BrowserSession(
        digest=hash_secret(cookie), person_id=person.person_id, created=now, seen=now, agent=agent
    )
    return session, cookie


def read_cookie(request: Request, name: str) -> str:
    """Return a cookie of this service."""
    return request.cookies.get(_name_cookie(request, name), "")


def set_cookie(request: Request, name: str, value: str) -> None:
    """Let the answer to a request set a cookie of this service; an empty one ends."""
    full = _name_cookie(request, name)
    made = Response()
    made.set_cookie(
        full,
        value,
        max_age=COOKIES[name] if value else 0,
        path=links_of(request).base or "/",
        secure=full != name,
        httponly=True,
        samesite="lax",
    )
    request.state.cookies.append(made.headers["set-cookie"])


def _name_cookie(request: Request, name: str) -> str:
    # Plain HTTP is for this machine only. Browsers keep a `__Host-` cookie only if it came by
    # HTTPS, and no other host can set it; but it is sent to all paths of its host, where a proxy
    # may have other services.
    if request.url.scheme == "http" and is_own_machine(request):
        return name
    return f"__Secure-{name}" if links_of(request).base else f"__Host-{name}"


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

    Attributes:
        has_people: Whether there were accounts when keys were read last.
    """

    def __init__(self, store: Store, threads: CapacityLimiter) -> None:
        self._store = store
        self._threads = threads
        self._version = -1
        self._keys: Mapping[str, ApiKey] = {}
        self.has_people = False

    async def read(self) -> Mapping[str, ApiKey]:
        """Return all keys by id, including revoked ones."""
        version = self._store.keys_version
        if version != self._version:
            keys = await to_thread.run_sync(self._store.all_keys, limiter=self._threads)
            self.has_people = await to_thread.run_sync(
                self._store.has_people, limiter=self._threads
            )
            # A key that changed meanwhile has raised the version, so keys are read again.
            self._keys = {key.key_id: key for key in keys}
            self._version = version
        return self._keys


@dataclass(frozen=True, slots=True)
class Principal:
    """The caller of a request.

    Args:
        grants: What the caller may do, by project.
        actor: The name in the audit log: an email address, the id of a key, or `local`.
        name: The name of the person or the key; empty if there is none.
        csrf: The token that forms must send; empty for callers without a session.
        project: The project of the request; before it is known, the one meant where an address
            names none, or empty.
        person: The account of a person who is signed in.
        is_operator: Whether the caller manages accounts.
    """

    grants: Mapping[str, tuple[Scope, ...]]
    actor: str
    name: str = ""
    csrf: str = ""
    project: str = ""
    person: Person | None = None
    is_operator: bool = False

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
