from __future__ import annotations

import signal
import sqlite3
from contextlib import closing

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from rankscope.errors import FileError
from rankscope.monitor.store import open_reader, open_store
from rankscope.monitor.store.sqlite.store import SQLiteStore, open_sqlite_reader
from rankscope.monitor.store.tables import revisions, schema, version

from tests.monitor.store.conformance import make_ranking
from tests.monitor.store.next_release import FOLDER
from tests.monitor.store.processes import run_python
from tests.refusals import refuses

RELEASE = FOLDER.with_name("next_release.py")


@pytest.fixture
def path(tmp_path):
    made = tmp_path / "events.db"
    with SQLiteStore(made) as store:
        store.append("music", [make_ranking(1)])
    return made


@pytest.fixture
def next_revision(monkeypatch):
    """Know the next revision, which only adds, in this process."""
    monkeypatch.setitem(version.REVISIONS, "0002", "0001")
    monkeypatch.setattr(revisions, "FOLDERS", [*revisions.FOLDERS, FOLDER])


def run_next(*words):
    return run_python(RELEASE, *words)


def read_shape(connection):
    found = sa.inspect(connection)
    return {
        table: {each["name"]: each for each in found.get_columns(table)}
        for table in found.get_table_names()
    }


def only_adds(before, after):
    """Whether releases that know some tables can use others: the rule of an upgrade in place."""
    for table, columns in before.items():
        if table not in after:
            return False
        for name, column in columns.items():
            now = after[table].get(name)
            if now is None or (repr(now["type"]), now["nullable"]) != (
                repr(column["type"]),
                column["nullable"],
            ):
                return False
        for name in after[table].keys() - columns.keys():
            column = after[table][name]
            if not column["nullable"] and column["default"] is None:
                return False
    return True


def find_shapes():
    engine = sa.create_engine("sqlite://", poolclass=sa.pool.StaticPool)
    for number in version.REVISIONS:
        with engine.begin() as connection:
            config = revisions._configure()
            config.attributes["connection"] = connection
            command.upgrade(config, number)
        with engine.connect() as connection:
            yield number, read_shape(connection)


def test_the_revisions_are_those_of_the_files_and_keep_what_they_promise_to_earlier_releases():
    scripts = ScriptDirectory.from_config(revisions._configure())
    listed = [script.revision for script in scripts.walk_revisions()]
    assert listed[::-1] == list(version.REVISIONS)
    assert all(oldest <= number for number, oldest in version.REVISIONS.items())
    shapes = dict(find_shapes())
    for number, oldest in version.REVISIONS.items():
        assert only_adds(shapes[oldest], shapes[number])


def test_the_revisions_make_the_tables_of_the_metadata():
    engine = sa.create_engine("sqlite://", poolclass=sa.pool.StaticPool)
    with engine.begin() as connection:
        config = revisions._configure()
        config.attributes["connection"] = connection
        command.upgrade(config, version.find_head())
        context = MigrationContext.configure(connection, opts={"compare_server_default": True})
        assert compare_metadata(context, schema.TABLES) == []
        # The comparison sees what is missing.
        connection.exec_driver_sql("DROP INDEX blocks_by_seq")
        assert [each[0] for each in compare_metadata(context, schema.TABLES)] == ["add_index"]


@pytest.mark.usefixtures("next_revision")
def test_a_revision_that_says_so_only_adds():
    (_, first), (_, second) = find_shapes()
    assert only_adds(first, second)
    assert not only_adds(second, first)


def test_the_rule_refuses_what_an_earlier_release_would_miss():
    column = {"type": sa.Text(), "nullable": True, "default": None}
    needed = {**column, "nullable": False}
    before = {"projects": {"name": needed}}
    assert only_adds(before, {**before, "notes": {"text": needed}})
    assert only_adds(before, {"projects": {"name": needed, "owner": column}})
    assert only_adds(before, {"projects": {"name": needed, "rank": {**needed, "default": "0"}}})
    for after in (
        {},
        {"projects": {}},
        {"projects": {"name": column}},
        {"projects": {"name": {**needed, "type": sa.Integer()}}},
        {"projects": {"name": needed, "owner": needed}},
    ):
        assert not only_adds(before, after)


def test_a_store_that_needs_an_upgrade_says_the_command_and_stays_as_it_was(path, request):
    request.getfixturevalue("next_revision")  # which the store was made without
    before = path.read_bytes()
    for opens in (open_store, open_reader):
        with refuses(FileError, "store_upgrade", match="0001, and this release uses revision 0002"):
            opens(f"sqlite:///{path}")
    assert path.read_bytes() == before


def test_an_upgrade_keeps_everything_and_earlier_releases_go_on(path):
    done = run_next("monitor", "upgrade", path, "--backup-to", path.with_name("backups"))
    assert done.returncode == 0, done.stderr
    assert "0002\tAdd a table of notes" in done.stdout
    assert "only adds" in done.stdout
    again = run_next("monitor", "upgrade", path)
    assert again.stdout == f"{path} has revision 0002: nothing to do\n"
    # This release doesn't know the revision, and the store says that it can use it.
    with SQLiteStore(path) as store:
        assert store.append("music", [make_ranking(2)])[0].seq == 2
        store.verify()
    assert run_next("monitor", "doctor", path).stdout.startswith("ok\tstore")
    with closing(sqlite3.connect(path)) as connection:
        rows = list(connection.execute("SELECT name, owner, rank FROM projects"))
    assert rows == [("music", None, 0)]
    # The backup is of the revision before.
    restored = path.with_name("restored.db")
    done = run_next("monitor", "restore", path.with_name("backups"), restored)
    assert done.returncode == 0, done.stderr
    with SQLiteStore(restored) as store:
        assert store.last_seq == 1


def test_a_plan_changes_nothing_and_an_upgrade_waits_for_no_service(path):
    before = path.read_bytes()
    done = run_next("monitor", "upgrade", path, "--plan")
    assert done.stdout.splitlines()[1].startswith("0002\tAdd")
    assert path.read_bytes() == before
    assert not path.with_name("events.db.backups").exists()
    with SQLiteStore(path):
        done = run_next("monitor", "upgrade", path)
    assert done.returncode == 4
    assert "[store_locked]" in done.stderr
    assert "Hint: stop the service" in done.stderr


def test_an_upgrade_that_is_killed_has_not_happened(path, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setenv("RANKSCOPE_TEST_KILL", "upgrade")
        done = run_next("monitor", "upgrade", path)
    assert done.returncode == -signal.SIGKILL
    with SQLiteStore(path) as store:  # the revision before, with nothing of the next one
        assert store.last_seq == 1
        tables = store.query(lambda connection: sa.inspect(connection).get_table_names())
        assert "notes" not in tables
        assert store.query(revisions.find_revision) == "0001"
    assert run_next("monitor", "upgrade", path, "--no-backup").returncode == 0
    with open_sqlite_reader(path) as store:
        assert store.query(revisions.find_revision) == "0002"


def test_a_release_that_knows_less_has_nothing_to_upgrade(path):
    assert run_next("monitor", "upgrade", path, "--no-backup").returncode == 0
    with SQLiteStore(path, before_upgrade=lambda _: None) as store:
        assert store.query(revisions.find_revision) == "0002"
