"""Accounts, roles, keys that are replaced, and the audit log on the command line."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from tests.cli.command import check_error, run

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any


def say(*words: str, store: Path, status: int = 0) -> Any:  # noqa: ANN401 - JSON
    """Run a command on a store, and return what it prints as JSON."""
    verb, rest = words[:2], words[2:]
    done = run("monitor", *verb, str(store), *rest, "--json")
    assert done.returncode == status, done.stderr
    return json.loads(done.stdout) if done.stdout else None


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "music.db"


def test_a_link_is_printed_once_and_stored_nowhere(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    added = run("monitor", "people", "add", str(store), "Ann@example.com")
    assert re.fullmatch(rb"/set-password\?link=[0-9a-f]{64}\n", added.stdout)
    assert b"RANKSCOPE_PUBLIC_URL" in added.stderr
    link = added.stdout.decode().strip().partition("=")[2]
    assert all(link.encode() not in path.read_bytes() for path in store.parent.glob("music.db*"))
    monkeypatch.setenv("RANKSCOPE_PUBLIC_URL", "https://rank.example.com/")
    reset = run("monitor", "people", "reset-password", str(store), "ann@example.com")
    assert reset.stdout.startswith(b"https://rank.example.com/set-password?link=")
    assert (reset.stderr, link.encode() in reset.stdout) == (b"", False)


def test_what_is_no_person_is_refused(store: Path) -> None:
    say("people", "add", "ann@example.com", store=store)
    for words, code in (
        (("add", "ann@example.com"), "known_person"),
        (("add", "ann"), "bad_email"),
        (("add", "group:search"), "bad_email"),
        (("disable", "ben@example.com"), "unknown_person"),
        (("reset-password", "ben@example.com"), "unknown_person"),
        (("role", "group:", "viewer"), "bad_group"),
        (("role", "ann@example.com", "viewer", "--all-projects"), "usage"),
        (("role", "ann@example.com", "owner"), "usage"),
    ):
        verb, *rest = words
        check_error(run("monitor", "people", verb, str(store), *rest), 2, code)
    for verb in ("add", "disable", "reset-password"):
        url = "https://rank.example.com"
        check_error(run("monitor", "people", verb, url, "ann@example.com"), 2, "usage")


def test_roles_are_listed_by_member(store: Path) -> None:
    say("people", "add", "ann@example.com", "--role", "operator", store=store)
    say("people", "role", "group:search", "editor", "--project", "music", store=store)
    say("people", "role", "group:search", "viewer", "--project", "films", store=store)
    assert say("people", "list", store=store)["people"] == [
        {"member": "ann@example.com", "roles": "operator", "account": "invited"},
        {"member": "group:search", "roles": "films: viewer, music: editor", "account": "-"},
    ]
    say("people", "role", "group:search", "none", "--project", "films", store=store)
    [_, group] = say("people", "list", "--project", "music", store=store)["people"]
    assert group["roles"] == "music: editor"
    say("people", "role", "ben@example.com", "operator", store=store)
    say("people", "role", "ann@example.com", "none", "--all-projects", store=store)
    assert say("people", "list", store=store)["people"][0]["roles"] == ""
    last = run("monitor", "people", "role", str(store), "ben@example.com", "none", "--all-projects")
    check_error(last, 2, "no_administrator")


def test_a_key_is_rotated_with_its_scopes_and_its_lifetime(store: Path) -> None:
    say("people", "add", "ann@example.com", "--role", "operator", store=store)
    made = say("key", "make", "log", "--scope", "ingest", "--expires", "90d", store=store)
    new = say("key", "rotate", made["key_id"], "--keep", "2h", store=store)
    assert (new["name"], new["scopes"]) == (made["name"], made["scopes"])
    assert new["key"] != made["key"]
    old, successor = say("key", "list", store=store)["keys"]
    assert old["expires"] < successor["expires"]
    assert successor["creator"] == "command line"
    check_error(run("monitor", "key", "rotate", str(store), "0" * 16), 2, "unknown_key")


def test_the_audit_log_is_read_by_project_or_whole(store: Path) -> None:
    say("people", "add", "ann@example.com", store=store)
    say("people", "role", "ann@example.com", "viewer", "--project", "music", store=store)
    say("people", "role", "ann@example.com", "admin", "--project", "music", store=store)
    whole = run("monitor", "audit", str(store), "--ndjson").stdout.splitlines()
    entries = [json.loads(line) for line in whole]
    assert [each["action"] for each in entries] == ["role.set", "role.set", "person.add"]
    assert (entries[0]["before"], entries[0]["after"]) == ("viewer", "admin")
    own = json.loads(run("monitor", "audit", str(store), "--project", "music", "--json").stdout)
    assert own["entries"] == entries[:2]
