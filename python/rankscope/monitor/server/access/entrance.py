"""How people get in: by password, by a link that sets one, or through a provider."""

from __future__ import annotations

import hmac
import json
import secrets
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from anyio import to_thread

from rankscope.errors import UsageError
from rankscope.monitor.server.access.authenticator import (
    DEVICE,
    SESSION,
    address_of,
    make_session,
    read_cookie,
    set_cookie,
)
from rankscope.monitor.server.access.passwords import (
    Passwords,
    device_of,
    find_step,
    make_recovery_codes,
    take_second_factor,
)
from rankscope.monitor.server.access.provider import Claims
from rankscope.monitor.server.access.rates import RateLimiter
from rankscope.monitor.server.http.problems import RefusedRequestError, ask_again
from rankscope.monitor.server.http.settings import Settings
from rankscope.monitor.store.keys import AuditEntry, Secret
from rankscope.monitor.store.people import Person, hash_secret, read_email
from rankscope.monitor.store.store import Store

T = TypeVar("T")

if TYPE_CHECKING:
    from anyio import CapacityLimiter
    from starlette.requests import Request


WRONG = "The email address, the password or the code is wrong."
"""The one answer to every sign-in by password that fails."""
OFTEN = "There were too many wrong passwords. Wait, or ask an operator for a link to set a new one."
USED = "This link has expired, or was used already. Ask an operator for a new one."
BUSY = "The account has just changed. Try again."
NOTES_RATE, NOTES_BURST = 1 / 60, 100
"""How many failed sign-ins the audit log takes; the log of requests has all of them."""


