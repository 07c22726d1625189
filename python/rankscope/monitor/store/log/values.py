"""The files with the values of archived hours: which of them there are, and how they are listed.

They are computed from the files of the hours, so that one that is missing can always be made again.
A file with values belongs to one file with rankings: whatever replaces that removes it from the
list in the same transaction.
"""

from __future__ import annotations

from sqlalchemy import delete, insert, or_, select, union_all

from rankscope.monitor.store.log.blocks import FILE, Block, are_there, is_of
from rankscope.monitor.store.log.files import ArchivedValues, Published
from rankscope.monitor.store.tables.schema import blocks, values_files
from rankscope.monitor.store.tables.statements import fetch_rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlalchemy import Connection

    from rankscope.monitor.store.transaction import Transaction


def list_values(connection: Connection, project: str | None = None) -> list[ArchivedValues]:
    """List the values of archived hours by time, of a project or of all."""
    wanted = select(values_files).join(blocks, blocks.c.block_id == values_files.c.block_id)
    if project is not None:
        wanted = wanted.where(is_of(project))
    rows = fetch_rows(connection.execute(wanted.order_by(blocks.c.start)))
    return [ArchivedValues(*row) for row in rows]


def list_published(connection: Connection) -> list[Published]:
    """List all files of the store by path, also of a store of an earlier revision."""
    listed = (
        select(table.c.path, table.c.size, table.c.checksum).where(table.c.path != "")
        for table in (blocks, values_files)
    )
    found = connection.execute(union_all(*listed).order_by("path"))
    return [Published(*row) for row in fetch_rows(found)]


def list_without_values(
    connection: Connection, project: str, definition: str, before: int, *, is_new: bool = False
) -> list[Block]:
    """List the archived hours of a project without values of a definition, by time."""
    is_missing = values_files.c.block_id.is_(None)
    lacks = is_missing if is_new else or_(is_missing, values_files.c.definition != definition)
    wanted = (
        select(blocks)
        .outerjoin(values_files, values_files.c.block_id == blocks.c.block_id)
        .where(is_of(project), blocks.c.kind == FILE, blocks.c.start <= before, lacks)
    )
    rows = fetch_rows(connection.execute(wanted.order_by(blocks.c.start)))
    return [Block(*row) for row in rows]


def put_values(transaction: Transaction, hour: Block, values: ArchivedValues) -> bool:
    """List the values of an hour in place of earlier ones; their file is durable."""
    connection = transaction.connection
    if not are_there(connection, [hour]):
        return False
    connection.execute(delete(values_files).where(values_files.c.block_id == hour.block_id))
    connection.execute(insert(values_files), values._asdict())
    return True
