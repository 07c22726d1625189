"""Passwords, codes of authenticator apps, and recovery codes."""

from __future__ import annotations

import hmac
import re
import secrets
import unicodedata
from base64 import b32encode
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from anyio import CapacityLimiter, to_thread

from rankscope.errors import UsageError
from rankscope.monitor.events.limits import SECOND
from rankscope.monitor.server.http.problems import RefusedRequestError
from rankscope.monitor.store.keys import Secret
from rankscope.monitor.store.people import Person, hash_secret

SHORTEST, LONGEST = 12, 256
"""Characters of a password: longer ones would cost an attacker nothing, and the service time."""
APP_SECRET = re.compile(r"[A-Z2-7]{32}", re.ASCII)
MOST_CODE = 32
STEP = 30 * SECOND
RECOVERY_CODES = 10
ISSUER = "rankscope"


def missing_extra(error: ImportError) -> UsageError:
    """Return the error where a library for people isn't installed."""
    return UsageError(
        f"accounts and sign-in need {error.name or 'another library'}, which is not installed",
        hint="install rankscope with the extra people: pip install 'rankscope[people]'",
        code="no_people",
    )


def _refuse(error: ImportError) -> RefusedRequestError:
    missing = missing_extra(error)
    return RefusedRequestError(503, missing.message, code=missing.code, hint=missing.hint)


class Passwords:
    """Hashes passwords with argon2id, one at a time: each takes 64 MiB and a core.

    What is checked takes the same work whether or not there is such an account.
    """

    def __init__(self) -> None:
        self._turn = CapacityLimiter(1)
        self._hasher: Any = None
        self._nobody = ""

    def _load(self) -> Any:  # noqa: ANN401 - of argon2
        if self._hasher is None:
            try:
                from argon2 import PasswordHasher
            except ImportError as error:
                raise _refuse(error) from None
            hasher = PasswordHasher()
            self._nobody = hasher.hash(secrets.token_hex(16))
            self._hasher = hasher
        return self._hasher

    async def check(self, hashed: str, password: str) -> bool:
        """Return whether a password has a hash; never, where there is no hash."""
        return await to_thread.run_sync(self._check, hashed, password, limiter=self._turn)

    def _check(self, hashed: str, password: str) -> bool:
        hasher = self._load()
        from argon2.exceptions import Argon2Error, InvalidHashError

        try:
            hasher.verify(hashed or self._nobody, _normalize(password[:LONGEST]))
        except (Argon2Error, InvalidHashError):
            return False
        return bool(hashed) and len(password) <= LONGEST

    async def make(self, password: str, email: str) -> str:
        """Return the hash of a new password, which has to be long enough."""
        if not SHORTEST <= len(password) <= LONGEST or password.lower() == email:
            raise UsageError(
                f"Choose a password of {SHORTEST} to {LONGEST} characters that is not your email "
                "address.",
                code="bad_password",
            )
        hashed: str = await to_thread.run_sync(
            lambda: self._load().hash(_normalize(password)), limiter=self._turn
        )
        return hashed


def _normalize(password: str) -> bytes:
    """Keyboards write one letter in several ways."""
    return unicodedata.normalize("NFKC", password).encode("utf-8", "replace")


def device_of(person: Person) -> str:
    """Return the cookie of a browser in which a person has signed in by password.

    With it, wrong passwords from elsewhere don't lock this browser out. It needs no row of its own,
    and a new password makes it void.
    """
    key, said = person.password.encode(), f"device {person.person_id}".encode()
    return hmac.new(key, said, sha256).hexdigest()


@dataclass(frozen=True, slots=True)
class AppSetup:
    """An authenticator app that is about to be added.

    Args:
        secret: Its secret, which people may type.
        address: What it reads as a QR code.
        picture: The QR code, as the address of an image.
    """

    secret: str
    address: str
    picture: str


def begin_app(email: str, secret: str = "") -> AppSetup:
    """Choose the secret of an authenticator app, or show a chosen one again."""
    try:
        import pyotp
        import segno
    except ImportError as error:
        raise _refuse(error) from None
    secret = secret or pyotp.random_base32()
    address = pyotp.TOTP(secret, name=email, issuer=ISSUER).provisioning_uri()
    return AppSetup(secret, address, segno.make_qr(address).svg_data_uri(scale=4, light="white"))


def find_step(secret: str, code: str, now: int, last: int = 0) -> int | None:
    """Return the time step of a code, or the one before or after; none up to the last one taken."""
    try:
        import pyotp
    except ImportError as error:
        raise _refuse(error) from None
    given, at = code.replace(" ", "").encode("utf-8", "replace"), now // STEP
    for step in (at - 1, at, at + 1):
        made = pyotp.TOTP(secret).generate_otp(step).encode()
        if hmac.compare_digest(made, given) and step > last:
            return step
    return None


def make_recovery_codes() -> list[str]:
    """Return codes, each of which takes the place of the app once."""
    texts = [b32encode(secrets.token_bytes(10)).decode().lower() for _ in range(RECOVERY_CODES)]
    return ["-".join(text[at : at + 4] for at in range(0, 16, 4)) for text in texts]


def take_second_factor(
    person: Person, secret: Secret | None, code: str, now: int
) -> Mapping[str, Any] | None:
    """Return what changes with a code of the app, or a recovery code; `None` if it is wrong."""
    if len(code) > MOST_CODE:
        return None
    step = None if secret is None else find_step(secret.reveal(), code, now, person.totp_step)
    if step is not None:
        return {"totp_step": step}
    digest = hash_secret(code.strip().lower())
    left = tuple(each for each in person.recovery if not hmac.compare_digest(each, digest))
    return None if left == person.recovery else {"recovery": left}
