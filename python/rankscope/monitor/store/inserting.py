"""Inserts many rows: SQLAlchemy writes the statement, and the driver takes the rows as they are."""

from __future__ import annotations

from functools import lru_cache

from sqlalchemy import insert

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from sqlalchemy import Connection, Dialect, Table


def insert_rows(connection: Connection, table: Table, rows: Sequence[tuple[object, ...]]) -> None:
    """Insert rows into a table.

    To let SQLAlchemy look at every value would take longer than to store it.

    Args:
        connection: A connection that writes.
        table: The table.
        rows: The values of all columns, in their order, as the driver takes them.
    """
    if not rows:
        return
    text, is_positional = _write_statement(table, connection.dialect)
    if is_positional:
        connection.exec_driver_sql(text, list(rows))
    else:
        names = table.columns.keys()
        given: list[dict[str, Any]] = [dict(zip(names, row, strict=True)) for row in rows]
        connection.exec_driver_sql(text, given)


@lru_cache(maxsize=16)
def _write_statement(table: Table, dialect: Dialect) -> tuple[str, bool]:
    """Write the statement, and say whether its parameters go by place."""
    compiled = insert(table).compile(dialect=dialect, column_keys=table.columns.keys())
    return str(compiled), dialect.positional
