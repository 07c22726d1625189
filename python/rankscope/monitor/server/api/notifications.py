"""The channels of notifications, among them the webhook of a project, and what was sent."""

from __future__ import annotations

import json
from functools import cached_property, partial
from typing import Annotated, Literal, NotRequired, cast

from pydantic import Field
from typing_extensions import TypedDict

from rankscope._names import as_dict
from rankscope.errors import UsageError
from rankscope.monitor.incidents import management
from rankscope.monitor.monitor import Monitor
from rankscope.monitor.notify.channels import Channels, ChannelState, list_channel_states
from rankscope.monitor.notify.http import MOST_URL, Poster, read_url
from rankscope.monitor.notify.sending import Sender, check_services, send_test
from rankscope.monitor.notify.webhook import (
    find_webhook,
    remove_webhook,
    set_webhook,
    try_webhook,
)
from rankscope.monitor.plain import write_record
from rankscope.monitor.rules.settings import described
from rankscope.monitor.server.api.fields import Count, ListQuery, Object
from rankscope.monitor.server.routing.endpoint import Call, Route
from rankscope.monitor.setup.fields import Time
from rankscope.monitor.store.keys import TESTED, AuditEntry, Secret
from rankscope.monitor.store.records import LOG, WEBHOOK, Delivery, Webhook

PATH = "/v1/webhook"
# Base64 of 24 to 64 bytes.
SECRET = "^whsec_(?:(?:B{4}){8,20}(?:B{4}|B{3}=|BB==)?|(?:B{4}){21}(?:BB==)?)$".replace(
    "B", "[A-Za-z0-9+/]"
)


class WebhookFields(TypedDict):
    """A webhook, without its path and its secret."""

    host: str
    allows_http: bool
    created: Time
    disabled: Time | None
    needs_secret: bool


class WebhookAnswer(TypedDict):
    """The webhook of a project, if it has one."""

    webhook: WebhookFields | None


class WebhookSet(TypedDict):
    """A webhook, with the secret that was made for it."""

    webhook: WebhookFields | None
    secret: str | None


class NewWebhookFields(TypedDict):
    """Where notifications are to go."""

    url: Annotated[
        str,
        described(
            minLength=1,
            maxLength=MOST_URL,
            pattern=r"^https?://(?:\[[0-9A-Fa-f:.]+\]|[0-9A-Za-z_.-]+)(?::[0-9]{1,5})?"
            r"(?:[/?][!-\x22$-\[\]-~]*)?$",
        ),
        Field(description="A public address. With http, `allows_http` has to be true."),
    ]
    secret: NotRequired[
        Annotated[
            Annotated[str, described(pattern=SECRET)] | None,
            Field(description="What notifications are signed with; one is made by default."),
        ]
    ]
    allows_http: NotRequired[bool]


NewWebhook = Annotated[NewWebhookFields, Field(examples=[{"url": "https://example.com/hook"}])]


class TestDelivery(TypedDict):
    """What became of a test notification."""

    is_delivered: bool
    told: str


class Notification(TypedDict):
    """A notification and its delivery."""

    id: str
    channel: str
    status: Delivery
    attempts: Count
    problem: str
    created: Time
    due: Time
    finished: Time | None
    notification: Object


class Notifications(TypedDict):
    """Notifications, the newest first."""

    notifications: list[Notification]


class ChannelFields(TypedDict):
    """A channel, without its address and its secrets."""

    name: str
    kind: Literal["log", "webhook", "service", "alertmanager", "unknown"]
    service: str
    severity: Literal["info", "warning", "critical"]
    last_delivered: Time | None
    last_problem: str
    waiting: Count


class ChannelsAnswer(TypedDict):
    """The channels of a project."""

    channels: list[ChannelFields]


def get_webhook(monitor: Monitor, _call: Call) -> WebhookAnswer:
    """Return where notifications are sent; the path and the secret are never shown."""
    return {"webhook": _write_webhook(find_webhook(monitor.store, monitor.project))}


def remove(monitor: Monitor, call: Call) -> None:
    """Remove the webhook: notifications go to the log only."""
    actor = call.principal.actor
    remove_webhook(monitor.writer, monitor.project, now=monitor.clock(), actor=actor)


def list_notifications(monitor: Monitor, call: Call) -> Notifications:
    """Return notifications and their delivery, the newest first."""
    notifications = monitor.notifications(call.query.get("limit", 100))
    return {"notifications": [_write_notification(notification) for notification in notifications]}


