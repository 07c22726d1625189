"""The audit log: who changed what, and what it was before and after."""

from __future__ import annotations

import json
from functools import partial
from typing import Annotated, Any

from anyio import to_thread
from pydantic import Field
from starlette.responses import JSONResponse, Response
from typing_extensions import TypedDict

from rankscope.monitor.server.routing.endpoint import Call, Endpoint
from rankscope.monitor.setup.fields import Time
from rankscope.monitor.shapes import WHOLE
from rankscope.monitor.store.store import Store

MOST = 1000
NDJSON = "application/x-ndjson"
Number = Annotated[int, Field(ge=1, lt=2**63), WHOLE]


class AuditFields(TypedDict):
    """A change, and who made it."""

    number: int
    project: Annotated[str | None, Field(description="None for sign-ins and accounts.")]
    time: Time
    actor: str
    action: str
    subject: str
    before: Any
    after: Any


class Audit(TypedDict):
    """Who changed what, the newest first."""

    entries: list[AuditFields]


class AuditQuery(TypedDict, total=False):
    """Which entries are read."""

    before: Annotated[
        str,
        Field(
            pattern="^[1-9][0-9]{0,17}$",
            description="Only entries with smaller numbers, to read on from the last one.",
        ),
    ]


def make_audit_endpoints(store: Store) -> tuple[Endpoint, ...]:
    """Make the routes of the audit log: of a project for its administrators, and of everything."""

    async def answer(call: Call, *, is_all: bool, is_lines: bool) -> Response:
        before = call.query.get("before")
        read = partial(
            store.read_audit,
            None if is_all else call.principal.project,
            before=None if before is None else int(before),
            limit=MOST,
        )
        entries = [each.to_dict() for each in await to_thread.run_sync(read)]
        if not is_lines:
            return JSONResponse({"entries": entries})
        lines = "".join(f"{json.dumps(each)}\n" for each in entries)
        return Response(lines, media_type=NDJSON)

    return tuple(
        Endpoint(
            "GET",
            path + (".ndjson" if is_lines else ""),
            "operator" if is_all else "admin",
            partial(answer, is_all=is_all, is_lines=is_lines),
            summary=f"Return who changed what, the newest first{more}"
            f"{', one JSON object a line' if is_lines else ''}.",
            query=AuditQuery,
            result=None if is_lines else Audit,
            gives=NDJSON if is_lines else "",
            is_global=is_all,
        )
        for path, is_all, more in (
            ("/v1/audit", False, ""),
            ("/v1/operator/audit", True, ", in all projects and with sign-ins"),
        )
        for is_lines in (False, True)
    )
