"""Alert rules and their progress.

A rule's progress, the incidents that follow from it and their notifications are written in one
transaction. The store does not read the JSON in them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sqlalchemy import delete, select

from rankscope._names import as_dict
from rankscope.monitor.store.keys import AuditEntry
from rankscope.monitor.store.records import ChangeRow, IncidentRow, NoticeRow, RuleRow
from rankscope.monitor.store.tables.incidents import put_incidents
from rankscope.monitor.store.tables.keys import insert_audit
from rankscope.monitor.store.tables.outbox import insert_notifications
from rankscope.monitor.store.tables.schema import rules
from rankscope.monitor.store.tables.statements import columns_of, in_project, put_row, read_records
from rankscope.monitor.store.transaction import Transaction

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Connection


def list_rules(connection: Connection, project: str) -> list[RuleRow]:
    """List the rules of a project, by name."""
    return _select_rules(connection, in_project(rules.c.project_id, project))


def find_rule(connection: Connection, project: str, name: str) -> RuleRow | None:
    """Find a rule by its name."""
    wanted = in_project(rules.c.project_id, project) & (rules.c.name == name)
    return next(iter(_select_rules(connection, wanted)), None)


def _select_rules(connection: Connection, wanted: ColumnElement[bool]) -> list[RuleRow]:
    asked = select(*columns_of(rules, RuleRow)).where(wanted).order_by(rules.c.name)
    return read_records(connection, RuleRow, asked)


def save_rules(
    transaction: Transaction,
    project: str,
    rows: Sequence[RuleRow],
    *,
    incidents: Sequence[IncidentRow] = (),
    changes: Sequence[ChangeRow] = (),
    notices: Sequence[NoticeRow] = (),
    audit: Sequence[AuditEntry] = (),
) -> list[str]:
    """Store rules and what follows from them, unless somebody else has changed one meanwhile.

    Args:
        transaction: The transaction.
        project: The name of the project.
        rows: The rules; the revision of each is one more than that of the rule it was made from.
        incidents: The incidents that are new or have changed.
        changes: Their history.
        notices: Notices to send.
        audit: Who changed the rules, if somebody did.

    Returns:
        The names of the rules that were changed by others; if there is one, nothing was stored.
    """
    project_id = transaction.project(project)
    connection = transaction.connection
    asked = select(rules.c.name, rules.c.revision).where(rules.c.project_id == project_id)
    known: dict[str, int] = dict(map(tuple, connection.execute(asked)))
    stale = [row.name for row in rows if known.get(row.name, 0) != row.revision - 1]
    if stale:
        return stale
    for row in rows:
        put_row(connection, rules, {"project_id": project_id, "name": row.name}, as_dict(row))
    _put_effects(connection, project_id, incidents, changes, notices)
    for entry in audit:
        insert_audit(connection, project_id, entry)
    return []


def remove_rule(
    transaction: Transaction,
    project: str,
    name: str,
    audit: AuditEntry,
    *,
    incidents: Sequence[IncidentRow] = (),
    changes: Sequence[ChangeRow] = (),
    notices: Sequence[NoticeRow] = (),
) -> bool:
    """Remove a rule, and return whether there was one; its incidents are kept.

    Args:
        transaction: The transaction.
        project: The name of the project.
        name: The name of the rule.
        audit: Who removed it.
        incidents: Its incidents, as they are from then on.
        changes: Their history.
        notices: Notices to send.
    """
    project_id = transaction.project(project)
    connection = transaction.connection
    here = (rules.c.project_id == project_id) & (rules.c.name == name)
    if connection.execute(delete(rules).where(here)).rowcount == 0:
        return False
    _put_effects(connection, project_id, incidents, changes, notices)
    insert_audit(connection, project_id, audit)
    return True


def _put_effects(
    connection: Connection,
    project_id: int,
    incidents: Sequence[IncidentRow],
    changes: Sequence[ChangeRow],
    notices: Sequence[NoticeRow],
) -> None:
    """Store what follows from a change of rules."""
    put_incidents(connection, project_id, incidents, changes)
    for notice in notices:
        insert_notifications(connection, project_id, notice)
