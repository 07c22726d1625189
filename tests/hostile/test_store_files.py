"""Only the owner reads the files of a store; none but one has secrets; damage is no traceback."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
from functools import partial

import pytest
from rankscope import UsageError
from rankscope.monitor.doctor import examine
from rankscope.monitor.monitor import Monitor
from rankscope.monitor.notify.delivery import Deliverer, write_to_log
from rankscope.monitor.notify.webhook import call, find_webhook, remove_webhook, set_webhook
from rankscope.monitor.store.export import export_parquet
from rankscope.monitor.store.keys import AuditEntry, Secret
from rankscope.monitor.store.records import NoticeRow, Webhook
from rankscope.monitor.store.sqlite.secrets import SecretFile
from rankscope.monitor.store.sqlite.store import SQLiteStore, open_sqlite_reader
from rankscope.monitor.store.tables import outbox as outbox_rows
from rankscope.monitor.store.tables.rules import save_rules

from tests.cli.command import run
from tests.hostile.test_store_integrity import (
    RULE,
    copy_files,
    path_of,
    windows,
    windows_once,
)
from tests.monitor.store.conformance.samples import make_label, make_ranking
from tests.monitor.store.copies import copy_store
from tests.refusals import refused, refuses

__all__ = ["windows", "windows_once"]  # fixtures

POSIX = pytest.mark.skipif(os.name != "posix", reason="modes of files are of POSIX")
SECRET = "whsec_" + "c2VjcmV0IG9mIGEgd2ViaG9vayEh" * 2
URL = "https://example.com/hook"
NO_UMASK = """
import os, sys, types
os.umask(0)
from rankscope._cli import main
from rankscope._demo import monitor
monitor.make_story = lambda *_, **__: types.SimpleNamespace(start=0)
monitor._print_story = lambda *_: None
sys.exit(main(sys.argv[1:]))
"""
"""The program, without a umask, and with a demo that makes its store and plays nothing."""


class Accepting:
    """A poster that finds every address good, and posts nothing."""

    def check(self, _target):
        """Judge an address."""

    def post(self, *_):
        raise AssertionError("it was to be posted")


def hook(store, secret=SECRET, project="music"):
    poster, given = Accepting(), Secret(secret)
    set_webhook(store, project, URL, poster=poster, now=1, actor="ann", secret=given)


def modes_of(folder):
    return {
        str(path.relative_to(folder)): stat.S_IMODE(path.stat().st_mode)
        for path in folder.rglob("*")
    }


@pytest.fixture
def no_umask():
    """Let files be made with all permissions that are asked for."""
    before = os.umask(0)
    yield
    os.umask(before)


@POSIX
@pytest.mark.usefixtures("no_umask")
def test_only_the_owner_reads_what_a_store_writes(tmp_path):
    with SQLiteStore(tmp_path / "events.db") as store:
        store.append("music", [make_ranking(1), make_label(1, 1)])
        hook(store)
        copy_store(store, tmp_path / "copy.db")
        shutil.rmtree(tmp_path / "copy.db.backups")  # whose modes have a test of their own
        export_parquet(store, "music", tmp_path / "exported")
        found = modes_of(tmp_path)
    assert found.pop("exported") == 0o700
    assert set(found) == {
        "events.db",
        "events.db-wal",
        "events.db-shm",
        "events.db.high-water",
        "events.db.lock",
        "events.db.secrets",
        "copy.db",
        "copy.db.high-water",
        "exported/rankings.parquet",
        "exported/labels.parquet",
    }
    assert set(found.values()) == {0o600}


@POSIX
def test_only_the_owner_reads_what_commands_write(tmp_path):
    demo = tmp_path / "demo"
    words = ["demo", "--once", "--keep", str(demo)]
    done = subprocess.run(
        [sys.executable, "-c", NO_UMASK, *words], capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    assert stat.S_IMODE(demo.stat().st_mode) == 0o700
    found = modes_of(demo)
    assert "story.db" in found
    assert set(found.values()) == {0o600}


@POSIX
@pytest.mark.usefixtures("no_umask")
def test_files_of_an_earlier_version_are_closed_to_others(tmp_path):
    path = tmp_path / "events.db"
    with SQLiteStore(path) as store:
        hook(store)
    for file in tmp_path.iterdir():
        file.chmod(0o644)
    with Monitor.open(str(path), "music", writes=False) as monitor:
        found = {one.name: one for one in examine(monitor, path)}["files"]
        assert not found.is_good
        assert "events.db (644)" in found.told
    with SQLiteStore(path) as store:
        store.append("music", [make_ranking(1)])
        assert set(modes_of(tmp_path).values()) == {0o600}
    with Monitor.open(str(path), "music", writes=False) as monitor:
        assert {one.name: one for one in examine(monitor, path)}["files"].is_good


def bytes_of(folder, *, without=".secrets"):
    """All files but those with an ending, end to end."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return b"".join(path.read_bytes() for path in files if not path.name.endswith(without))


