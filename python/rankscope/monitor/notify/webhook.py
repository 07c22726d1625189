"""The webhook of a project: a URL that signed notifications are sent to.

The signature is that of *Standard Webhooks*: HMAC-SHA256 over `id.timestamp.body`, in the headers
`webhook-id`, `webhook-timestamp` and `webhook-signature`, by which the other side knows who sends,
and that nothing was sent again later.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import json
import secrets
from dataclasses import dataclass, replace

from rankscope.errors import FileError, UsageError
from rankscope.monitor.events.limits import SECOND
from rankscope.monitor.events.times import format_time
from rankscope.monitor.notify.http import Poster, PostError, Reply, read_url
from rankscope.monitor.store.keys import AuditEntry, Secret
from rankscope.monitor.store.records import Webhook
from rankscope.monitor.store.store import Store, StoreReader

PREFIX = "whsec_"
SECRET_BYTES = range(24, 65)
TEST = "webhook.test"


@dataclass(frozen=True, slots=True)
class Tried:
    """The result of a test.

    Args:
        is_delivered: Whether it was taken.
        told: What happened, in words that are not of the other side.
    """

    is_delivered: bool
    told: str


def make_secret() -> Secret:
    """Create a secret of 256 random bits."""
    return Secret(PREFIX + base64.b64encode(secrets.token_bytes(32)).decode())


def sign(secret: Secret, notification_id: str, timestamp: int, body: bytes) -> str:
    """Sign a notification.

    Examples:
        >>> secret = Secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
        >>> sign(secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, b'{"test": 2432232314}')
        'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE='
    """
    key = base64.b64decode(secret.reveal().removeprefix(PREFIX))
    said = f"{notification_id}.{timestamp}.".encode() + body
    return f"v1,{base64.b64encode(hmac.digest(key, said, 'sha256')).decode()}"


def call(poster: Poster, webhook: Webhook, notification_id: str, body: str, now: int) -> Reply:
    """Send a notification to a webhook."""
    if webhook.secret is None:
        raise UsageError(
            "expected the webhook's secret beside the store, found none: set the webhook again",
            hint="rankscope monitor webhook set STORE ADDRESS; backups have no secrets",
            code="webhook_secret_missing",
        )
    target = read_url(webhook.url, allows_http=webhook.allows_http)
    sent, timestamp = body.encode(), now // SECOND
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "rankscope",
        "webhook-id": notification_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": sign(webhook.secret, notification_id, timestamp, sent),
    }
    return poster.post(target, headers, sent)


def set_webhook(
    store: Store,
    project: str,
    url: str,
    *,
    poster: Poster,
    now: int,
    actor: str,
    secret: Secret | None = None,
    allows_http: bool = False,
) -> Secret:
    """Set the webhook of a project."""
    target = read_url(url, allows_http=allows_http)
    poster.check(target)
    chosen = make_secret() if secret is None else check_secret(secret)
    webhook = Webhook(url, chosen, allows_http, now)
    audit = AuditEntry(now, actor, "webhook.set", target.authority)
    store.set_webhook(project, webhook, audit)
    return chosen


def remove_webhook(store: Store, project: str, *, now: int, actor: str) -> None:
    """Remove the webhook of a project; notifications go to the log only."""
    audit = AuditEntry(now, actor, "webhook.remove", project)
    if find_webhook(store, project) is None or not store.remove_webhook(project, audit):
        raise _no_webhook()


def find_webhook(store: StoreReader, project: str) -> Webhook | None:
    """Return the webhook of a project, or `None`; its secret stays hidden.

    A secret that is missing is `None`, as where a backup was restored, or the file of secrets
    cannot be read: then the webhook has to be set again.
    """
    webhook = store.find_webhook(project)
    if webhook is None:
        return None
    try:
        secret = store.find_secret(webhook.secret_id)
    except FileError:
        secret = None
    return replace(webhook, secret=secret)


def try_webhook(store: StoreReader, project: str, *, poster: Poster, now: int) -> Tried:
    """Send a notification that says nothing, by the same rules as all others, and once."""
    webhook = find_webhook(store, project)
    if webhook is None:
        raise _no_webhook()
    name = f"test_{secrets.token_hex(16)}"
    body = {"type": TEST, "id": name, "project": project, "time": format_time(now)}
    try:
        reply = call(poster, webhook, name, json.dumps(body), now)
    except (PostError, UsageError) as error:
        return Tried(False, error.message)
    return Tried(reply.status in range(200, 300), f"status {reply.status}")


def check_secret(secret: Secret) -> Secret:
    """Check a secret that notifications are signed with, and return it."""
    text = secret.reveal()
    try:
        key = base64.b64decode(text.removeprefix(PREFIX), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if not text.startswith(PREFIX) or len(key) not in SECRET_BYTES:
        raise UsageError(
            f"expected a secret of {PREFIX} and base64 of 24 to 64 bytes, found another",
            hint="leave it out, and one is made",
            code="webhook_secret",
        )
    return secret


def _no_webhook() -> UsageError:
    return UsageError(
        "expected a webhook, found none", hint="set its address first", code="no_webhook"
    )
