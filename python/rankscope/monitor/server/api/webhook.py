"""Where notifications go, and what became of them, for programs."""

from __future__ import annotations

import json

from starlette.responses import JSONResponse, Response

from rankscope.monitor.alerts.notify.http import read_url
from rankscope.monitor.alerts.notify.webhook import (
    find_webhook,
    remove_webhook,
    set_webhook,
    try_webhook,
)
from rankscope.monitor.events.times import format_time
from rankscope.monitor.server.api import schemas
from rankscope.monitor.server.api.parameters import LIMIT
from rankscope.monitor.server.http.endpoint import Endpoint
from rankscope.monitor.store.keys import Secret

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from rankscope.monitor.alerts.management import Notification
    from rankscope.monitor.alerts.notify.http import Poster
    from rankscope.monitor.monitor import Monitor
    from rankscope.monitor.server.http.endpoint import Asked
    from rankscope.monitor.server.pool import Desk
    from rankscope.monitor.store.records import Webhook

PATH = "/v1/webhook"


class Webhooks:
    """Answers where notifications go, and changes that.

    Args:
        desk: Asks monitors.
        slow: Likewise, in threads of its own, for what calls the other side, which may be slow.
        poster: Posts to webhooks, and judges their addresses.
    """

    def __init__(self, desk: Desk, slow: Desk, poster: Poster) -> None:
        self._desk = desk
        self._slow = slow
        self._poster = poster
        self.endpoints = (
            Endpoint(
                "GET",
                PATH,
                "read",
                self.get,
                summary="Where notifications go; its path and its secret are shown to nobody.",
                result=schemas.WEBHOOK,
            ),
            Endpoint(
                "PUT",
                PATH,
                "admin",
                self.put,
                summary="Say where notifications go. A secret that is made is shown this once.",
                body=schemas.NEW_WEBHOOK,
                result=schemas.SET_WEBHOOK,
            ),
            Endpoint(
                "DELETE",
                PATH,
                "admin",
                self.remove,
                summary="Send notifications to the log only.",
                status=204,
                refuses=(404,),
            ),
            Endpoint(
                "POST",
                f"{PATH}/test",
                "admin",
                self.test,
                summary="Send a test notification.",
                result=schemas.TRIED,
                refuses=(404,),
            ),
            Endpoint(
                "GET",
                "/v1/notifications",
                "read",
                self.list_notifications,
                summary="Notifications and what became of them, the newest first.",
                parameters=(LIMIT,),
                result=schemas.NOTIFICATIONS,
            ),
        )

    async def get(self, asked: Asked) -> Response:
        """Give where notifications go."""

        def read(monitor: Monitor) -> Any:  # noqa: ANN401 - JSON
            return {"webhook": _write_webhook(find_webhook(monitor.store, monitor.project))}

        return JSONResponse(await self._desk.look(asked, read))

    async def put(self, asked: Asked) -> Response:
        """Say where notifications go."""
        given = asked.body.get("secret")

        def change(monitor: Monitor) -> Any:  # noqa: ANN401 - JSON
            made = set_webhook(
                monitor.store,
                monitor.project,
                asked.body["url"],
                poster=self._poster,
                now=monitor.clock(),
                actor=asked.visitor.actor,
                secret=None if given is None else Secret(given),
                allows_http=asked.body.get("allows_http", False),
            )
            said = _write_webhook(find_webhook(monitor.store, monitor.project))
            return {"webhook": said, "secret": made.reveal() if given is None else None}

        return JSONResponse(await self._slow.ask(asked.visitor, change))

    async def remove(self, asked: Asked) -> Response:
        """Let notifications go to the log alone."""

        def change(monitor: Monitor) -> None:
            remove_webhook(
                monitor.store, monitor.project, now=monitor.clock(), actor=asked.visitor.actor
            )

        await self._slow.ask(asked.visitor, change)
        return Response(status_code=204)

    async def test(self, asked: Asked) -> Response:
        """Send a notification that says nothing."""

        def change(monitor: Monitor) -> Any:  # noqa: ANN401 - JSON
            tried = try_webhook(
                monitor.store, monitor.project, poster=self._poster, now=monitor.clock()
            )
            return {"is_delivered": tried.is_delivered, "told": tried.told}

        return JSONResponse(await self._slow.ask(asked.visitor, change))

    async def list_notifications(self, asked: Asked) -> Response:
        """List notifications."""
        limit = asked.query.get("limit", 100)

        def read(monitor: Monitor) -> Any:  # noqa: ANN401 - JSON
            return {"notifications": [write_letter(one) for one in monitor.notifications(limit)]}

        return JSONResponse(await self._desk.look(asked, read))


def _write_webhook(webhook: Webhook | None) -> dict[str, Any] | None:
    if webhook is None:
        return None
    return {
        # What is behind the host may be as good as a password.
        "host": read_url(webhook.url, allows_http=webhook.allows_http).authority,
        "allows_http": webhook.allows_http,
        "created": format_time(webhook.created),
        "disabled": None if webhook.disabled is None else format_time(webhook.disabled),
        "needs_secret": webhook.secret is None,
    }


def write_letter(letter: Notification) -> dict[str, Any]:
    """Write what became of a notification."""
    return {
        "id": letter.notification_id,
        "channel": letter.channel,
        "status": letter.status,
        "attempts": letter.attempts,
        "problem": letter.problem,
        "created": format_time(letter.created),
        "due": format_time(letter.due),
        "finished": None if letter.finished is None else format_time(letter.finished),
        "notification": json.loads(letter.body),
    }
