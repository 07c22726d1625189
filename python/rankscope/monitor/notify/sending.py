"""Sends notifications to one channel: as a message to a service, or signed to a webhook."""

from __future__ import annotations

import json
import secrets

from rankscope.errors import UsageError
from rankscope.monitor.events.times import format_time
from rankscope.monitor.notify.http import PostError
from rankscope.monitor.notify.message import TEST, write_message, write_test
from rankscope.monitor.notify.sender import Attempt
from rankscope.monitor.notify.webhook import call
from rankscope.monitor.store.records import Webhook

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankscope.monitor.notify.channels import Channel, Channels
    from rankscope.monitor.notify.chart import Chart
    from rankscope.monitor.notify.http import Poster
    from rankscope.monitor.notify.sender import Sender
    from rankscope.monitor.store.records import OutboxRow

GONE = 410


def send_notifications(
    channel: Channel,
    letters: Sequence[OutboxRow],
    *,
    sender: Sender,
    poster: Poster,
    public_url: str | None,
    now: int,
    chart: Chart | None = None,
) -> Attempt:
    """Send notifications to a channel of the operator, as one message."""
    if channel.kind == "service":
        message = write_message([letter.body for letter in letters], public_url)
        return sender.send(channel, message, chart)
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
    name = f"test_{secrets.token_hex(16)}"
    body = {"type": TEST, "id": name, "project": project, "time": format_time(now)}
    return _post(channel, name, json.dumps(body), poster=poster, now=now)


def check_services(channels: Channels, sender: Sender) -> dict[str, str]:
    """Return the services of channels by the channels' names."""
    services = [channel for channel in channels.channels if channel.kind == "service"]
    names: dict[str, str] = {}
    found = sender.name_services(services)
    for channel, name in zip(services, found, strict=True):
        if name is None:
            raise UsageError(
                f"channels.{channel.name}: url is not the address of a service that Apprise knows",
                hint="see https://appriseit.com/services for how addresses are written, such as "
                "slack://… or mailto://…",
                code="bad_channels",
            )
        names[channel.name] = name
    return names


def judge_reply(status: int, retry_after: float) -> Attempt:
    """Return what the answer of a webhook means."""
    if status in range(200, 300):
        return Attempt()
    if status == GONE:
        return Attempt("the webhook is gone", is_gone=True)
    return Attempt(f"status {status}", retry_after)


def add_url(body: str, public_url: str | None) -> str:
    """Return a notification with the absolute address of its page, if that is known."""
    said = json.loads(body)
    incidents = said.get("incidents")
    if public_url is None or not incidents:
        return body
    path = f"/incidents/{incidents[0]['id']}" if said.get("group") else "/incidents"
    return json.dumps({**said, "url": f"{public_url}{path}"})


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
