"""The channels of notifications."""

from __future__ import annotations

from functools import cached_property
from typing import Literal, cast

from typing_extensions import TypedDict

from rankscope.errors import UsageError
from rankscope.monitor.notify.sending import check_services, send_test
from rankscope.monitor.notify.status import list_channel_states
from rankscope.monitor.notify.webhook import try_webhook
from rankscope.monitor.plain import write_record
from rankscope.monitor.server.api.fields import Count, Time
from rankscope.monitor.server.api.route import Route
from rankscope.monitor.server.api.webhook import TestDelivery
from rankscope.monitor.store.records import LOG, WEBHOOK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.monitor.monitor import Monitor
    from rankscope.monitor.notify.channels import Channels
    from rankscope.monitor.notify.http import Poster
    from rankscope.monitor.notify.sender import Sender
    from rankscope.monitor.notify.status import ChannelState
    from rankscope.monitor.server.routing.endpoint import Call


class ChannelFields(TypedDict):
    """A channel, without its address and its secrets."""

    name: str
    kind: Literal["log", "webhook", "service", "unknown"]
    service: str
    severity: Literal["warning", "critical"]
    last_delivered: Time | None
    last_problem: str
    waiting: Count


class ChannelsAnswer(TypedDict):
    """The channels of a project."""

    channels: list[ChannelFields]


class ChannelRoutes:
    """Routes about channels.

    Args:
        channels: The channels of the operator.
        sender: Sends messages to services.
        poster: Posts to webhooks.
    """

    def __init__(self, channels: Channels, sender: Sender, poster: Poster) -> None:
        self._channels = channels
        self._sender = sender
        self._poster = poster
        self.reading = (Route("GET", "/v1/channels", self.list, result=ChannelsAnswer),)
        self.testing = (
            Route(
                "POST", "/v1/channels/{name}/test", self.test, result=TestDelivery, refuses=(404,)
            ),
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
        return {"channels": [write_channel(state) for state in self.states(monitor)]}

    def test(self, monitor: Monitor, call: Call) -> TestDelivery:
        """Send a test message to a channel."""
        return self.send_test(monitor, call.part("name"))

    def send_test(self, monitor: Monitor, name: str) -> TestDelivery:
        """Send a test message to a channel."""
        if name == WEBHOOK:
            tried = try_webhook(
                monitor.store, monitor.project, poster=self._poster, now=monitor.clock()
            )
            return {"is_delivered": tried.is_delivered, "told": tried.told}
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
            poster=self._poster,
            public_url=self._channels.public_url,
            now=monitor.clock(),
        )
        return {"is_delivered": not outcome.problem, "told": outcome.problem or "delivered"}


def write_channel(state: ChannelState) -> ChannelFields:
    """Return a channel as JSON holds it."""
    return cast("ChannelFields", write_record(state))
