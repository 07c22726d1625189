"""Every command of the monitor works while a service holds its store."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from rankscope.cli.commands import MONITOR, Group
from rankscope.errors import FileError
from rankscope.monitor.monitor import Monitor
from rankscope.monitor.store.keys import make_key
from rankscope.monitor.store.lending import place

from tests.cli.command import check_error, run
from tests.cli.monitored import CONFIGURED, make_events, write_lines
from tests.cli.test_serve import ask, serving
from tests.cli.test_setup import FILE

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.skipif(not place.IS_OFFERED, reason="the system doesn't tell who asks")
LIMIT = [
    "--kind",
    "limit",
    "-m",
    "nDCG@5",
    "--below",
    "0.999",
    "--hours",
    "48",
    "--since",
    "2026-09-04",
]
SCOPES = ["admin", "ingest", "read"]
NONE = 2
"""The status of a test of a webhook that nobody has set."""
LAKE = "lake"
"""The project that reads a data lake; all others are in the default one."""


def list_commands(group: Group, *words: str) -> Iterator[str]:
    """List the commands of a group, with the words of groups in it."""
    for name, command in group.commands.items():
        if isinstance(command, Group):
            yield from list_commands(command, *words, name)
        else:
            yield " ".join([*words, name])


def make_table(folder: Path) -> dict[str, tuple[list[str], int]]:
    """By command in the order of a working day: what it takes besides the store, and its status."""
    log, labels = str(folder / "log.jsonl"), str(folder / "labels.jsonl")
    days = ["--as-of", "2026-09-10"]
    return {
        "configure": ([*CONFIGURED], 0),
        "ingest": ([log], 0),
        "label": ([labels], 0),
        "configuration": ([], 0),
        "plan": ([str(folder / "rankscope.toml")], 0),
        "apply": ([str(folder / "rankscope.toml")], 0),
        "rule add": (["fall", *LIMIT], 0),
        "evaluate": (days, 0),
        "status": ([], 0),
        "expected": ([], 0),
        "check": (["--fail-on", "ALERT", "--max-age", "500d"], 1),
        "incidents": ([], 0),
        "incident acknowledge": (["INCIDENT", "--note", "seen"], 0),
        "incident snooze": (["INCIDENT", "--for", "4h"], 0),
        "incident resolve": (["INCIDENT"], 0),
        "rule list": ([], 0),
        "rule silence": (["fall", "--for", "8h"], 0),
        "rule resolve": (["fall"], 0),
        "rule remove": (["fall"], 0),
        "trace": ([*days, "--before", "version=3", "--after", "version=4"], 0),
        "compare": ([*days, "--old", "3", "--new", "4"], 3),  # they never serve at a time
        "explain": (["3-0", "-m", "nDCG@5"], 0),
        "channels": ([], 0),
        "channel test": (["webhook"], NONE),
        "webhook test": ([], NONE),
        "webhook set": (["https://1.1.1.1/hook"], 0),  # which nobody calls
        "webhook show": ([], 0),
        "webhook remove": ([], 0),
        "key make": (["ann", "--scope", "admin", "read"], 0),
        "key list": ([], 0),
        "key rotate": (["KEY", "--keep", "1h"], 0),
        "people add": (["ann@example.com", "--role", "operator"], 0),
        "people list": ([], 0),
        "people role": (["group:search", "viewer"], 0),
        "people reset-password": (["ann@example.com"], 0),
        "people disable": (["ann@example.com"], 0),
        "audit": ([], 0),
        "key revoke": (["KEY"], 0),
        "export": ([str(folder / "out")], 0),
        "backup": ([str(folder / "backups")], 0),
        "restore": ([str(folder / "restored.db")], NONE),
        "upgrade": ([], 0),
        "archive": (days, 0),
        "files": ([], 0),
        "delete": (["--user", "u1"], 0),
        "retain": (["--before", "2026-09-02"], 0),
        "doctor": ([], 1),
        "run": (["--project", LAKE, "--rankings", str(folder / "shown.parquet"), "--no-labels"], 0),
    }


def test_every_command_works_beside_a_service(tmp_path: Path) -> None:
    events = make_events()
    write_lines(tmp_path / "log.jsonl", events["rankings"])
    write_lines(tmp_path / "labels.jsonl", events["labels"])
    store = str(tmp_path / "events.db")
    (tmp_path / "rankscope.toml").write_text(FILE, encoding="utf-8")
    table = make_table(tmp_path)
    assert set(table) == set(list_commands(MONITOR))
    given = {"INCIDENT": "", "KEY": ""}
    statuses, said = {}, {}
    with serving(store, "--every", "100000"):
        for command, (words, _) in table.items():
            if command == "run":
                write_lake(tmp_path, store)
            if command == "key rotate":
                key = run("monitor", "key", "make", store, "bob", "--scope", "admin", "--json")
                given["KEY"] = json.loads(key.stdout)["key_id"]
            if command == "incident acknowledge":
                listed = run("monitor", "incidents", store, "--json")
                given["INCIDENT"] = json.loads(listed.stdout)[0]["id"]
            found = [given.get(word, word) for word in words]
            done = run("monitor", *command.split(), store, *found)
            statuses[command], said[command] = done.returncode, done.stderr.decode()
    assert statuses == {command: status for command, (_, status) in table.items()}, said
    assert not any("[store_locked]" in each for each in said.values())


NEEDS_STORE = {
    *("people add", "people disable", "people reset-password"),
    *("evaluate", "status", "expected", "check", "explain", "run"),
    *("export", "backup", "restore", "upgrade", "files", "doctor"),
}
"""Commands that read or write files beside the store, or compute much."""


def test_a_command_takes_the_url_of_a_service_or_says_that_it_needs_the_store(
    tmp_path: Path,
) -> None:
    events = make_events()
    write_lines(tmp_path / "log.jsonl", events["rankings"])
    write_lines(tmp_path / "labels.jsonl", events["labels"])
    file = tmp_path / "rankscope.toml"
    file.write_text(FILE.replace("music", "default"), encoding="utf-8")
    store = str(tmp_path / "events.db")
    given = {"INCIDENT": "", "KEY": ""}
    with serving(store, "--every", "100000") as (address, _):
        made = run("monitor", "key", "make", store, "ci", "--scope", *SCOPES, "--json")
        key = {"RANKSCOPE_KEY": json.loads(made.stdout)["key"]}
        for command, (words, status) in make_table(tmp_path).items():
            if command == "incident acknowledge":
                run("monitor", "rule", "add", store, "fall", *LIMIT)
                run("monitor", "evaluate", store, "--as-of", "2026-09-10")
                listed = run("monitor", "incidents", address, "--json", environment=key)
                given["INCIDENT"] = json.loads(listed.stdout)[0]["id"]
            if command == "key rotate":
                said = run("monitor", *["key", "list"], address, "--json", environment=key)
                given["KEY"] = json.loads(said.stdout)["keys"][-1]["key_id"]
            own = {"trace", "compare", "archive"}  # times of a store in their words
            found = [given.get(word, word) for word in words if command not in own]
            where = [] if command == "run" else [address]
            if command == "run":
                found = ["--store", address]
            done = run("monitor", *command.split(), *where, *found, environment=key)
            if command in NEEDS_STORE:
                assert "this command needs the store itself" in check_error(done, 2, "usage")
            elif command in {"trace", "compare"}:
                assert done.returncode in {0, 2, 3}, done
                assert b"needs the store" not in done.stderr
            else:
                assert done.returncode == status, (command, done)


def write_lake(folder: Path, store: str) -> None:
    """Write the rankings as a file of a lake, and configure its project."""
    run("monitor", "export", store, str(folder / "shown"))
    (folder / "shown" / "rankings.parquet").rename(folder / "shown.parquet")
    run("monitor", "configure", store, *CONFIGURED, "--project", LAKE)


@pytest.fixture
def store(tmp_path: Path) -> str:
    """A store that is configured."""
    path = str(tmp_path / "events.db")
    assert run("monitor", "configure", path, *CONFIGURED).returncode == 0
    return path


def add_rule(store: str, name: str = "fall") -> subprocess.CompletedProcess[bytes]:
    """Add a rule, which changes the store."""
    return run("monitor", "rule", "add", store, name, "-m", "nDCG@5")


def test_the_audit_log_and_the_log_name_the_user_of_the_system(store: str) -> None:
    with serving(store) as (_, process):
        assert add_rule(store).returncode == 0
        process.send_signal(signal.SIGTERM)
        _, told = process.communicate(timeout=300)
    lines = [json.loads(line) for line in told.decode().splitlines()]
    [line] = [line for line in lines if line["event"] == "command"]
    user = place.Peer(0, os.getuid()).user
    assert (line["user"], line["writes"]) == (user, {"save_rules": 1})
    with Monitor.open(store, writes=False) as monitor:
        assert monitor.store.audit("default")[-1].actor == f"command line ({user})"


def test_a_key_opens_the_service_at_once_and_no_longer_once_it_is_revoked(store: str) -> None:
    with serving(store) as (address, _):
        assert ask(address, "/v1/configuration")[0] == 200
        scopes = ["--scope", "admin", "read", "--json"]
        made = [
            json.loads(run("monitor", "key", "make", store, name, *scopes).stdout)
            for name in ("ann", "bob")
        ]
        assert ask(address, "/v1/configuration")[0] == 401
        assert ask(address, "/v1/configuration", made[0]["key"])[0] == 200
        assert run("monitor", "key", "revoke", store, made[0]["key_id"]).returncode == 0
        assert ask(address, "/v1/configuration", made[0]["key"])[0] == 401
        assert ask(address, "/v1/configuration", made[1]["key"])[0] == 200


def test_after_a_kill_the_store_can_be_written_and_served_again(store: str) -> None:
    with serving(store) as (_, process):
        process.kill()
        process.wait()
        assert Path(f"{store}.run", place.NAME).is_socket()
        assert add_rule(store, "one").returncode == 0
    with serving(store):
        assert add_rule(store, "two").returncode == 0
    with Monitor.open(store, writes=False) as monitor:
        assert {"one", "two"} <= {rule.name for rule in monitor.rules()}


def test_nothing_is_left_of_a_service_that_has_ended(store: str) -> None:
    with serving(store) as (_, process):
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=300)
    assert not Path(f"{store}.run").exists()


def test_a_path_may_be_longer_than_a_socket_takes(tmp_path: Path) -> None:
    folder = tmp_path / ("long" * 40)
    folder.mkdir()
    store = str(folder / "events.db")
    with serving(store):
        assert run("monitor", "configure", store, *CONFIGURED).returncode == 0


def test_a_link_to_the_store_leads_to_its_service(store: str, tmp_path: Path) -> None:
    link = tmp_path / "link.db"
    link.symlink_to(store)
    with serving(str(link)):
        assert add_rule(str(link), "one").returncode == 0
        assert add_rule(store, "two").returncode == 0


def test_a_folder_of_the_socket_that_is_a_link_is_not_followed(store: str, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir(0o700)
    Path(f"{store}.run").symlink_to(other)
    with serving(store) as (address, _):
        assert ask(address, "/healthz")[0] == 200
        check_error(add_rule(store), 4, "store_locked")
    assert list(other.iterdir()) == []


def test_a_folder_that_others_can_enter_is_refused(store: str) -> None:
    with serving(store):
        Path(f"{store}.run").chmod(0o755)
        check_error(add_rule(store), 4, "io")


def test_another_service_of_the_same_store_leaves_the_socket_of_the_first(store: str) -> None:
    with serving(store):
        check_error(run("serve", store, "--port", "0"), 4, "store_locked")
        assert add_rule(store).returncode == 0


CONNECT = """
import os, socket, sys
from rankscope.monitor.store.lending.messages import Channel
os.setuid(65534)
opened = socket.socket(socket.AF_UNIX)
opened.connect(sys.argv[1])
[what, error] = Channel(opened).receive()
print(what, error.code, error.message)
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user")
def test_another_user_is_refused_even_where_the_files_let_them_in(store: str) -> None:
    with serving(store):
        folder = Path(f"{store}.run")
        folder.chmod(0o777)
        (folder / place.NAME).chmod(0o777)
        opened = os.open(folder, os.O_PATH)
        done = subprocess.run(
            [sys.executable, "-c", CONNECT, f"/proc/self/fd/{opened}/{place.NAME}"],
            pass_fds=[opened],
            capture_output=True,
            text=True,
            check=False,
        )
        os.close(opened)
    assert done.stdout.startswith("failed store_locked the store belongs to a service of another")


def test_a_store_that_no_service_holds_stays_locked(store: str) -> None:
    with Monitor.open(store):
        check_error(add_rule(store), 4, "store_locked")


def test_a_program_writes_beside_a_service_too(store: str) -> None:
    shown = {"ranking_id": "r", "time": "2026-09-01T00:00:00Z", "doc_ids": ["a", "b"]}
    with serving(store), Monitor.open(store) as monitor:
        assert monitor.log_rankings([shown]).accepted == 1
        assert monitor.log_rankings([shown]).duplicate == 1
        key, _ = make_key("default", ["admin"], name="ann", now=0)
        monitor.writer.add_key(key, "ann")
        assert [key.name for key in monitor.store.keys("default")] == ["ann"]


def test_a_command_is_told_that_the_service_has_ended(store: str) -> None:
    with serving(store) as (_, process), Monitor.open(store) as monitor:
        process.kill()
        process.wait()
        with pytest.raises(FileError) as ended:
            monitor.log_rankings([{"ranking_id": "r", "time": "2026-09-01", "doc_ids": ["a"]}])
    assert ended.value.code == "service"
