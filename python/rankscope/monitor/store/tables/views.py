"""Saved views, as JSON that the store does not read."""

from __future__ import annotations

from sqlalchemy import delete, select

from rankscope.monitor.store.tables.keys import insert_audit
from rankscope.monitor.store.tables.schema import views
from rankscope.monitor.store.tables.statements import in_project, put_row

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlalchemy import Connection

    from rankscope.monitor.store.keys import AuditEntry
    from rankscope.monitor.store.transaction import Transaction


def list_views(connection: Connection, project: str) -> dict[str, str]:
    """Return the views of a project as JSON, by name."""
    wanted = select(views.c.name, views.c.body).where(in_project(views.c.project_id, project))
    return dict(map(tuple, connection.execute(wanted.order_by(views.c.name))))


def put_view(
    transaction: Transaction, project: str, name: str, body: str | None, audit: AuditEntry
) -> bool:
    """Store a view, or remove it where there is no body; return whether there was one before."""
    project_id, connection = transaction.project(project), transaction.connection
    here = (views.c.project_id == project_id) & (views.c.name == name)
    was_there = connection.execute(select(views.c.name).where(here)).first() is not None
    if body is None and not was_there:
        return False
    if body is None:
        connection.execute(delete(views).where(here))
    else:
        key = {"project_id": project_id, "name": name}
        put_row(connection, views, key, {"body": body})
    insert_audit(connection, project_id, audit)
    return was_there