class Entrance:
    """Lets people in, and changes what they get in with.

    Args:
        store: The store of people and sessions.
        settings: Limits on wrong passwords.
        clock: Returns monotonic seconds.
        now: Returns the time, in microseconds since 1970 in UTC.
        threads: Limits how many threads read the store at a time.
    """

    def __init__(
        self,
        store: Store,
        settings: Settings,
        clock: Callable[[], float],
        now: Callable[[], int],
        threads: CapacityLimiter,
    ) -> None:
        self._store = store
        self._now = now
        self._threads = threads
        self.passwords = Passwords()
        self._addresses = RateLimiter(settings.sign_in_rate, settings.sign_in_burst, clock)
        self._accounts = RateLimiter(settings.account_rate, settings.account_burst, clock)
        self._notes = RateLimiter(NOTES_RATE, NOTES_BURST, clock)
        self._unwritten = 0

    async def enter_by_password(
        self, request: Request, email: str, password: str, code: str
    ) -> None:
        """Begin a session; whatever is wrong, the answer and the work are the same.

        Raises:
            RefusedRequestError: Something is wrong, or there were too many attempts.
        """
        try:
            email = read_email(email)
        except UsageError:
            email = ""
        person = await self._run(partial(self._store.find_person, email=email))
        changes = await self._prove(request, email, person, password, code)
        if (
            person is not None
            and changes is not None
            and await self._begin(request, person, changes, "sign_in")
        ):
            return
        await self._note_failure(request, email, "sign_in.fail")
        raise RefusedRequestError(401, WRONG, code="unauthorized")

    async def _prove(
        self,
        request: Request,
        email: str,
        person: Person | None,
        password: str,
        code: str | None,
    ) -> Mapping[str, Any] | None:
        """Return what a right password and code change of an account; `None` if they are wrong.

        Without a code, only the password is asked for. Of many wrong passwords for an account, most
        are refused, but not those from a browser of its person: nobody else can lock it out.
        """
        known = person if person is not None and person.disabled is None else None
        account = email
        if known is not None and known.password:
            device = read_cookie(request, DEVICE).encode()
            if hmac.compare_digest(device, device_of(known).encode()):
                account = f"device {known.person_id}"
        address = address_of(request)
        for limiter, name in ((self._addresses, address), (self._accounts, account)):
            if seconds := limiter.take(name):
                raise RefusedRequestError(429, OFTEN, code="rate_limit", headers=ask_again(seconds))
        if not await self.passwords.check(known.password if known else "", password) or not known:
            return None
        changes: Mapping[str, Any] | None = {}
        if known.totp and code is not None:
            secret = await self._run(partial(self._store.find_secret, known.totp))
            changes = take_second_factor(known, secret, code, self._now())
        if changes is not None:
            self._addresses.give(address)
            self._accounts.give(account)
        return changes

    async def find_link(self, link: str) -> Person:
        """Return whose password a link sets."""
        person = await self._run(partial(self._store.find_person, link=hash_secret(link)))
        if person is None or person.link_ends <= self._now() or person.disabled is not None:
            raise RefusedRequestError(404, USED, code="no_link")
        return person

    async def enter_by_link(self, request: Request, link: str, password: str) -> None:
        """Set the password of an account, and begin a session."""
        person = await self.find_link(link)
        hashed = await self.passwords.make(password, person.email)
        changes = {"password": hashed, "link": "", "link_ends": 0}
        if not await self._begin(
            request, person, changes, "person.set_password", ends_sessions=True
        ):
            raise RefusedRequestError(404, USED, code="no_link")

    async def enter_by_provider(self, request: Request, claims: Claims) -> str:
        """Begin a session of whom a provider names; return why not, or nothing."""
        find = self._store.find_person
        person = known = await self._run(partial(find, subject=claims.subject))
        if known is None and claims.email:
            known = await self._run(partial(find, email=claims.email))
        if known is None:
            if not claims.email:
                return "the provider has not verified the email address"
            known = Person(person_id=0, email=claims.email, name=claims.name, created=self._now())
        elif person is None and known.subject:
            return "the account belongs to somebody else at the provider"
        if known.disabled is not None:
            return "the account is disabled"
        wanted = replace(known, subject=claims.subject, groups=claims.groups)
        access = await self._run(partial(self._store.find_access, wanted))
        if not access.roles and not access.is_operator:
            return "no role in any project"
        if known.person_id == 0:
            entry = AuditEntry(self._now(), known.email, "person.add", known.email)
            number = await self._run(partial(self._store.add_person, known, entry))
            known = replace(known, person_id=number or 0)
        names = ("subject", "groups")
        changes = {
            name: getattr(wanted, name)
            for name in names
            if getattr(known, name) != getattr(wanted, name)
        }
        is_in = await self._begin(request, known, changes, "sign_in")
        return "" if is_in else "the account has just changed"

    async def refuse(self, request: Request, reason: str) -> None:
        """Note that nobody was let in through the provider."""
        await self._note_failure(request, "", "sign_in.fail", reason)

    async def change_password(
        self, request: Request, person: Person, password: str, new: str
    ) -> None:
        """Change the password of who is signed in, and end the other sessions."""
        await self._demand(request, person, password)
        hashed = await self.passwords.make(new, person.email)
        await self._change(request, person, {"password": hashed}, "person.set_password")

    async def add_app(
        self, request: Request, person: Person, secret: str, code: str
    ) -> list[str] | None:
        """Add an authenticator app, and return recovery codes; `None` if its code is wrong."""
        step = find_step(secret, code, self._now())
        if step is None:
            return None
        codes, digests = make_recovery_codes(), []
        digests = [hash_secret(each) for each in codes]
        totp = secrets.token_hex(8)
        changes = {"totp": totp, "totp_step": step, "recovery": tuple(digests)}
        await self._change(request, person, changes, "person.add_app", secret=Secret(secret))
        return codes

    async def remove_app(self, request: Request, person: Person, password: str) -> None:
        """Remove the authenticator app of who is signed in."""
        await self._demand(request, person, password)
        changes = {"totp": "", "totp_step": 0, "recovery": ()}
        await self._change(request, person, changes, "person.remove_app")

    async def _demand(self, request: Request, person: Person, password: str) -> None:
        if await self._prove(request, person.email, person, password, None) is None:
            await self._note_failure(request, person.email, "person.wrong_password")
            raise UsageError("The current password is wrong.", code="wrong_password")

    async def _change(
        self,
        request: Request,
        person: Person,
        changes: Mapping[str, Any],
        action: str,
        secret: Secret | None = None,
    ) -> None:
        if not await self._begin(
            request, person, changes, action, ends_sessions=True, secret=secret
        ):
            raise UsageError(BUSY, code="changed_person")

    async def _begin(
        self,
        request: Request,
        person: Person,
        changes: Mapping[str, Any],
        action: str,
        **more: Any,  # noqa: ANN401 - as `change_person` takes it
    ) -> bool:
        """Change an account and begin a session, and set its cookies."""
        now = self._now()
        session, cookie = make_session(request, person, now)
        entry = AuditEntry(now, person.email, action, address_of(request))
        left = hash_secret(read_cookie(request, SESSION))
        change = partial(self._store.change_person, person, changes, entry, session=session)
        if not await self._run(partial(change, left=left, **more)):
            return False
        set_cookie(request, SESSION, cookie)
        changed = replace(person, password=changes.get("password", person.password))
        if changed.password:
            set_cookie(request, DEVICE, device_of(changed))
        request.state.said["person"] = person.email
        return True

    async def _note_failure(
        self, request: Request, email: str, action: str, reason: str = ""
    ) -> None:
        if self._notes.take(""):
            self._unwritten += 1
            return
        more: dict[str, str | int] = {"reason": reason} if reason else {}
        more |= {"not_listed_before": self._unwritten} if self._unwritten else {}
        self._unwritten = 0
        said = json.dumps(more) if more else ""
        entry = AuditEntry(self._now(), email, action, address_of(request), "", said)
        await self._run(partial(self._store.record_audit, None, entry))

    async def _run(self, work: Callable[[], T]) -> T:
        return await to_thread.run_sync(work, limiter=self._threads)
