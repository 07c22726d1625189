"""`rankscope monitor plan`, `apply` and `configuration`: projects as code, over any way in."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import jsonschema
import pytest
from rankscope.monitor.monitor import Monitor

from tests.cli.command import check_error, run
from tests.cli.test_serve import serving

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

FILE = """
[projects.music]
attributes = ["device"]

[projects.music.definition]
measures = ["nDCG@5"]
window = "24h"
attribution.positive = { click = 1, buy = 5 }

[projects.music.rules.quality]
measure = "nDCG@5"
"""


class Folder:
    """A folder with a file of projects and a store."""

    def __init__(self, path: Path) -> None:
        self.file = path / "rankscope.toml"
        self.file.write_text(FILE, encoding="utf-8")
        self.store = str(path / "events.db")

    def run(self, command: str, *words: str) -> subprocess.CompletedProcess[bytes]:
        """Run a command on the store."""
        return run("monitor", command, self.store, *words)

    def apply(self, text: str | None = None, place: str = "") -> str:
        """Apply the file, changed or not, and give what is said."""
        if text is not None:
            self.file.write_text(text, encoding="utf-8")
        done = run("monitor", "apply", place or self.store, str(self.file))
        assert done.returncode == 0, done
        return done.stdout.decode()


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


def test_a_plan_is_applied_once(folder: Folder) -> None:
    said = folder.apply()
    assert said.startswith("music:\n  + configuration\n      definition.measures: nDCG@5\n")
    assert "  + rule quality\n" in said
    assert folder.apply() == "music: no changes\n"
    done = folder.run("plan", str(folder.file), "--check")
    assert (done.returncode, done.stdout) == (0, b"music: no changes\n")


def test_what_a_command_changed_is_told_and_undone(folder: Folder) -> None:
    folder.apply()
    words = ["--project", "music", "-m", "nDCG@5", "--tolerance", "0.1"]
    assert run("monitor", "rule", "add", folder.store, "quality", *words).returncode == 0
    done = folder.run("plan", str(folder.file), "--check")
    assert done.returncode == 1
    lines = done.stdout.decode().splitlines()
    assert lines[1:3] == ["  ~ rule quality", "      tolerance: 0.1 → 0.02"]
    assert lines[-1].startswith("      Changed by command line on ")
    folder.apply()
    assert folder.run("plan", str(folder.file), "--check").returncode == 0


def test_what_is_printed_is_a_file_that_changes_nothing(folder: Folder) -> None:
    folder.apply()
    printed = folder.run("configuration").stdout.decode()
    assert folder.apply(printed) == "music: no changes\n"
    assert folder.run("configuration").stdout.decode() == printed
    said = json.loads(folder.run("configuration", "--json").stdout)
    schema = json.loads(run("monitor", "configuration", "-", "--schema").stdout)
    jsonschema.Draft202012Validator(schema).validate(said)
    assert set(said["projects"]) == {"music"}


def test_projects_that_no_file_has_stay(folder: Folder) -> None:
    folder.apply()
    folder.file.write_text(FILE.replace("music", "books"), encoding="utf-8")
    done = folder.run("apply", str(folder.file))
    assert done.stderr == b"note: projects that no file has stay as they are: music\n"
    assert folder.run("configuration").stdout.count(b"definition]") == 2
    one = folder.run("configuration", "--project", "music").stdout.decode()
    assert "books" not in one


@pytest.mark.slow
def test_projects_that_no_file_has_are_deleted_when_that_is_asked_for(folder: Folder) -> None:
    folder.apply(FILE + FILE.replace("music", "books"))
    folder.file.write_text(FILE.replace("music", "films"), encoding="utf-8")
    asked = (str(folder.file), "--delete-projects")
    planned = folder.run("plan", *asked)
    assert planned.stdout.count(b"  - project\n") == 2
    assert planned.stderr == b""
    assert folder.run("configuration").stdout.count(b"definition]") == 2
    check_error(folder.run("apply", *asked, "--project", "films"), 2, "usage")
    with serving(folder.store) as (address, _):
        done = run("monitor", "apply", address, *asked)
        assert "needs the store" in check_error(done, 2, "usage")
    done = folder.run("apply", *asked)
    assert done.stdout == planned.stdout
    assert done.returncode == 0
    assert b"[projects.films" in folder.run("configuration").stdout
    assert folder.run("configuration").stdout.count(b"definition]") == 1
    with Monitor.open(folder.store, "music", writes=False) as monitor:
        assert monitor.store.projects() == ["films"]
        assert monitor.store.audit("music")[-1].actor == "command line"
    assert folder.run("apply", *asked).stdout == b"films: no changes\n"


def test_one_project_of_a_file_can_be_chosen(folder: Folder) -> None:
    both = FILE + FILE.replace("music", "books")
    folder.file.write_text(both, encoding="utf-8")
    done = folder.run("apply", str(folder.file), "--project", "books", "--json")
    assert [one["project"] for one in json.loads(done.stdout)["projects"]] == ["books"]
    check_error(folder.run("plan", str(folder.file), "--project", "films"), 2, "no_project")


def test_a_wrong_file_changes_nothing(folder: Folder) -> None:
    wrong = FILE + FILE.replace("music", "books").replace("window", "windwo")
    folder.file.write_text(wrong, encoding="utf-8")
    done = folder.run("apply", str(folder.file))
    line = wrong.splitlines().index('windwo = "24h"') + 1
    said = check_error(done, 3, "bad_setup")
    assert f"rankscope.toml:{line}: projects.books.definition.windwo: unknown key" in said
    check_error(folder.run("status"), 4, "io")


def test_no_store_is_made_by_a_plan(folder: Folder) -> None:
    check_error(folder.run("plan", str(folder.file)), 4, "io")


@pytest.mark.slow
def test_projects_are_applied_over_http(folder: Folder) -> None:
    changed = FILE.replace("24h", "48h")
    assert "+ configuration" in folder.apply()
    scopes = ["--project", "music", "--scope", "admin", "read", "--json"]
    made = run("monitor", "key", "make", folder.store, "ci", *scopes)
    key = {"RANKSCOPE_KEY": json.loads(made.stdout)["key"]}
    with serving(folder.store) as (address, _):

        def ask(command: str, *words: str) -> subprocess.CompletedProcess[bytes]:
            return run("monitor", command, address, *words, environment=key)

        assert ask("plan", str(folder.file), "--check").returncode == 0
        folder.file.write_text(changed, encoding="utf-8")
        planned = ask("plan", str(folder.file), "--check")
        assert planned.returncode == 1
        assert b"definition.window: 24h" in planned.stdout
        assert ask("apply", str(folder.file)).stdout == planned.stdout
        assert ask("apply", str(folder.file)).stdout == b"music: no changes\n"
        assert ask("configuration").stdout == folder.run("configuration").stdout
        folder.file.write_text(changed.replace("music", "books"), encoding="utf-8")
        check_error(ask("apply", str(folder.file)), 2, "other_project")
        folder.file.write_text(changed + FILE.replace("music", "books"), encoding="utf-8")
        check_error(ask("apply", str(folder.file)), 2, "usage")
        chosen = ask("apply", str(folder.file), "--project", "music")
        assert chosen.stdout == b"music: no changes\n"
        refused = run("monitor", "apply", address, str(folder.file), "--project", "music")
        check_error(refused, 2, "unauthorized")
    with Monitor.open(folder.store, "music", writes=False) as monitor:
        assert [rule.name for rule in monitor.rules()] == ["data", "early", "quality"]
        assert monitor.store.audit("music")[-1].action == "setup.apply"


@pytest.mark.slow
def test_a_service_reads_its_channels_from_the_same_file(folder: Folder) -> None:
    channels = '\n[channels.oncall]\nurl = "json://127.0.0.1/"\nallow_private = true\n'
    folder.file.write_text(channels + FILE, encoding="utf-8")
    assert "+ rule quality" in folder.apply()
    scopes = ["--project", "music", "--scope", "admin", "read", "--json"]
    made = run("monitor", "key", "make", folder.store, "ci", *scopes)
    key = {"RANKSCOPE_KEY": json.loads(made.stdout)["key"]}
    with serving(folder.store, "--config", str(folder.file)) as (address, _):
        listed = run("monitor", "channels", address, environment=key)
        assert b"oncall" in listed.stdout, listed
