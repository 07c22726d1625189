"""Incidents and their history."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import func, insert, select

from rankscope._names import as_dict
from rankscope.monitor.store.records import ChangeRow, IncidentRow
from rankscope.monitor.store.tables.schema import incident_changes, incidents
from rankscope.monitor.store.tables.statements import columns_of, in_project, put_row, read_records

if TYPE_CHECKING:
    from sqlalchemy import Connection, Select


def put_incidents(
    connection: Connection,
    project_id: int,
    rows: Sequence[IncidentRow],
    changes: Sequence[ChangeRow],
) -> None:
    """Store incidents that are new or have changed, and add to their history."""
    for row in rows:
        key = {"project_id": project_id, "incident_id": row.incident_id}
        put_row(connection, incidents, key, as_dict(row))
    for change in changes:
        connection.execute(insert(incident_changes), as_dict(change))


def list_incidents(
    connection: Connection,
    project: str,
    *,
    states: Collection[str] | None = None,
    rule: str | None = None,
    limit: int | None = None,
) -> list[IncidentRow]:
    """List the incidents of a project, those that were opened last first.

    Args:
        connection: A connection.
        project: The name of the project.
        states: The states they can have (default: all).
        rule: The rule that found them (default: all).
        limit: How many are listed at most (default: all).
    """
    wanted = _select_rows().where(in_project(incidents.c.project_id, project))
    if states is not None:
        wanted = wanted.where(incidents.c.state.in_(sorted(states)))
    if rule is not None:
        wanted = wanted.where(incidents.c.rule == rule)
    ordered = wanted.order_by(incidents.c.opened.desc(), incidents.c.incident_id.desc())
    return read_records(connection, IncidentRow, ordered.limit(limit))


def find_incident(connection: Connection, project: str, incident_id: str) -> IncidentRow | None:
    """Find an incident by its id."""
    wanted = _select_rows().where(
        in_project(incidents.c.project_id, project), incidents.c.incident_id == incident_id
    )
    return next(iter(read_records(connection, IncidentRow, wanted)), None)


def list_changes(connection: Connection, project: str, incident_id: str) -> list[ChangeRow]:
    """List the history of an incident, the oldest change first."""
    same = incidents.c.incident_id == incident_changes.c.incident_id
    wanted = (
        select(*columns_of(incident_changes, ChangeRow))
        .select_from(incident_changes.join(incidents, same))
        .where(
            in_project(incidents.c.project_id, project),
            incident_changes.c.incident_id == incident_id,
        )
        .order_by(incident_changes.c.number)
    )
    return read_records(connection, ChangeRow, wanted)


def count_incidents(connection: Connection, project: str) -> dict[tuple[str, str], int]:
    """Count the incidents of a project by state and kind."""
    wanted = (
        select(incidents.c.state, incidents.c.kind, func.count())
        .where(in_project(incidents.c.project_id, project))
        .group_by(incidents.c.state, incidents.c.kind)
        .order_by(incidents.c.state, incidents.c.kind)
    )
    return {(state, kind): count for state, kind, count in connection.execute(wanted)}


def _select_rows() -> Select[Any]:
    return select(*columns_of(incidents, IncidentRow))
