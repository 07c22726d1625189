"""The page of channels: where notifications go, how deliveries went, and test messages."""

from __future__ import annotations

from rankscope.monitor.monitor import Monitor
from rankscope.monitor.server.api.notifications import Notifying
from rankscope.monitor.server.pages.page import EditForm, Page
from rankscope.monitor.server.routing.endpoint import Call, Route
from rankscope.monitor.shapes import make_record

MOST = 50
STATUSES = {
    "waiting": "waiting",
    "delivered": "delivered",
    "dead": "failed",
    "summed": "failed, and summarized in a later one",
}


WORDS = {"statuses": STATUSES}


def make_channel_page(notifying: Notifying) -> tuple[Page, Route]:
    """Make the page of channels, and the form that tests one."""

    def view(monitor: Monitor, tested: str = "", **delivery: object) -> dict[str, object]:
        return {
            "now": monitor.clock(),
            "channels": notifying.states(monitor),
            "notifications": monitor.notifications(MOST),
            "tested": tested,
            **delivery,
        }

    def test(monitor: Monitor, call: Call) -> tuple[Page, object, int]:
        name = call.part("name")
        done = notifying.send_test(monitor, name, call.principal.actor)
        return page, view(monitor, tested=name, **done), 200

    page = Page(
        path="/channels",
        here="Settings",
        template="channels.html.j2",
        summary="Where notifications go, and how the last deliveries went.",
        view=lambda monitor, _call: view(monitor),
    )
    form = EditForm(
        path="/channels/{name}/test",
        summary="Send a test message to a channel.",
        work=test,
        body=make_record("TestChannelForm", {}),
        status=200,
        refuses=(404,),
        is_slow=True,
    )
    return page, form
