"""The page of channels: where notifications go, how deliveries went, and test messages."""

from __future__ import annotations

from rankscope.monitor.server.http.schema import make_record
from rankscope.monitor.server.pages.page import Form, Page
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from rankscope.monitor.incidents.management import Notification
    from rankscope.monitor.monitor import Monitor
    from rankscope.monitor.notify.status import ChannelState
    from rankscope.monitor.server.api.notifications import Notifying
    from rankscope.monitor.server.routing.endpoint import Call

MOST = 50
DELIVERY_STATUSES = {
    "waiting": "waiting",
    "delivered": "delivered",
    "dead": "failed",
    "summed": "failed, and summarized in a later one",
}


@record(frozen=True, slots=True, kw_only=True)
class ChannelsView:
    """The channels of a project.

    Args:
        now: As of when, in microseconds since 1970 in UTC.
        channels: The channels, and how their last deliveries went.
        notifications: The newest notifications.
        tested: The channel that a test message was sent to; empty if none was.
        is_delivered: Whether it was delivered.
        told: What the channel said.
    """

    now: int
    channels: tuple[ChannelState, ...]
    notifications: tuple[Notification, ...]
    tested: str = ""
    is_delivered: bool = False
    told: str = ""


def make_channel_page(notifying: Notifying) -> tuple[Page, Form]:
    """Make the page of channels, and the form that tests one."""

    def view(monitor: Monitor, **tested: Any) -> ChannelsView:  # noqa: ANN401 - of the view
        return ChannelsView(
            now=monitor.clock(),
            channels=tuple(notifying.states(monitor)),
            notifications=monitor.notifications(MOST),
            **tested,
        )

    def test(monitor: Monitor, call: Call) -> tuple[Page, object, int]:
        name = call.part("name")
        return page, view(monitor, tested=name, **notifying.send_test(monitor, name)), 200

    page = Page(
        path="/channels",
        here="Settings",
        template="channels.html.j2",
        summary="Where notifications go, and how the last deliveries went.",
        view=lambda monitor, _call: view(monitor),
        extras=lambda _view: {"statuses": DELIVERY_STATUSES},
    )
    form = Form(
        path="/channels/{name}/test",
        summary="Send a test message to a channel.",
        work=test,
        body=make_record("TestChannelForm", {}),
        status=200,
        refuses=(404,),
        is_slow=True,
    )
    return page, form
