"""Signing in through a provider of OpenID Connect: code flow with PKCE, state and nonce."""

from __future__ import annotations

import asyncio
import hmac
import math
import secrets
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, TypeVar

from rankscope._names import quote
from rankscope.errors import UsageError
from rankscope.monitor.server.access.passwords import missing_extra
from rankscope.monitor.server.http.provider import Provider, check_address
from rankscope.monitor.store.people import MOST_GROUPS, hash_secret, read_email

T = TypeVar("T")


CALLBACK = "/sign-in/callback"
DISCOVERY = "/.well-known/openid-configuration"
ENDPOINTS = ("authorization_endpoint", "token_endpoint", "jwks_uri")
ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512"]
"""Those of key pairs only: otherwise who knows a public key could sign with it."""
SECONDS = 5.0
"""How long a provider may take to answer."""
PAUSE = 10
"""For how many seconds a provider that didn't answer isn't asked again."""
MOST_ASKING = 8
"""The most threads that ask a provider, including those that hang and nobody waits for."""
KEEP_SECONDS = 3600.0
AGAIN_SECONDS = 60.0
"""How long what a provider says of itself is kept; and after how long keys are looked up again."""
LEEWAY = 60
MOST_TEXT = 1000


class SignInError(Exception):
    """Somebody is not signed in.

    Args:
        reason: Why, for the log; it has nothing secret.
        wait: If the provider is out of reach, after how many seconds to try again; else 0.
    """

    def __init__(self, reason: str, wait: int = 0) -> None:
        super().__init__(reason)
        self.reason = reason
        self.wait = wait


@dataclass(frozen=True, slots=True, kw_only=True)
class Claims:
    """What a provider says of a person.

    Args:
        subject: The address of the provider and its ID of the person.
        email: The email address, which the provider has verified; empty where it hasn't.
        name: The name.
        groups: The groups.
    """

    subject: str
    email: str
    name: str
    groups: tuple[str, ...]


