"""Parts of statements that several tables share, and fast paths to the driver."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

from sqlalchemy import (
    ARRAY,
    BigInteger,
    Integer,
    Text,
    TypeDecorator,
    bindparam,
    insert,
    select,
    update,
)
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement

from rankscope.errors import FileError
from rankscope.monitor.events.rejection import RefusedError, show
from rankscope.monitor.store.tables.schema import projects

R = TypeVar("R")

if TYPE_CHECKING:
    from sqlalchemy import (
        Column,
        ColumnElement,
        Connection,
        CursorResult,
        Dialect,
        Executable,
        Select,
        Table,
    )
    from sqlalchemy.sql.compiler import SQLCompiler
    from sqlalchemy.types import TypeEngine


FIRST, LAST = -(2**63), 2**63 - 1
"""The earliest and the latest time, where a caller names none."""


POSTGRES = "postgresql"
"""The name of the dialect of PostgreSQL."""


def parse_stored(text: str) -> Any:  # noqa: ANN401 - what JSON can say
    """Parse JSON that the store wrote."""
    try:
        return json.loads(text)
    except ValueError:
        raise FileError(
            "the labels or attributes of a stored event are damaged",
            hint="restore a backup of the store",
            code="store_damaged",
        ) from None


class StoredFlag(FunctionElement[int]):
    """A boolean as the integer that is stored: a damaged 257 stays what it is."""

    type = Integer()
    inherit_cache = True


@compiles(StoredFlag)
def _write_flag(element: StoredFlag, compiler: SQLCompiler, **how: Any) -> str:  # noqa: ANN401 - of SQLAlchemy
    (column,) = element.clauses
    flag = compiler.process(column, **how)
    return f"CAST({flag} AS INTEGER)" if compiler.dialect.name == POSTGRES else flag


class ValueList(TypeDecorator[list[Any]]):
    """Texts or integers as one parameter: an array where the database has them, otherwise JSON.

    However many there are, the statement is the same: a list of parameters would be compiled anew
    for each number of them, which takes as long as the search.
    """

    impl = Text
    cache_ok = True

    def __init__(self, of: type[Text | BigInteger]) -> None:
        super().__init__()
        self.of = of

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """Return the type of the database."""
        kind: TypeEngine[Any] = ARRAY(self.of()) if dialect.name == POSTGRES else Text()
        return dialect.type_descriptor(kind)

    def process_bind_param(self, value: Any, dialect: Dialect) -> Any:  # noqa: ANN401 - of SQLAlchemy
        """Return the values as the driver takes them."""
        return value if dialect.name == POSTGRES else json.dumps(value, ensure_ascii=False)


class ValueRows(FunctionElement[Any]):
    """The values of a `ValueList` as the rows of a table, in its column `value`."""

    inherit_cache = True


@compiles(ValueRows)
def _write_values(element: ValueRows, compiler: SQLCompiler, **how: Any) -> str:  # noqa: ANN401 - of SQLAlchemy
    (values,) = element.clauses
    given = compiler.process(values, **how)
    if compiler.dialect.name == POSTGRES:
        return f"(SELECT unnest({given}) AS value)"
    return f"json_each({given})"


def is_among(column: ColumnElement[Any], name: str) -> ColumnElement[bool]:
    """Select what has one of the values of the parameter `name`, a list of texts or integers."""
    of = Text if isinstance(column.type, Text) else BigInteger
    asked = ValueRows(bindparam(name, type_=ValueList(of))).table_valued("value")
    return column.in_(select(asked.c.value))


def in_project(column: ColumnElement[int], project: str) -> ColumnElement[bool]:
    """Compare a column of project numbers with the number of a project."""
    number = select(projects.c.project_id).where(projects.c.name == project)
    return column == number.scalar_subquery()


def put_row(
    connection: Connection, table: Table, key: Mapping[str, Any], values: Mapping[str, Any]
) -> None:
    """Write values into the row with a key, which is made if it isn't there."""
    here = [table.c[name] == value for name, value in key.items()]
    if connection.execute(update(table).where(*here).values(values)).rowcount == 0:
        connection.execute(insert(table), {**key, **values})


def columns_of(table: Table, kind: type[Any]) -> list[Column[Any]]:
    """Return the columns of a table with the fields of a record."""
    return [table.c[field.name] for field in fields(kind)]


def read_records(connection: Connection, kind: type[R], wanted: Select[Any]) -> list[R]:
    """Return rows as records of a kind."""
    return [kind(**row) for row in connection.execute(wanted).mappings()]


def fetch_rows(result: CursorResult[Any], size: int = -1) -> list[tuple[Any, ...]]:
    """Fetch rows as the driver returns them, in two thirds of the time of SQLAlchemy's rows."""
    fetch, cursor = result.cursor_strategy, result.cursor
    rows = fetch.fetchall(result, cursor) if size < 0 else fetch.fetchmany(result, cursor, size)
    return list(rows)


