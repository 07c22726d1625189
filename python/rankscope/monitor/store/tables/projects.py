"""Projects, their counters, their configurations, and the facts about the store as a whole."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from sqlalchemy import BigInteger, Text, cast, exists, func, insert, or_, select, update

from rankscope.monitor.events.bins import Bins
from rankscope.monitor.store.keys import AuditEntry
from rankscope.monitor.store.tables.keys import insert_audit
from rankscope.monitor.store.tables.schema import (
    TABLES,
    audit,
    configurations,
    counters,
    meta,
    projects,
)
from rankscope.monitor.store.tables.statements import in_project
from rankscope.monitor.store.tables.version import GENERATION, OLDEST

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from rankscope.monitor.store.transaction import Transaction


REPLACED_RANKINGS = "replaced_rankings"
"""The counter of rankings of sets that were replaced. If it changes while rankings are
read, parts of two sets may have been read."""
ERASED_RANKINGS = "erased_rankings"
"""The counter of rankings that were deleted by what they are, likewise."""


def rewrite_fact(transaction: Transaction) -> None:
    """Write a fact about the store as it is, to learn whether anything can be written."""
    same = update(meta).where(meta.c.name == OLDEST).values(value=meta.c.value)
    transaction.connection.execute(same)


HELD = [
    table
    for table in TABLES.sorted_tables
    if "project_id" in table.c and table not in {projects, audit}
]
"""What a project has, while there is one."""


def list_projects(connection: Connection) -> list[str]:
    """List the projects of which anything is stored but who changed what, by name."""
    has_any = (exists().where(table.c.project_id == projects.c.project_id) for table in HELD)
    wanted = select(projects.c.name).where(or_(*has_any)).order_by(projects.c.name)
    return list(connection.execute(wanted).scalars())


def find_project(connection: Connection, name: str) -> int | None:
    """Find the number of a project, `None` if nothing of it is stored."""
    wanted = select(projects.c.project_id).where(projects.c.name == name)
    return connection.execute(wanted).scalar_one_or_none()


def read_counters(connection: Connection, project: str) -> dict[str, int]:
    """Return how many events were stored or discarded, by reason."""
    wanted = select(counters.c.reason, counters.c.count)
    wanted = wanted.where(in_project(counters.c.project_id, project)).order_by(counters.c.reason)
    return dict(map(tuple, connection.execute(wanted)))


def count_pending(connection: Connection, project: str) -> int:
    """Return how many labels have no ranking yet."""
    wanted = select(projects.c.pending).where(projects.c.name == project)
    return connection.execute(wanted).scalar_one_or_none() or 0


def read_deleted_before(connection: Connection, project: str) -> int | None:
    """Return the latest time before which events were deleted, `None` if none ever were."""
    wanted = select(projects.c.deleted_before).where(projects.c.name == project)
    return connection.execute(wanted).scalar_one_or_none()


def read_configuration(connection: Connection, project: str) -> str | None:
    """Return the current configuration of a project as JSON, `None` if it is not configured."""
    table = configurations
    wanted = select(table.c.text).where(in_project(table.c.project_id, project))
    wanted = wanted.order_by(table.c.configuration_id.desc()).limit(1)
    return connection.execute(wanted).scalar_one_or_none()


def read_bins(connection: Connection, project: str) -> Bins:
    """Return the edges of bins of the attributes of a project that are numbers."""
    return _parse_bins(read_configuration(connection, project))


def _parse_bins(text: str | None) -> Bins:
    said = {} if text is None else json.loads(text).get("bins", {})
    return {name: tuple(edges) for name, edges in said.items()}


def list_configurations(connection: Connection, project: str) -> list[str]:
    """Return all configurations of a project as JSON, the newest first."""
    table = configurations
    wanted = select(table.c.text).where(in_project(table.c.project_id, project))
    return list(connection.execute(wanted.order_by(table.c.configuration_id.desc())).scalars())


def insert_configuration(
    transaction: Transaction, project: str, text: str, now: int, actor: str
) -> None:
    """Store a new configuration of a project; older ones are kept."""
    project_id = transaction.project(project)
    connection = transaction.connection
    before = read_configuration(connection, project)
    row = {"project_id": project_id, "time": now, "actor": actor, "text": text}
    connection.execute(insert(configurations), row)
    entry = AuditEntry(now, actor, "configuration.set", project, before or "", text)
    insert_audit(connection, project_id, entry)
    if _parse_bins(before) != _parse_bins(text):
        transaction.forget_numbers()
        renew(connection)


def renew(connection: Connection) -> None:
    """Let other processes forget what they know of keys, contexts and bins."""
    newer = cast(cast(meta.c.value, BigInteger) + 1, Text)
    connection.execute(update(meta).where(meta.c.name == GENERATION).values(value=newer))


def read_last_seq(connection: Connection) -> int:
    """Return the number of the last event that was ever stored."""
    return _read_fact(connection, "last_seq")


def read_lost_events(connection: Connection) -> int:
    """Return how many acknowledged events are lost, as was accepted when the store was opened."""
    return _read_fact(connection, "lost_events")


def read_lost_commits(connection: Connection) -> int:
    """Return how many acknowledged transactions are lost, as was accepted.

    They are counted whatever they wrote: events, keys, rules, configurations or windows.
    """
    return _read_fact(connection, "lost_commits")


def _read_fact(connection: Connection, name: str) -> int:
    wanted = select(meta.c.value).where(meta.c.name == name)
    return int(connection.execute(wanted).scalar_one())


def count_replaced(connection: Connection, project: str) -> int:
    """Return how many rankings were replaced or erased so far."""
    # PostgreSQL makes a decimal number of a sum of integers.
    wanted = select(cast(func.sum(counters.c.count), BigInteger)).where(
        in_project(counters.c.project_id, project),
        counters.c.reason.in_((REPLACED_RANKINGS, ERASED_RANKINGS)),
    )
    return int(connection.execute(wanted).scalar_one() or 0)
