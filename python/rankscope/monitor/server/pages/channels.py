"""The page of channels: where notifications go, how deliveries went, and test messages."""

from __future__ import annotations

from starlette.responses import HTMLResponse

from rankscope.monitor.server.http.schema import make_record
from rankscope.monitor.server.pages.page import Page
from rankscope.monitor.server.routing.endpoint import Endpoint
from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from starlette.responses import Response

    from rankscope.monitor.incidents.management import Notification
    from rankscope.monitor.monitor import Monitor
    from rankscope.monitor.notify.status import ChannelState
    from rankscope.monitor.server.api.channels import ChannelRoutes
    from rankscope.monitor.server.routing.endpoint import Call
    from rankscope.monitor.server.routing.pool import MonitorPool

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


class ChannelPages:
    """The page of channels, and the form that tests one.

    Args:
        routes: Knows the channels of the operator, and sends test messages.
        pool: Asks the monitors of projects, where that may take long.
        fill: Makes the HTML of a page.
    """

    def __init__(
        self,
        routes: ChannelRoutes,
        pool: MonitorPool,
        fill: Callable[[Page, Call, ChannelsView], str],
    ) -> None:
        self._routes = routes
        self._pool = pool
        self._fill = fill
        self.page = Page(
            path="/channels",
            here="Settings",
            template="channels.html.j2",
            summary="Where notifications go, and how the last deliveries went.",
            view=lambda monitor, _call: self._view(monitor),
            extras=lambda _view: {"statuses": DELIVERY_STATUSES},
        )
        self.endpoint = Endpoint(
            "POST",
            "/channels/{name}/test",
            "admin",
            self.test,
            "form",
            "Send a test message to a channel.",
            body=make_record("TestChannelForm", {}),
            refuses=(404,),
        )

    async def test(self, call: Call) -> Response:
        """Send a test message, and show the page with what came of it."""
        return await self._pool.run(call.principal, lambda monitor: self._test(monitor, call))

    def _test(self, monitor: Monitor, call: Call) -> Response:
        name = call.part("name")
        told = self._routes.send_test(monitor, name)
        view = self._view(
            monitor, tested=name, is_delivered=told["is_delivered"], told=told["told"]
        )
        return HTMLResponse(self._fill(self.page, call, view))

    def _view(self, monitor: Monitor, **tested: Any) -> ChannelsView:  # noqa: ANN401 - of the view
        return ChannelsView(
            now=monitor.clock(),
            channels=tuple(self._routes.states(monitor)),
            notifications=monitor.notifications(MOST),
            **tested,
        )
