"""Changes of projects that files describe: all of them in one transaction, or none."""

from __future__ import annotations

from sqlalchemy import select

from rankscope.monitor.store.tables.people import list_roles, set_roles
from rankscope.monitor.store.tables.projects import insert_configuration, read_configuration
from rankscope.monitor.store.tables.rules import remove_rule, save_rules
from rankscope.monitor.store.tables.schema import rules
from rankscope.monitor.store.tables.statements import in_project
from rankscope.monitor.store.tables.views import list_views, put_view

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection

    from rankscope.monitor.store.records import ProjectChange
    from rankscope.monitor.store.transaction import Transaction


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
        for shown in change.shown:
            put_view(transaction, project, *shown)
        set_roles(transaction, project, change.roles, change.time, change.actor)
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
    if list_views(connection, change.project) != change.views:
        return False
    if change.roles and list_roles(connection, change.project) != change.had_roles:
        return False
    here = in_project(rules.c.project_id, change.project)
    wanted = select(rules.c.name, rules.c.revision).where(here)
    known: dict[str, int] = dict(map(tuple, connection.execute(wanted)))
    changed = {*change.removed, *(row.name for row in change.rows)}
    is_same = all(known.get(name) == change.known.get(name) for name in changed)
    return is_same and known.keys() == change.known.keys()