def test_the_secret_of_a_webhook_is_in_no_other_file(tmp_path):
    path = tmp_path / "events.db"
    with SQLiteStore(path) as store:
        store.append("music", [make_ranking(1)])
        hook(store)
        copy_store(store, tmp_path / "copy.db")
        export_parquet(store, "music", tmp_path / "exported")
        assert SECRET.encode() not in bytes_of(tmp_path)
        found = find_webhook(store, "music")
        assert found.secret.reveal() == SECRET
    assert SECRET.encode() not in bytes_of(tmp_path)
    # Any process of the same owner can sign.
    assert find_webhook(open_sqlite_reader(path), "music").secret is not None


def test_a_secret_that_is_not_used_any_more_is_removed(tmp_path):
    path = tmp_path / "events.db"
    secrets = tmp_path / "events.db.secrets"
    with SQLiteStore(path) as store:
        hook(store)
        hook(store, project="films")
        other = "whsec_" + "b3RoZXIgc2VjcmV0IG9mIGEgd2Vi" * 2
        hook(store, other)
        assert secrets.read_text().count("whsec_") == 2
        remove_webhook(store, "films", now=2, actor="ann")
        assert secrets.read_text().count("whsec_") == 1
        assert other in secrets.read_text()
        with pytest.raises(ZeroDivisionError):
            store.transact(fail_after_setting).result()
        assert SECRET not in secrets.read_text()
    # One whose transaction was not committed is removed when the store is opened again.
    SecretFile(path).add("unused", Secret(SECRET))
    assert SECRET in secrets.read_text()
    with SQLiteStore(path) as store:
        assert SECRET not in secrets.read_text()
        assert find_webhook(store, "music").secret.reveal() == other


def fail_after_setting(transaction):
    """Set a webhook in a transaction that fails."""
    webhook = Webhook(URL, Secret(SECRET), False, 1)
    audit = AuditEntry(1, "ann", "webhook.set", "")
    outbox_rows.set_webhook(transaction, "music", webhook, audit)
    raise ZeroDivisionError


@pytest.mark.parametrize("content", [None, b"", b"{", b"[]", b'{"secrets": {"a": 1}}', b"\xff"])
def test_after_a_restore_the_webhook_needs_its_secret_again(tmp_path, content):
    with SQLiteStore(tmp_path / "events.db") as store:
        hook(store)
        copy_store(store, tmp_path / "copy.db")
    path = tmp_path / "copy.db"
    secrets = tmp_path / "copy.db.secrets"
    if content is not None:
        secrets.write_bytes(content)
    with Monitor.open(str(path), "music") as monitor:
        webhook = find_webhook(monitor.store, "music")
        assert webhook.secret is None
        with refuses(UsageError, "webhook_secret_missing", match="set the webhook again"):
            call(Accepting(), webhook, "n", "{}", 1)
        if content is not None:
            refused(lambda: hook(monitor.store), "store_secrets")
            secrets.unlink()
        hook(monitor.store)
        assert find_webhook(monitor.store, "music").secret.reveal() == SECRET


