"""Changes of projects that files describe, all of them in one transaction; and their deletion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sqlalchemy import delete, select, update

from rankscope.monitor.store.keys import AuditEntry
from rankscope.monitor.store.records import ProjectChange
from rankscope.monitor.store.tables.keys import insert_audit
from rankscope.monitor.store.tables.outbox import remove_webhook, set_webhook
from rankscope.monitor.store.tables.people import list_roles, set_roles
from rankscope.monitor.store.tables.projects import (
    insert_configuration,
    read_configuration,
    renew,
)
from rankscope.monitor.store.tables.rules import remove_rule, save_rules
from rankscope.monitor.store.tables.schema import (
    TABLES,
    audit,
    blocks,
    contexts,
    counters,
    pending,
    projects,
    rules,
)
from rankscope.monitor.store.tables.statements import in_project
from rankscope.monitor.store.transaction import Transaction

if TYPE_CHECKING:
    from sqlalchemy import Connection, Table


def change_projects(transaction: Transaction, changes: Sequence[ProjectChange]) -> bool:
    """Change projects, unless somebody else has changed one of them meanwhile.

    Returns:
        Whether they were changed; otherwise nothing was stored.
    """
    connection = transaction.connection
    if not all(_is_as_before(connection, change) for change in changes):
        return False
    for change in changes:
        project = change.project
        if change.configuration is not None:
            text, time, actor = change.configuration, change.time, change.actor
            insert_configuration(transaction, project, text, time, actor)
        set_roles(transaction, project, change.roles, change.time, change.actor)
        if change.webhook is not None:
            entry = AuditEntry(change.time, change.actor, "webhook.set", project)
            if change.webhook:
                set_webhook(transaction, project, change.webhook, entry)
            else:
                remove_webhook(transaction, project, replace(entry, action="webhook.remove"))
        removals = {each.subject: each for each in change.audit if each.subject in change.removed}
        for name in change.removed:
            remove_rule(transaction, project, name, removals[name])
        save_rules(
            transaction,
            project,
            change.rows,
            incidents=change.incidents,
            changes=change.changes,
            notices=change.notices,
            audit=[each for each in change.audit if each.subject not in removals],
        )
    return True


def _is_as_before(connection: Connection, change: ProjectChange) -> bool:
    """Return whether a project is as it was when its change was prepared."""
    if read_configuration(connection, change.project) != change.before:
        return False
    if change.roles and list_roles(connection, change.project) != change.had_roles:
        return False
    here = in_project(rules.c.project_id, change.project)
    wanted = select(rules.c.name, rules.c.revision).where(here)
    known: dict[str, int] = dict(map(tuple, connection.execute(wanted)))
    changed = {*change.removed, *(row.name for row in change.rows)}
    is_same = all(known.get(name) == change.known.get(name) for name in changed)
    return is_same and known.keys() == change.known.keys()


EVENTS = frozenset({blocks, pending, contexts, counters})
"""What belongs to events, which are deleted before their contexts and counters."""


def empty_project(transaction: Transaction, project: str, entry: AuditEntry) -> None:
    """Delete all rows of a project but those of its events, and of who changed what."""
    insert_audit(transaction.connection, transaction.project(project), entry)
    _delete_rows(transaction, project, EVENTS)
    renew(transaction.connection)
    transaction.changes_secrets = True


def forget_project(transaction: Transaction, project: str) -> bool:
    """Delete what is left of a project whose events are deleted, but for who changed what.

    Returns:
        Whether it had no events any more; otherwise nothing was deleted.
    """
    transaction.log.settle()
    connection, number = transaction.connection, transaction.project(project)
    for table in (blocks, pending):
        found = select(table.c.project_id).where(table.c.project_id == number).limit(1)
        if connection.execute(found).first() is not None:
            return False
    for key in [key for key in transaction.counts if key[0] == number]:
        del transaction.counts[key]
    _delete_rows(transaction, project, frozenset({blocks, pending}))
    here = projects.c.project_id == number
    connection.execute(update(projects).where(here).values(deleted_before=None))
    renew(connection)
    transaction.forget_numbers()
    transaction.deletes = True
    return True


def _delete_rows(transaction: Transaction, project: str, kept: frozenset[Table]) -> None:
    number = transaction.project(project)
    for table in reversed(TABLES.sorted_tables):
        if table in kept or table in {projects, audit}:
            continue
        if "project_id" in table.c:
            here = table.c.project_id == number
        else:  # a row of one that belongs to a project
            keys = [key for key in table.foreign_keys if "project_id" in key.column.table.c]
            if not keys:
                continue
            owners = keys[0].column.table
            here = keys[0].parent.in_(select(keys[0].column).where(owners.c.project_id == number))
        transaction.connection.execute(delete(table).where(here))
