"""What is known of many projects at once, in a few statements."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import func, select

from rankscope.monitor.events.limits import DAY
from rankscope.monitor.store.records import CellRow
from rankscope.monitor.store.tables import schema
from rankscope.monitor.store.tables.windows import CELLS, fetch_cells

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Connection, Select, Table


class StoredRule(NamedTuple):
    """A rule without its progress, which is long.

    Args:
        name: Its name.
        state: Its state.
        reason: The reason for the state.
    """

    name: str
    state: str
    reason: str


class StoredProject(NamedTuple):
    """What is known of a project beside its windows.

    Args:
        configuration: Its configuration as JSON, `None` if it has none.
        rules: Its rules.
        incidents: Its incidents that were asked for, as JSON, the oldest first.
        newest: When the newest ranking in production was shown, if there is one.
    """

    configuration: str | None
    rules: list[StoredRule]
    incidents: list[str]
    newest: list[int]


def read_projects(
    connection: Connection, projects: Collection[str], states: Collection[str]
) -> dict[str, StoredProject]:
    """Read the projects that have something stored, by name, with incidents in some states."""
    known = select(schema.projects.c.name).where(schema.projects.c.name.in_(projects))
    found = {name: StoredProject(None, [], [], []) for name in connection.execute(known).scalars()}
    table = schema.configurations
    newest = select(func.max(table.c.configuration_id)).group_by(table.c.project_id)
    wanted = _of(table, projects, table.c.text).where(table.c.configuration_id.in_(newest))
    for name, text in connection.execute(wanted):
        found[name] = found[name]._replace(configuration=text)
    table = schema.rules
    wanted = _of(table, projects, *(table.c[name] for name in StoredRule._fields))
    for name, *row in connection.execute(wanted.order_by(table.c.name)):
        found[name].rules.append(StoredRule(*row))
    table = schema.incidents
    wanted = _of(table, projects, table.c.body).where(table.c.state.in_(sorted(states)))
    for name, body in connection.execute(wanted.order_by(table.c.opened, table.c.incident_id)):
        found[name].incidents.append(body)
    table = schema.contexts
    wanted = _of(table, projects, func.max(table.c.last))
    wanted = wanted.where(table.c.environment == "production", table.c.last.is_not(None))
    for name, last in connection.execute(wanted.group_by(schema.projects.c.name)):
        found[name].newest.append(last)
    return found


def read_days(
    connection: Connection, digests: Mapping[str, bytes], place: str, since: int
) -> dict[str, list[CellRow]]:
    """Read the windows of days in production of a slice of projects.

    Args:
        connection: A connection.
        digests: The digests of configurations, by project.
        place: The slice, as JSON.
        since: The earliest start of a window, in microseconds since 1970.

    Raises:
        FileError: A cell is damaged.
    """
    table = schema.cells
    cells: dict[str, list[CellRow]] = {name: [] for name in digests}
    names = schema.projects.c.name, schema.projects.c.project_id
    known = connection.execute(select(*names).where(names[0].in_(digests)))
    numbers = {number: name for name, number in known}
    wanted = CELLS.select().where(
        # For each project and digest, the index has the days of a slice together.
        table.c.project_id.in_(numbers),
        table.c.digest.in_(set(digests.values())),
        table.c.length == DAY,
        table.c.slice == place,
        table.c.start >= since,
        table.c.environment == "production",
    )
    for row, cell in fetch_cells(connection, wanted):
        name = numbers[row[0]]
        if row[1] == digests[name]:
            cells[name].append(cell)
    return cells


def _of(table: Table, projects: Collection[str], *columns: ColumnElement[Any]) -> Select[Any]:
    """Select columns of rows of projects, after the names of their projects."""
    names = schema.projects
    joined = names.join(table, names.c.project_id == table.c.project_id)
    return select(names.c.name, *columns).select_from(joined).where(names.c.name.in_(projects))
