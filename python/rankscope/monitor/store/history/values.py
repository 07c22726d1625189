"""The files with the values of archived hours: which of them there are, and how they are listed.

They are computed from the files of the hours, so that one that is missing can always be made again.
A file with values belongs to one file with rankings: whatever replaces that removes it from the
manifest in the same transaction.
"""

from __future__ import annotations

from sqlalchemy import delete, insert, or_, select

from rankscope.monitor.store.history import manifest
from rankscope.monitor.store.history.files import ArchivedValues
from rankscope.monitor.store.tables.schema import history, history_values
from rankscope.monitor.store.tables.statements import in_project

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlalchemy import Connection

    from rankscope.monitor.store.history.files import ArchivedHour
    from rankscope.monitor.store.tables.transaction import Transaction

COLUMNS = (
    history_values.c.hour_id,
    history_values.c.definition,
    history_values.c.path,
    history_values.c.rankings,
    history_values.c.size,
    history_values.c.checksum,
)


def find_values(connection: Connection, hour_id: int) -> ArchivedValues | None:
    """Find the values of an archived hour."""
    wanted = select(*COLUMNS).where(history_values.c.hour_id == hour_id)
    row = connection.execute(wanted).one_or_none()
    return None if row is None else ArchivedValues(*row)


def list_values(connection: Connection, project: str | None = None) -> list[ArchivedValues]:
    """List the values of archived hours by time, of a project or of all."""
    wanted = select(*COLUMNS).join(history, history.c.hour_id == history_values.c.hour_id)
    if project is not None:
        wanted = wanted.where(in_project(history.c.project_id, project))
    rows = connection.execute(wanted.order_by(history.c.start))
    return [ArchivedValues(*row) for row in rows]


def list_without_values(
    connection: Connection, project: str, definition: str, before: int, *, is_new: bool = False
) -> list[ArchivedHour]:
    """List the archived hours of a project without values of a definition, by time."""
    is_missing = history_values.c.hour_id.is_(None)
    lacks = is_missing if is_new else or_(is_missing, history_values.c.definition != definition)
    wanted = (
        select(*manifest.HOUR_COLUMNS)
        .outerjoin(history_values, history_values.c.hour_id == history.c.hour_id)
        .where(in_project(history.c.project_id, project), history.c.start <= before, lacks)
    )
    return [manifest.to_hour(row) for row in connection.execute(wanted.order_by(history.c.start))]


def is_listed(connection: Connection, hour: ArchivedHour) -> bool:
    """Return whether an hour still has the file that it had."""
    wanted = select(history.c.path).where(history.c.hour_id == hour.hour_id)
    return connection.execute(wanted).scalar_one_or_none() == hour.path


def put_values(
    transaction: Transaction, project: str, hour: ArchivedHour, values: ArchivedValues
) -> bool:
    """List the values of an hour in place of earlier ones; their file is durable."""
    connection = transaction.connection
    if manifest.find_hour(connection, transaction.project(project), hour.start) != hour:
        return False
    connection.execute(delete(history_values).where(history_values.c.hour_id == hour.hour_id))
    connection.execute(insert(history_values), values._asdict())
    return True
