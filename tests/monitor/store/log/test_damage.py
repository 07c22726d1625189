from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace

import pytest
from rankscope import FileError
from rankscope.monitor.events.limits import HOUR
from rankscope.monitor.store.records import Chosen
from rankscope.monitor.store.sqlite.store import SQLiteStore, open_sqlite_reader
from rankscope.monitor.store.tables.schema import blocks, bodies, ids, pending

from tests.monitor.store.conformance.samples import make_label, make_ranking
from tests.refusals import refuses

TABLES = {table.name: table for table in (blocks, bodies, ids, pending)}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A folder with a store of blocks of rankings and labels, and a label that waits."""
    folder = tmp_path_factory.mktemp("whole")
    with SQLiteStore(folder / "events.db", group_seconds=0) as store:
        shown = [
            replace(make_ranking(number), user_id="ann", time=number % 2 * HOUR + number)
            for number in range(4)
        ]
        store.append("music", [*shown, make_label(0, 0), make_label(1, 1)])
        store.append("music", [replace(make_ranking(9), time=HOUR, ranking_id="event-9")])
        store.append("music", [replace(make_label(7, 77), value=0.5, labels=())])
        store.verify()
    return folder


@pytest.fixture
def path(whole, tmp_path):
    shutil.copytree(whole, tmp_path, dirs_exist_ok=True)
    return tmp_path / "events.db"


def list_rows(connection, table):
    keys = ", ".join(column.name for column in table.primary_key)
    return connection.execute(f"SELECT {keys} FROM {table.name}").fetchall()  # noqa: S608


def find(table):
    return " AND ".join(f"{column.name} = ?" for column in table.primary_key)


def change(value, *, is_key):
    """Change one byte of a value in some ways, but for a key to none that is there."""
    if isinstance(value, int):
        return [value + 256] if is_key else [value + 256, value ^ 1]
    if isinstance(value, float):
        return [value + 2**-52]
    changed = bytearray(value.encode() if isinstance(value, str) else value)
    if not changed:
        return ["?"]
    changed[len(changed) // 2] ^= 1
    return [changed.decode() if isinstance(value, str) else bytes(changed)]


def assert_damaged(path):
    with closing(open_sqlite_reader(path)) as reader, refuses(FileError, "store_damaged"):
        reader.verify()


@pytest.mark.parametrize("name", TABLES)
def test_a_changed_byte_in_any_column_is_noticed(path, name):
    table, tried = TABLES[name], 0
    asked = ", ".join(column.name for column in table.columns)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        # Blocks of rankings and of labels; ids of rankings and labels.
        rows = connection.execute(f"SELECT {asked} FROM {name} LIMIT 3").fetchall()  # noqa: S608
        for row in rows:
            said = dict(zip((column.name for column in table.columns), row, strict=True))
            key = tuple(said[column.name] for column in table.primary_key)
            for column in table.columns:
                for value in change(said[column.name], is_key=column.primary_key):
                    connection.execute(
                        f"UPDATE {name} SET {column.name} = ? WHERE {find(table)}",  # noqa: S608
                        (value, *key),
                    )
                    assert_damaged(path)
                    new = said | {column.name: value}
                    connection.execute(
                        f"UPDATE {name} SET {column.name} = ? WHERE {find(table)}",  # noqa: S608
                        (said[column.name], *(new[one.name] for one in table.primary_key)),
                    )
                    tried += 1
    assert tried > len(table.columns) > 0
    with closing(open_sqlite_reader(path)) as reader:
        reader.verify()


@pytest.mark.parametrize("name", TABLES)
def test_a_missing_row_is_noticed(path, name):
    table, whole = TABLES[name], path.read_bytes()
    with closing(sqlite3.connect(path)) as connection:
        keys = list_rows(connection, table)
    assert keys
    for key in keys:
        path.write_bytes(whole)
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.execute(f"DELETE FROM {name} WHERE {find(table)}", key)  # noqa: S608
        assert_damaged(path)


def test_columns_of_another_block_are_noticed(path):
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        rows = connection.execute("SELECT block_id, body FROM bodies").fetchall()
        assert len(rows) == 5
        for number, body in rows:
            for other, put in rows:
                if other != number:
                    connection.execute(
                        "UPDATE bodies SET body = ? WHERE block_id = ?", (put, number)
                    )
                    assert_damaged(path)
            connection.execute("UPDATE bodies SET body = ? WHERE block_id = ?", (body, number))


@pytest.mark.parametrize("harm", ["DELETE FROM bodies{}", "UPDATE bodies SET body = x'00'{}"])
def test_no_block_is_passed_over_where_its_columns_are_damaged(path, harm):
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(harm.format(" WHERE block_id = (SELECT min(block_id) FROM blocks)"))
    with SQLiteStore(path) as store, refuses(FileError, "store_damaged"):
        store.erase("music", Chosen(user_id="ann", until=HOUR))


def test_a_changed_tally_is_noticed(path):
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("DELETE FROM meta WHERE name = 'blocks'")
    assert_damaged(path)