class OpenID:
    """Sends browsers to a provider, and reads who comes back.

    What belongs to one sign-in is derived from one secret, which its browser keeps in a cookie; so
    any service that shares the store can finish it.

    Args:
        provider: The provider.
        redirect: Where the provider sends browsers back to.
        clock: Returns monotonic seconds.
        now: Returns the time, in microseconds since 1970 in UTC.
    """

    def __init__(
        self,
        provider: Provider,
        redirect: str,
        clock: Callable[[], float],
        now: Callable[[], int],
    ) -> None:
        try:
            import requests
            from authlib.integrations.requests_client import OAuth2Session
        except ImportError as error:
            raise missing_extra(error) from None
        self.provider = provider
        self._session = OAuth2Session
        self._redirect = redirect
        self._clock = clock
        self._now = now
        self._unreached = (requests.ConnectionError, requests.Timeout)
        self._kept: dict[str, tuple[float, Any]] = {}
        self._asking: list[threading.Thread] = []
        self._again = 0.0

    async def ask(self, question: Callable[[OpenID], T]) -> T:
        """Return the result of a method that may call the provider, or give up in time.

        It runs in a daemon thread: a provider that hangs delays neither other requests nor the end
        of the process.

        Raises:
            SignInError: As the method does; or the provider didn't answer, now or a moment ago.
        """
        wait = max(math.ceil(self._again - self._clock()), 0)
        self._asking = [thread for thread in self._asking if thread.is_alive()]
        if wait or len(self._asking) >= MOST_ASKING:
            raise SignInError("the provider hasn't answered earlier sign-ins", wait or 1)
        answer: Future[T] = Future()
        answer.set_running_or_notify_cancel()  # an answer that is late is ignored

        def run() -> None:
            try:
                answer.set_result(question(self))
            except Exception as error:  # noqa: BLE001 - the caller gets it
                answer.set_exception(error)

        thread = threading.Thread(target=run, name="rankscope-sign-in", daemon=True)
        thread.start()
        self._asking.append(thread)
        try:
            return await asyncio.wait_for(asyncio.wrap_future(answer), SECONDS)
        except SignInError as error:
            failure = error
        except OSError as error:  # of requests, or late
            failure = SignInError(f"the provider can't be reached: {type(error).__name__}", PAUSE)
        if failure.wait:
            self._again = self._clock() + failure.wait
        raise failure

    def begin(self) -> tuple[str, str]:
        """Return the address to send a browser to, and the secret that it has to keep."""
        secret = secrets.token_hex(32)
        with self._open() as client:
            address, _ = client.create_authorization_url(
                self._describe()["authorization_endpoint"],
                state=_derive(secret, "state"),
                nonce=_derive(secret, "nonce"),
                code_verifier=_derive(secret, "verifier"),
            )
        return str(address), secret

    def finish(self, secret: str, answer: Mapping[str, Any]) -> Claims:
        """Return who has come back with an answer of the provider.

        Raises:
            SignInError: It isn't the answer to a question of this browser, or not valid.
        """
        state = str(answer.get("state", ""))
        if not secret or not hmac.compare_digest(_derive(secret, "state").encode(), state.encode()):
            raise SignInError("the answer belongs to no sign-in of this browser")
        if answer.get("iss", self.provider.issuer) != self.provider.issuer:
            raise SignInError("the answer names another issuer")
        if "error" in answer or "code" not in answer:
            raise SignInError(f"the provider refused: {quote(str(answer.get('error'))[:100])}")
        try:
            with self._open() as client:
                token = client.fetch_token(
                    self._describe()["token_endpoint"],
                    grant_type="authorization_code",
                    code=answer["code"],
                    code_verifier=_derive(secret, "verifier"),
                    allow_redirects=False,
                )
            return self._read(self._verify(token, _derive(secret, "nonce")))
        except (SignInError, *self._unreached):
            raise
        except Exception as error:  # whatever an answer of somebody else may cause
            raise SignInError(f"the answer can't be used: {type(error).__name__}") from error

    def _open(self) -> Any:  # noqa: ANN401 - of Authlib
        secret = self.provider.secret
        methods = self._describe().get("token_endpoint_auth_methods_supported", ())
        by_post = "client_secret_post" in methods and "client_secret_basic" not in methods
        method = "client_secret_post" if by_post else "client_secret_basic"
        return self._session(
            self.provider.client_id,
            None if secret is None else secret.reveal(),
            token_endpoint_auth_method="none" if secret is None else method,
            scope=self.provider.scopes,
            redirect_uri=self._redirect,
            code_challenge_method="S256",
            default_timeout=SECONDS,
        )

    def _describe(self) -> Mapping[str, Any]:
        """Return what the provider says of itself, and check that it is the one."""
        said: Mapping[str, Any] = self._load(
            self.provider.issuer.rstrip("/") + DISCOVERY, self._check
        )
        return said

    def _check(self, said: Any) -> Any:  # noqa: ANN401 - JSON
        try:
            if said["issuer"] != self.provider.issuer:
                raise SignInError("the provider calls itself otherwise than the configuration does")
            for name in ENDPOINTS:
                check_address(said[name])
        except (KeyError, TypeError, UsageError) as error:
            raise SignInError("the provider doesn't describe itself as it should") from error
        return said

    def _load(self, address: str, check: Callable[[Any], Any], keep: float = KEEP_SECONDS) -> Any:  # noqa: ANN401 - JSON
        since, said = self._kept.get(address, (0.0, None))
        if said is None or self._clock() - since > keep:
            with self._session(default_timeout=SECONDS) as client:
                answer = client.get(address, withhold_token=True, allow_redirects=False)
                if answer.status_code != 200:
                    raise SignInError(f"the provider answered with {answer.status_code}", PAUSE)
                said = check(answer.json())
            self._kept[address] = self._clock(), said
        return said

    def _verify(self, token: Mapping[str, Any], nonce: str) -> Mapping[str, Any]:
        """Check signature, issuer, audience, times and nonce of an ID token."""
        from authlib.oidc.core import CodeIDToken
        from joserfc import jwt
        from joserfc.errors import InvalidKeyIdError
        from joserfc.jwk import KeySet

        def decode(keep: float) -> Any:  # noqa: ANN401 - of joserfc
            keys = self._load(self._describe()["jwks_uri"], lambda said: said, keep)
            return jwt.decode(token["id_token"], KeySet.import_key_set(keys), algorithms=ALGORITHMS)

        try:
            decoded = decode(KEEP_SECONDS)
        except InvalidKeyIdError:  # the provider has a new key
            decoded = decode(AGAIN_SECONDS)
        client_id = self.provider.client_id
        claims = CodeIDToken(
            decoded.claims,
            decoded.header,
            {
                "iss": {"essential": True, "value": self.provider.issuer},
                "aud": {"essential": True, "value": client_id},
                "nonce": {"essential": True, "value": nonce},
            },
            {"nonce": nonce, "client_id": client_id, "access_token": token.get("access_token")},
        )
        claims.validate(now=self._now() // 1_000_000, leeway=LEEWAY)
        return dict(claims)

    def _read(self, claims: Mapping[str, Any]) -> Claims:
        subject, name = claims["sub"], claims.get("name", "")
        if not isinstance(subject, str) or not 0 < len(subject) <= MOST_TEXT:
            raise SignInError("the provider names nobody")
        email, given = "", claims.get("email")
        if claims.get("email_verified") is True and isinstance(given, str):
            try:
                email = read_email(given)
            except UsageError:
                raise SignInError("the email address can't be used") from None
        groups = claims.get(self.provider.groups, [])
        if not isinstance(groups, list) or len(groups) > MOST_GROUPS:
            raise SignInError("the groups can't be read")
        return Claims(
            subject=f"{self.provider.issuer} {subject}",
            email=email,
            name=name if isinstance(name, str) and name.isprintable() else "",
            groups=tuple(sorted({each for each in groups if isinstance(each, str)})),
        )


def _derive(secret: str, use: str) -> str:
    return hash_secret(f"{use} {secret}")
