"""The channels of a project, and how their last deliveries went."""

from __future__ import annotations

from rankscope.monitor.events.times import to_datetime
from rankscope.monitor.notify.webhook import find_webhook
from rankscope.monitor.store.records import LOG, OPERATOR, WEBHOOK
from rankscope.records import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from typing import Literal, TypeAlias

    from rankscope.monitor.notify.channels import Channels
    from rankscope.monitor.store.records import ChannelDeliveries
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
    service: str = ""
    severity: str = "warning"
    last_delivered: datetime | None = None
    last_problem: str = ""
    waiting: int = 0


def list_channel_states(
    store: StoreReader, project: str, channels: Channels, services: Mapping[str, str]
) -> tuple[ChannelState, ...]:
    """List the channels of a project: the log, its webhook, and those of the operator."""
    deliveries = {delivery.channel: delivery for delivery in store.list_channel_deliveries(project)}
    found = [_make_state(LOG, "log", deliveries)]
    if find_webhook(store, project) is not None:
        found.append(_make_state(WEBHOOK, "webhook", deliveries))
    for channel in channels.channels:
        service = services.get(channel.name, "")
        found.append(_make_state(channel.name, channel.kind, deliveries, service, channel.severity))
    known = {state.name for state in found} | {OPERATOR, WEBHOOK}
    found += [
        _make_state(name, "unknown", deliveries)
        for name, one in deliveries.items()
        if name not in known and one.waiting
    ]
    return tuple(found)


def _make_state(
    name: str,
    kind: ChannelKind,
    deliveries: Mapping[str, ChannelDeliveries],
    service: str = "",
    severity: str = "warning",
) -> ChannelState:
    state = ChannelState(name=name, kind=kind, service=service, severity=severity)
    known = deliveries.get(name)
    if known is None:
        return state
    return replace(
        state,
        last_delivered=None if known.delivered is None else to_datetime(known.delivered),
        last_problem=known.problem,
        waiting=known.waiting,
    )
