"""Roles as code: what a file says of them is made so, and what it leaves out stays."""

from __future__ import annotations

from pathlib import Path

import pytest
from rankscope.monitor.setup.file import read_setup
from rankscope.monitor.setup.plan import apply_projects, find_plan
from rankscope.monitor.setup.project import Project, find_project
from rankscope.monitor.setup.toml import write_setup
from rankscope.monitor.store.sqlite.store import SQLiteStore

NOW = 1_795_284_000_000_000
FILE = """
[projects.music.definition]
window = "24h"
attribution.positive = {click = 1}
"""
ROLES = """
[projects.music.roles]
viewer = ["group:everyone", "Ben@example.com"]
admin = ["ann@example.com"]
"""


def read(folder: Path, text: str) -> Project:
    file = folder / "rankscope.toml"
    file.write_text(text)
    [project] = read_setup(str(file)).projects
    return project


def apply(store: SQLiteStore, wanted: Project) -> list[str]:
    [plan] = apply_projects(store, [wanted], now=NOW, actor="ann")
    return [line for step in plan.steps if step.what == "roles" for line in step.changes]


def test_roles_are_made_as_the_file_says_and_others_are_taken_away(
    tmp_path: Path, store: SQLiteStore
) -> None:
    store.set_roles("music", {"eve@example.com": "admin", "group:everyone": "editor"}, 1, "eve")
    assert apply(store, read(tmp_path, FILE + ROLES)) == [
        "ann@example.com: none → admin",
        "ben@example.com: none → viewer",
        "eve@example.com: admin → none",
        "group:everyone: editor → viewer",
    ]
    assert store.roles("music") == {
        "ann@example.com": "admin",
        "ben@example.com": "viewer",
        "group:everyone": "viewer",
    }
    assert apply(store, read(tmp_path, FILE + ROLES)) == []


def test_a_file_without_roles_leaves_them_alone(tmp_path: Path, store: SQLiteStore) -> None:
    apply(store, read(tmp_path, FILE + ROLES))
    before = store.roles("music")
    assert apply(store, read(tmp_path, FILE)) == []
    assert store.roles("music") == before
    assert len(apply(store, read(tmp_path, FILE + "[projects.music.roles]\n"))) == 3
    assert store.roles("music") == {}


def test_what_is_written_is_read_back(tmp_path: Path, store: SQLiteStore) -> None:
    apply(store, read(tmp_path, FILE + ROLES))
    found = find_project(store, "music")
    assert read(tmp_path, write_setup([found])) == found


def test_a_role_that_was_changed_by_hand_is_said(tmp_path: Path, store: SQLiteStore) -> None:
    wanted = read(tmp_path, FILE + ROLES)
    apply(store, wanted)
    assert find_plan(store, wanted, now=NOW).steps == ()
    store.set_roles("music", {"ann@example.com": "viewer"}, NOW, "eve@example.com")
    [step] = find_plan(store, wanted, now=NOW).steps
    assert (step.what, step.changes) == ("roles", ("ann@example.com: viewer → admin",))
    assert "Changed by eve@example.com on 21 Nov 2026" in step.drift


def test_roles_that_somebody_changed_meanwhile_are_not_overwritten(
    tmp_path: Path, store: SQLiteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted, change = read(tmp_path, FILE + ROLES), store.change_projects
    calls: list[object] = []

    def meddle(changes: object) -> bool:
        if not calls:
            store.set_roles("music", {"eve@example.com": "viewer"}, NOW, "eve")
        calls.append(changes)
        return bool(change(changes))  # type: ignore[arg-type]  # as it came

    monkeypatch.setattr(store, "change_projects", meddle)
    assert "eve@example.com: viewer → none" in apply(store, wanted)
    assert len(calls) == 2