def refuse_text(error: UnicodeEncodeError) -> RefusedError:
    """Return the error of half a character in what a program asks for; events have none."""
    return RefusedError("", "text", show(error.object), code="surrogate", hint="write it as UTF-8")


CONVERT = "rankscope_convert"
"""The option of an engine with a function that returns the error of a store for one of the driver,
or `None`."""


@contextmanager
def open_cursor(connection: Connection) -> Iterator[Any]:
    """Open a cursor of the driver within the transaction of a connection, as SQLAlchemy does."""
    if not connection.in_transaction():
        connection.begin()
    try:
        cursor = connection.connection.cursor()
        try:
            yield cursor
        finally:
            cursor.close()
    except Exception as error:
        convert = connection.get_execution_options().get(CONVERT)
        converted = None if convert is None else convert(error)
        if converted is None:
            raise
        raise converted from error


class Prepared:
    """A statement that is compiled once for each database, and run by the driver itself.

    SQLAlchemy takes longer for a small statement than the database. Values are given as the driver
    takes them, and those of a `ValueList` as a list.

    Args:
        statement: The statement; it has a parameter for each value.
    """

    def __init__(self, statement: Executable) -> None:
        self._statement = statement
        self._compiled: dict[str, tuple[str, Sequence[str] | None, dict[str, Any]]] = {}

    def run(self, connection: Connection, **values: Any) -> None:  # noqa: ANN401 - of any type
        """Run the statement."""
        text, given = self._fill(connection.dialect, values)
        with open_cursor(connection) as cursor:
            cursor.execute(text, given)

    def fetch(self, connection: Connection, **values: Any) -> list[tuple[Any, ...]]:  # noqa: ANN401 - of any type
        """Run the statement, and return its rows."""
        text, given = self._fill(connection.dialect, values)
        with open_cursor(connection) as cursor:
            cursor.execute(text, given)
            rows: list[tuple[Any, ...]] = cursor.fetchall()
        return rows

    def run_each(self, connection: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
        """Run the statement for each of some rows of values."""
        filled = [self._fill(connection.dialect, row) for row in rows]
        if filled:
            with open_cursor(connection) as cursor:
                cursor.executemany(filled[0][0], [given for _, given in filled])

    def _fill(self, dialect: Dialect, values: Mapping[str, Any]) -> tuple[str, Any]:
        """Return the text, and the values as the driver takes them."""
        text, names, fixed = self._compile(dialect)
        given: Any = {**fixed, **values}
        return text, given if names is None else [_to_json(given[name]) for name in names]

    def _compile(self, dialect: Dialect) -> tuple[str, Sequence[str] | None, dict[str, Any]]:
        """Return the text, the order of values where they have no names, and the fixed values."""
        found = self._compiled.get(dialect.name)
        if found is None:
            compiled: Any = self._statement.compile(dialect=dialect)  # type: ignore[attr-defined]  # all have it
            names = compiled.positiontup if compiled.positional else None
            fixed = {name: value for name, value in compiled.params.items() if value is not None}
            found = self._compiled[dialect.name] = str(compiled), names, fixed
        return found


def _to_json(value: Any) -> Any:  # noqa: ANN401 - of any type
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list) else value


def insert_rows(connection: Connection, table: Table, rows: Sequence[tuple[Any, ...]]) -> None:
    """Insert rows with the values of all columns in their order, as the driver takes them."""
    if not rows:
        return
    if connection.dialect.name == POSTGRES:
        _copy_rows(connection, table, rows)
        return
    with open_cursor(connection) as cursor:
        cursor.executemany(_write_insert(table), rows)


@lru_cache(maxsize=16)
def _write_insert(table: Table) -> str:
    marks = ", ".join("?" for _ in table.columns)
    return f"INSERT INTO {table.name} VALUES ({marks})"  # noqa: S608 - a name of ours


COPIED_TYPES = {
    "big_integer": "int8",
    "integer": "int4",
    "small_integer": "int2",
    "text": "text",
    "large_binary": "bytea",
    "float": "float8",
    "boolean": "bool",
}
"""The names of PostgreSQL by those of SQLAlchemy's types."""


def _copy_rows(connection: Connection, table: Table, rows: Sequence[tuple[Any, ...]]) -> None:
    """Insert rows with COPY, in a fifth of the time of INSERT."""
    text, types = _compile_copy(table)
    with open_cursor(connection) as cursor, cursor.copy(text) as copied:
        copied.set_types(types)
        for row in rows:
            copied.write_row(row)


@lru_cache(maxsize=16)
def _compile_copy(table: Table) -> tuple[str, list[str]]:
    """Write the statement, and list the types of the columns."""
    columns = ", ".join(f'"{column.name}"' for column in table.columns)
    types = [COPIED_TYPES[column.type.__visit_name__] for column in table.columns]
    return f'COPY "{table.name}" ({columns}) FROM STDIN (FORMAT BINARY)', types
