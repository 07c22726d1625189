"""The page of the audit log: who changed what, and what it was before."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from anyio import to_thread
from starlette.responses import HTMLResponse

from rankscope._names import as_dict
from rankscope.monitor.server.api.audit import AuditQuery
from rankscope.monitor.server.pages.page import Page
from rankscope.monitor.server.routing.endpoint import Call, Endpoint
from rankscope.monitor.setup.plan import compare_fields
from rankscope.monitor.store.keys import Audited
from rankscope.monitor.store.store import Store, StoreReader

if TYPE_CHECKING:
    from starlette.responses import Response


AUDIT = "/audit"
MOST = 200


def view_audit(store: StoreReader, call: Call, project: str | None) -> dict[str, Any]:
    """Look at the changes in a project, or everywhere."""
    before = call.query.get("before")
    number = None if before is None else int(before)
    entries = store.read_audit(project, before=number, limit=MOST)
    is_all, links = project is None, call.links
    here = links.top(f"/operator{AUDIT}") if is_all else links(AUDIT)
    lines = "/v1/operator/audit.ndjson" if is_all else "/v1/audit.ndjson"
    return {
        "entries": [_show(each) for each in entries],
        "is_all": is_all,
        "lines": links.top(lines) if is_all else links(lines),
        "following": f"{here}?before={entries[-1].number}" if len(entries) == MOST else "",
    }


def _show(each: Audited) -> dict[str, Any]:
    said = {**as_dict(each.entry), "project": each.project}
    return {
        **said,
        "action": each.entry.action.replace("_", " ").replace(".", ": "),
        **_changes(each),
    }


def _changes(each: Audited) -> dict[str, list[str]]:
    said = each.to_dict()
    before, after = (_as_fields(said[name]) for name in ("before", "after"))
    return {"changes": list(compare_fields(before, after))}


def _as_fields(value: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    """Return fields; a value that has none, such as a role, is a field itself."""
    if value is None:
        return {}
    return value if isinstance(value, dict) else {"role": value}


PAGES = (
    Page(
        path=AUDIT,
        here="Settings",
        template="audit.html.j2",
        summary="Who changed what, and what it was before.",
        view=lambda monitor, call: view_audit(monitor.store, call, monitor.project),
        query=AuditQuery,
        scope="admin",
    ),
)


def make_audit_page(store: Store, show: Callable[..., str]) -> Endpoint:
    """Make the page of all changes, also of sign-ins and accounts."""

    async def answer(call: Call) -> Response:
        def view() -> str:
            return show("audit.html.j2", call, view_audit(store, call, None))

        return HTMLResponse(await to_thread.run_sync(view))

    return Endpoint(
        "GET",
        f"/operator{AUDIT}",
        "operator",
        answer,
        "page",
        "Who changed what in all projects, and who signed in.",
        AuditQuery,
        is_global=True,
    )
