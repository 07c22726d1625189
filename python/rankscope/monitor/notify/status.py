"""The channels of a project, and how their last deliveries went."""

from __future__ import annotations

from rankscope.monitor.events.times import to_datetime
from rankscope.monitor.notify.webhook import find_webhook
from rankscope.monitor.store.records import LOG, OPERATOR, WEBHOOK, ChannelDeliveries
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from typing import Literal, TypeAlias

    from rankscope.monitor.notify.channels import Channels
    from rankscope.monitor.store.store import StoreReader

    ChannelKind: TypeAlias = Literal["log", "webhook", "service", "unknown"]


@record(frozen=True, slots=True, kw_only=True)
class ChannelState:
    """A channel, and how the last deliveries to it went.

    Args:
        name: Its name, by which rules choose it.
        kind: `log`, `webhook`, `service` for a service that Apprise knows, or `unknown` for a name
            that rules use and the operator hasn't defined.
        service: The service, such as `Slack`; empty if it isn't one.
        severity: The least severity that it takes where a rule doesn't name its channels.
        last_delivered: When a notification was delivered last, in UTC, or `None`.
        last_problem: What was wrong with the newest notification that had a problem, or an empty
            text.
        waiting: How many notifications wait.
    """

    name: str
    kind: ChannelKind
    service: str
    severity: str
    last_delivered: datetime | None
    last_problem: str
    waiting: int


def list_channel_states(
    store: StoreReader, project: str, channels: Channels, services: Mapping[str, str]
) -> tuple[ChannelState, ...]:
    """List the channels of a project: the log, its webhook, and those of the operator."""
    deliveries = {delivery.channel: delivery for delivery in store.list_channel_deliveries(project)}
    kinds: dict[str, tuple[ChannelKind, str, str]] = {LOG: ("log", "", "warning")}
    if find_webhook(store, project) is not None:
        kinds[WEBHOOK] = ("webhook", "", "warning")
    for channel in channels.channels:
        kinds[channel.name] = (channel.kind, services.get(channel.name, ""), channel.severity)
    for name, delivery in deliveries.items():
        if name not in {*kinds, OPERATOR, WEBHOOK} and delivery.waiting:
            kinds[name] = ("unknown", "", "warning")
    states = []
    for name, (kind, service, severity) in kinds.items():
        known = deliveries.get(name) or ChannelDeliveries(name, None, "", 0)
        states.append(
            ChannelState(
                name=name,
                kind=kind,
                service=service,
                severity=severity,
                last_delivered=None if known.delivered is None else to_datetime(known.delivered),
                last_problem=known.problem,
                waiting=known.waiting,
            )
        )
    return tuple(states)
