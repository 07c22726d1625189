"""How a project is measured, its keys, and who changed what, for programs."""

from __future__ import annotations

import json

from starlette.responses import JSONResponse, Response

from rankscope.monitor.definition.configuration import Configuration
from rankscope.monitor.events.times import format_time
from rankscope.monitor.server.api import schemas
from rankscope.monitor.server.http.endpoint import Endpoint
from rankscope.monitor.server.http.problems import RefusedRequestError
from rankscope.monitor.store.keys import make_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from rankscope.monitor.monitor import Monitor
    from rankscope.monitor.server.http.endpoint import Asked
    from rankscope.monitor.server.pool import Desk
    from rankscope.monitor.store.keys import ApiKey


class Project:
    """Answers what a project is, and changes it.

    Args:
        desk: Asks monitors.
    """

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self.endpoints = (
            Endpoint(
                "GET",
                "/v1/configuration",
                "read",
                self.get_configuration,
                summary="How the project is measured.",
                result=schemas.CONFIGURATION,
            ),
            Endpoint(
                "PUT",
                "/v1/configuration",
                "admin",
                self.put_configuration,
                summary="Say how the project is measured from now on.",
                body=schemas.NEW_CONFIGURATION,
                result=schemas.CONFIGURATION,
            ),
            Endpoint(
                "GET",
                "/v1/keys",
                "admin",
                self.list_keys,
                summary="The keys of the project, without their secrets.",
                result=schemas.KEYS,
            ),
            Endpoint(
                "POST",
                "/v1/keys",
                "admin",
                self.create_key,
                summary="Make a key, which is shown this once.",
                body=schemas.NEW_KEY,
                result=schemas.SHOWN_KEY,
                status=201,
            ),
            Endpoint(
                "DELETE",
                "/v1/keys/{key_id}",
                "admin",
                self.revoke_key,
                summary="Let a key open nothing any more.",
                status=204,
            ),
            Endpoint(
                "GET",
                "/v1/audit",
                "admin",
                self.list_audit,
                summary="Who changed what, the newest first.",
                result=schemas.AUDIT,
            ),
        )

    async def get_configuration(self, asked: Asked) -> Response:
        """Give how the project is measured."""
        return JSONResponse(
            await self._desk.look(asked, lambda monitor: monitor.configuration.to_dict())
        )

    async def put_configuration(self, asked: Asked) -> Response:
        """Say how the project is measured."""

        def change(monitor: Monitor) -> Any:  # noqa: ANN401 - JSON
            configuration = Configuration.from_json(json.dumps(asked.body))
            monitor.configure(configuration, actor=asked.visitor.actor)
            return configuration.to_dict()

        return JSONResponse(await self._desk.ask(asked.visitor, change))

    async def list_keys(self, asked: Asked) -> Response:
        """List the keys."""

        def read(monitor: Monitor) -> Any:  # noqa: ANN401 - JSON
            return {"keys": [_write_key(key) for key in monitor.store.keys(monitor.project)]}

        return JSONResponse(await self._desk.look(asked, read))

    async def create_key(self, asked: Asked) -> Response:
        """Make a key."""

        def change(monitor: Monitor) -> Any:  # noqa: ANN401 - JSON
            scopes, name = asked.body["scopes"], asked.body["name"]
            key, shown = make_key(monitor.project, scopes, name=name, now=monitor.clock())
            monitor.store.add_key(key, asked.visitor.actor)
            return _write_key(key) | {"key": shown.reveal()}

        return JSONResponse(await self._desk.ask(asked.visitor, change), 201)

    async def revoke_key(self, asked: Asked) -> Response:
        """Let a key open nothing any more."""
        key_id = asked.part("key_id")

        def change(monitor: Monitor) -> bool:
            store, project = monitor.store, monitor.project
            return store.revoke_key(project, key_id, monitor.clock(), asked.visitor.actor)

        if not await self._desk.ask(asked.visitor, change):
            raise RefusedRequestError(
                404, "there is no such key that opens something", code="no_key"
            )
        return Response(status_code=204)

    async def list_audit(self, asked: Asked) -> Response:
        """List what was changed."""

        def read(monitor: Monitor) -> Any:  # noqa: ANN401 - JSON
            entries = monitor.store.audit(monitor.project)[::-1]
            return {
                "entries": [
                    {
                        "time": format_time(entry.time),
                        "actor": entry.actor,
                        "action": entry.action,
                        "subject": entry.subject,
                    }
                    for entry in entries[:MOST_ENTRIES]
                ]
            }

        return JSONResponse(await self._desk.look(asked, read))


MOST_ENTRIES = 1000


def _write_key(key: ApiKey) -> dict[str, Any]:
    return {
        "key_id": key.key_id,
        "name": key.name,
        "scopes": list(key.scopes),
        "created": format_time(key.created),
        "revoked": None if key.revoked is None else format_time(key.revoked),
    }
