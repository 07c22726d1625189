"""Beside a service, a command reads the store, writes with the URL, or says what to do."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from rankscope.cli.commands import MONITOR, Group

from tests.cli.command import check_error, run
from tests.cli.monitored import CONFIGURED, LIMIT, make_events, write_lines
from tests.cli.test_serve import serving
from tests.cli.test_setup import FILE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SCOPES = ["admin", "ingest", "read"]
NONE = 2
"""The status of a test of a webhook that nobody has set."""


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
        "delete": (["--user", "u1"], 0),
        "retain": (["--before", "2026-09-02"], 0),
        "doctor": ([], 1),
    }


def fill(store: str, folder: Path) -> None:
    """Fill a store with a project that is evaluated and has an incident."""
    events = make_events()
    log = write_lines(folder / "log.jsonl", events["rankings"])
    labels = write_lines(folder / "labels.jsonl", events["labels"])
    text = FILE.replace("music", "default")
    (folder / "rankscope.toml").write_text(text, encoding="utf-8")
    for words in (
        ["configure", store, *CONFIGURED],
        ["ingest", store, str(log)],
        ["label", store, str(labels)],
        ["rule", "add", store, "fall", *LIMIT],
        ["evaluate", store, "--as-of", "2026-09-10"],
    ):
        done = run("monitor", *words)
        assert done.returncode == 0, done


READING = {
    *("configuration", "plan", "status", "check", "incidents"),
    *("rule list", "trace", "compare", "explain", "channels", "channel test", "webhook test"),
    *("webhook show", "key list", "people list", "audit", "export", "backup", "restore"),
    "doctor",
}
"""Commands that only read the store, which goes on beside a service."""
NEEDS_STORE = {
    *("people add", "people disable", "people reset-password"),
    *("status", "check", "explain"),
    *("export", "backup", "restore", "upgrade", "doctor"),
}
"""Commands that read or write files beside the store, or compute much."""


@pytest.mark.slow
def test_beside_a_service_a_command_reads_the_store_or_says_what_to_do(tmp_path: Path) -> None:
    store = str(tmp_path / "events.db")
    fill(store, tmp_path)
    table = make_table(tmp_path)
    assert set(table) == set(list_commands(MONITOR))
    with serving(store, "--every", "100000"):
        for command, (words, status) in table.items():
            done = run("monitor", *command.split(), store, *words)
            if command in READING:
                assert done.returncode == status, (command, done)
            elif command == "upgrade":
                assert done.returncode == 0  # nothing is to be done
            else:
                check_error(done, 4, "store_locked")
                assert b"pass its URL" in done.stderr
                assert b"RANKSCOPE_KEY" in done.stderr


@pytest.mark.slow
def test_a_command_takes_the_url_of_a_service_or_says_that_it_needs_the_store(
    tmp_path: Path,
) -> None:
    store = str(tmp_path / "events.db")
    fill(store, tmp_path)
    made = run("monitor", "key", "make", store, "ci", "--scope", *SCOPES, "--json")
    key = {"RANKSCOPE_KEY": json.loads(made.stdout)["key"]}
    listed = run("monitor", "incidents", store, "--json")
    given = {"INCIDENT": json.loads(listed.stdout)[0]["id"], "KEY": ""}
    with serving(store, "--every", "100000") as (address, _):
        # Other commands end the incident.
        table = sorted(make_table(tmp_path).items(), key=lambda row: "incident " not in row[0])
        for command, (words, status) in table:
            if command == "key rotate":
                said = run("monitor", *["key", "list"], address, "--json", environment=key)
                given["KEY"] = json.loads(said.stdout)["keys"][-1]["key_id"]
            own = {"evaluate", "trace", "compare"}  # times of a store in their words
            found = [given.get(word, word) for word in words if command not in own]
            done = run("monitor", *command.split(), address, *found, environment=key)
            if command in NEEDS_STORE:
                assert "this command needs the store itself" in check_error(done, 2, "usage")
            elif command in {"trace", "compare"}:
                assert done.returncode in {0, 2, 3}, done
                assert b"needs the store" not in done.stderr
            else:
                assert done.returncode == status, (command, done)
        refused = run("monitor", "evaluate", address, "--as-of", "2026-09-10", environment=key)
        assert "the URL of a service" in check_error(refused, 2, "usage")
