"""Reads what many rankings have in common."""

from __future__ import annotations

from sqlalchemy import select

from rankscope.monitor.store.records import Context
from rankscope.monitor.store.tables.schema import contexts
from rankscope.monitor.store.tables.statements import in_project, parse_stored

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sqlalchemy import ColumnElement, Connection


def read_contexts(connection: Connection, project: str) -> dict[int, Context]:
    """Return the contexts of a project by their numbers."""
    return _select_contexts(connection, in_project(contexts.c.project_id, project))


def read_contexts_of(connection: Connection, project_id: int) -> dict[int, Context]:
    """Return the contexts of the project with a number, by their own numbers."""
    return _select_contexts(connection, contexts.c.project_id == project_id)


def _select_contexts(connection: Connection, is_theirs: ColumnElement[bool]) -> dict[int, Context]:
    rows = connection.execute(select(contexts).where(is_theirs))
    return {row.context_id: _to_context(row) for row in rows}


def _to_context(row: Any) -> Context:  # noqa: ANN401 - a row of any statement with its columns
    attributes = tuple(sorted(parse_stored(row.attributes).items()))
    return Context(row.model, row.version, row.environment, attributes)
