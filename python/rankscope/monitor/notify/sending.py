"""Sends notifications to one channel: as a message to a service, or signed to a webhook."""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from rankscope.errors import UsageError
from rankscope.monitor.events.times import format_time
from rankscope.monitor.links import Links
from rankscope.monitor.notify.alertmanager import post_alerts, write_test_alert
from rankscope.monitor.notify.attempt import Attempt, judge_reply
from rankscope.monitor.notify.channels import Channel, Channels
from rankscope.monitor.notify.http import Poster, PostError
from rankscope.monitor.notify.message import TEST, Message, write_message, write_test
from rankscope.monitor.notify.webhook import call
from rankscope.monitor.store.records import OutboxRow, Webhook


def send_notifications(
    channel: Channel,
    letters: Sequence[OutboxRow],
    *,
    sender: Sender,
    poster: Poster,
    public_url: str | None,
    now: int,
) -> Attempt:
    """Send notifications to a channel of the operator, as one message."""
    if channel.kind == "service":
        return sender.send(channel, write_message([each.body for each in letters], public_url))
    (letter,) = letters
    body = add_url(letter.body, public_url)
    return _post(channel, letter.notification_id, body, poster=poster, now=now)


def send_test(
    channel: Channel,
    project: str,
    *,
    sender: Sender,
    poster: Poster,
    public_url: str | None,
    now: int,
) -> Attempt:
    """Send a test message to a channel of the operator, once, by the rules of all others."""
    if channel.kind == "service":
        return sender.send(channel, write_test(channel.name, public_url))
    if channel.kind == "alertmanager":
        return post_alerts(channel, [write_test_alert(channel.name, now)], poster)
    name = f"test_{secrets.token_hex(16)}"
    body = {"type": TEST, "id": name, "project": project, "time": format_time(now)}
    return _post(channel, name, json.dumps(body), poster=poster, now=now)


def check_services(channels: Channels, sender: Sender) -> dict[str, str]:
    """Return the services of channels by the channels' names."""
    services = [channel for channel in channels.channels if channel.kind == "service"]
    names: dict[str, str] = {}
    for channel, name in zip(services, sender.name_services(services), strict=True):
        if name is None:
            raise UsageError(
                f"channels.{channel.name}: url is not the address of a service that Apprise knows",
                hint="see https://appriseit.com/services for how addresses are written, such as "
                "slack://… or mailto://…",
                code="bad_channels",
            )
        names[channel.name] = name
    return names


def add_url(body: str, public_url: str | None) -> str:
    """Return a notification with the absolute address of its page, if that is known."""
    said = json.loads(body)
    incidents = said.get("incidents")
    if public_url is None or not incidents:
        return body
    path = f"/incidents/{incidents[0]['id']}" if said.get("group") else "/incidents"
    return json.dumps({**said, "url": Links(public_url, said["project"])(path)})


def post_webhook(
    poster: Poster, webhook: Webhook, notification_id: str, body: str, now: int
) -> Attempt:
    """Post a notification to a webhook, once."""
    try:
        reply = call(poster, webhook, notification_id, body, now)
    except (PostError, UsageError) as error:
        return Attempt(error.message)
    return judge_reply(reply.status, reply.retry_after)


def _post(
    channel: Channel, notification_id: str, body: str, *, poster: Poster, now: int
) -> Attempt:
    webhook = Webhook(channel.url.reveal(), channel.secret, channel.allows_http, 0)
    chosen = poster.with_private() if channel.allows_private else poster
    return post_webhook(chosen, webhook, notification_id, body, now)


SECONDS = 15.0
"""How long an attempt may take."""
STARTING_SECONDS = 15.0
"""How long the process may take to start; a machine may be busy."""

COMMAND = """\
import sys
sys.path[:] = {path!r}
from rankscope.monitor.notify.apprise_process import main
main()
"""

KEPT = (
    *("PATH", "LANG", "LC_ALL", "SYSTEMROOT", "TMPDIR", "TEMP", "TMP"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"),
)
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy")
"""Variables of the environment that the process gets. Behind a proxy nobody can judge addresses, so
that only channels that may call private ones use it."""


class Sender(Protocol):
    """Sends messages to services."""

    def send(self, channel: Channel, message: Message) -> Attempt:
        """Send a message to a channel, once."""

    def name_services(self, channels: Sequence[Channel]) -> tuple[str | None, ...]:
        """Return the names of the services of channels; `None` for an address of no service."""


@dataclass(frozen=True, slots=True)
class AppriseSender:
    """Sends messages by Apprise.

    Args:
        seconds: How long an attempt may take.
    """

    seconds: float = SECONDS

    def send(self, channel: Channel, message: Message) -> Attempt:
        """Send a message to a channel, once."""
        said = self._ask(
            {
                "url": channel.url.reveal(),
                "allows_private": channel.allows_private,
                "title": message.title,
                "text": message.text,
                "markdown": message.markdown,
                "html": message.html,
                "urgency": message.urgency,
            },
            allows_proxy=channel.allows_private,
        )
        return Attempt(said["problem"])

    def name_services(self, channels: Sequence[Channel]) -> tuple[str | None, ...]:
        """Return the names of the services of channels; `None` for an address of no service."""
        if not channels:
            return ()
        said = self._ask({"urls": [channel.url.reveal() for channel in channels]})
        if "services" not in said:
            raise UsageError(
                f"expected Apprise for the channels, found that {said['problem']}",
                hint="install rankscope[monitor]",
                code="no_apprise",
            )
        return tuple(said["services"])

    def _ask(self, asked: dict[str, Any], *, allows_proxy: bool = False) -> dict[str, Any]:
        """Start the process, and return what it answers."""
        names = (*KEPT, *PROXIES) if allows_proxy else KEPT
        most = self.seconds + STARTING_SECONDS
        environment = {name: os.environ[name] for name in names if name in os.environ}
        try:
            done = subprocess.run(  # noqa: S603 - nothing but what this process itself is made of
                [sys.executable, "-P", "-c", COMMAND.format(path=sys.path)],
                input=json.dumps(asked | {"seconds": self.seconds, "most_seconds": most}).encode(),
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                # Passwords of the user are for none of the services.
                env=environment | {"NETRC": os.devnull},
                timeout=most,
                process_group=0 if os.name == "posix" else None,
                check=False,
            )
            said = json.loads(done.stdout)
        except subprocess.TimeoutExpired:
            return {"problem": "nothing was answered in time"}
        except OSError as error:
            return {"problem": f"the process did not start ({type(error).__name__})"}
        except ValueError:
            return {"problem": "nothing was answered in time"}
        return said if isinstance(said, dict) else {"problem": "nothing was answered in time"}