def test_a_missing_secret_keeps_no_other_notification(tmp_path):
    with SQLiteStore(tmp_path / "events.db") as store:
        hook(store)
        rule = partial(
            save_rules,
            project="music",
            rows=[RULE],
            notices=[NoticeRow("a", 10, '{"type": "t", "time": ""}', ("log", "webhook"))],
        )
        assert store.transact(rule).result() == []
        (tmp_path / "events.db.secrets").write_bytes(b"damaged")
        logged = []
        deliverer = Deliverer(
            store,
            log=partial(write_to_log, lambda event, _fields: logged.append(event)),
            poster=Accepting(),
            now=lambda: 10,
        )
        assert deliverer.step() == 2
        letters = store.query(partial(outbox_rows.list_notifications, project="music", limit=9))
    became = {letter.channel: (letter.status, letter.problem) for letter in letters}
    assert became["log"] == ("delivered", "")
    status, problem = became["webhook"]
    assert (status, "set the webhook again" in problem) == ("waiting", True)
    assert logged == ["t"]


@pytest.mark.slow
def test_the_command_shows_that_a_secret_is_missing(windows, tmp_path):
    hook(windows.store, project="default")
    copy = tmp_path / "copy.db"
    copy_store(windows.store, copy)
    shown = run("monitor", "webhook", "show", str(path_of(windows)))
    assert b"needs_secret\tno\n" in shown.stdout
    shown = run("monitor", "webhook", "show", str(copy))
    assert (shown.returncode, b"needs_secret\tyes\n" in shown.stdout) == (0, True)
    tried = run("monitor", "webhook", "test", str(copy), "--json")
    assert tried.returncode == 1
    assert "set the webhook again" in json.loads(tried.stdout)["told"]
    with Monitor.open(str(copy), writes=False) as monitor:
        found = {one.name: one for one in examine(monitor, copy)}["notifications"]
    assert not found.is_good
    assert "secret" in found.told


@pytest.mark.parametrize(
    "words",
    [("doctor",), ("key", "list"), ("export", "folder"), ("evaluate",), ("rule", "remove", "x")],
    ids=" ".join,
)
def test_a_store_of_zero_bytes_is_named_and_nothing_is_written(tmp_path, words):
    path = tmp_path / "events.db"
    path.touch()
    at = 2 if words[0] in {"key", "rule", "webhook"} else 1
    more = [str(tmp_path / word) if word == "folder" else word for word in words[at:]]
    done = run("monitor", *words[:at], str(path), *more)
    assert done.returncode == 4, done.stderr.decode()
    assert b"Traceback" not in done.stderr
    assert b"the file is empty, so it is not a store" in done.stderr
    assert b"Hint: " in done.stderr
    assert done.stdout == b""
    assert [file.name for file in tmp_path.iterdir()] == ["events.db"]
    assert path.stat().st_size == 0


def test_an_empty_file_in_the_place_of_a_store_is_a_loss(tmp_path):
    path = tmp_path / "events.db"
    with SQLiteStore(path) as store:
        store.append("music", [make_ranking(1)])
        kept = copy_files(path, tmp_path / "kept")
        log = kept.with_name("events.db-wal").read_bytes()
        kept.write_bytes(b"")
        for _ in range(2):
            refused(lambda: SQLiteStore(kept), "store_lost")
        # SQLite would have deleted it.
        assert kept.with_name("events.db-wal").read_bytes() == log
        shutil.copy(path, kept)
    with SQLiteStore(kept) as store:
        assert store.last_seq == 1


def test_a_new_store_may_begin_as_an_empty_file(tmp_path):
    path = tmp_path / "events.db"
    path.touch(mode=0o644)
    with SQLiteStore(path) as store:
        store.append("music", [make_ranking(1)])
    assert open_sqlite_reader(path).last_seq == 1