class Notifying:
    """Routes about notifications, with what sends them.

    Args:
        channels: The channels of the operator.
        sender: Sends messages to services.
        poster: Posts to webhooks, and checks their addresses.
    """

    def __init__(self, channels: Channels, sender: Sender, poster: Poster) -> None:
        self._channels = channels
        self._sender = sender
        self._poster = poster
        trial = partial(
            Route, "POST", scope="edit", result=TestDelivery, refuses=(404,), is_slow=True
        )
        self.routes = (
            Route("GET", PATH, get_webhook, result=WebhookAnswer),
            Route(
                "GET",
                "/v1/notifications",
                list_notifications,
                query=ListQuery,
                result=Notifications,
            ),
            Route("PUT", PATH, self.put, "edit", body=NewWebhook, result=WebhookSet, is_slow=True),
            Route("DELETE", PATH, remove, "edit", refuses=(404,)),
            trial(f"{PATH}/test", self.send_to_webhook),
            Route("GET", "/v1/channels", self.list, result=ChannelsAnswer),
            trial("/v1/channels/{name}/test", self.test),
        )

    @cached_property
    def services(self) -> dict[str, str]:
        """The services by the names of channels."""
        return check_services(self._channels, self._sender)

    def states(self, monitor: Monitor) -> tuple[ChannelState, ...]:
        """Return the channels of a project, and how their last deliveries went."""
        return list_channel_states(monitor.store, monitor.project, self._channels, self.services)

    def list(self, monitor: Monitor, _call: Call) -> ChannelsAnswer:
        """Return the channels, and how the last deliveries to them went."""
        states = [write_record(state) for state in self.states(monitor)]
        return {"channels": cast("list[ChannelFields]", states)}

    def put(self, monitor: Monitor, call: Call) -> WebhookSet:
        """Set the webhook. A secret that is made for it is shown only in this answer."""
        body: NewWebhookFields = call.body
        given = body.get("secret")
        made = set_webhook(
            monitor.writer,
            monitor.project,
            body["url"],
            poster=self._poster,
            now=monitor.clock(),
            actor=call.principal.actor,
            secret=None if given is None else Secret(given),
            allows_http=body.get("allows_http", False),
        )
        said = _write_webhook(find_webhook(monitor.store, monitor.project))
        return {"webhook": said, "secret": made.reveal() if given is None else None}

    def send_to_webhook(self, monitor: Monitor, call: Call) -> TestDelivery:
        """Send a test notification."""
        return self.send_test(monitor, WEBHOOK, call.principal.actor)

    def test(self, monitor: Monitor, call: Call) -> TestDelivery:
        """Send a test message to a channel."""
        return self.send_test(monitor, call.part("name"), call.principal.actor)

    def send_test(self, monitor: Monitor, name: str, actor: str) -> TestDelivery:
        """Send a test message to a channel, and record that it was delivered."""
        done = self._send_test(monitor, name)
        if done["is_delivered"]:
            entry = AuditEntry(monitor.clock(), actor, TESTED, name)
            monitor.writer.record_audit(monitor.project, entry)
        return done

    def _send_test(self, monitor: Monitor, name: str) -> TestDelivery:
        now, poster = monitor.clock(), self._poster
        if name == WEBHOOK:
            tried = try_webhook(monitor.store, monitor.project, poster=poster, now=now)
            return cast("TestDelivery", as_dict(tried))
        channel = self._channels.find(name)
        if channel is None:
            hint = "the log needs no test" if name == LOG else "list the channels"
            raise UsageError(
                "expected the name of a channel, found another", hint=hint, code="no_channel"
            )
        outcome = send_test(
            channel,
            monitor.project,
            sender=self._sender,
            poster=poster,
            public_url=self._channels.public_url,
            now=now,
        )
        return {"is_delivered": not outcome.problem, "told": outcome.problem or "delivered"}


def _write_webhook(webhook: Webhook | None) -> WebhookFields | None:
    if webhook is None:
        return None
    host = read_url(webhook.url, allows_http=webhook.allows_http).authority
    said = write_record(webhook, ("allows_http", "created", "disabled"), ("created", "disabled"))
    # What is behind the host may be as good as a password.
    return cast("WebhookFields", {"host": host, **said, "needs_secret": webhook.secret is None})


def _write_notification(row: management.Notification) -> Notification:
    names = ("channel", "status", "attempts", "problem", "created", "due", "finished")
    said = {"id": row.notification_id, **write_record(row, names)}
    return cast("Notification", said | {"notification": json.loads(row.body)})
