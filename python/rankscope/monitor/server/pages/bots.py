"""The page of users who are unlike people, which leaves them out or counts them again."""

from __future__ import annotations

from rankscope.errors import UsageError
from rankscope.monitor.server.http.problems import RefusedRequestError
from rankscope.monitor.server.pages.page import Form, Page
from rankscope.monitor.shapes import make_record
from rankscope.output.text import show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.monitor.ask.bots import BotReport
    from rankscope.monitor.monitor import Monitor
    from rankscope.monitor.server.routing.endpoint import Call


def _view(monitor: Monitor, _call: Call) -> BotReport:
    return monitor.find_bots()


BOTS = Page(
    path="/bots",
    here="Settings",
    template="bots.html.j2",
    summary="Users whose rate or pattern is unlike people, and the form that leaves them out.",
    view=_view,
    scope="admin",
    is_trace=True,
)
PAGES = (BOTS,)


def _change(monitor: Monitor, call: Call) -> str:
    """Leave out the chosen users, or count them again."""
    users = call.form.get("user", ())
    chosen = call.field("change")
    if chosen not in {"leave_out", "take_back"}:
        raise RefusedRequestError(422, "change must be leave_out or take_back", code="bad_form")
    try:
        monitor.leave_out(
            users if chosen == "leave_out" else (),
            take_back=users if chosen == "take_back" else (),
            actor=call.principal.actor,
        )
    except UsageError as error:
        raise RefusedRequestError(422, show(error.message), code="bad_form") from None
    return BOTS.path


FORMS = (
    Form(
        path=BOTS.path,
        summary="Leave out users and recompute, or count them again.",
        work=_change,
        body=make_record("BotsForm", {"user": list[str], "change": str}),
    ),
)
