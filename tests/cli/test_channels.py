"""Channels are listed and tested from the command line, and no address is printed."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("apprise", reason="channels need Apprise")

from tests.cli.monitored import Project
from tests.monitor.notify.listener import listening

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

    from tests.program import Program

TOKEN = "the-token-of-the-team"  # noqa: S105 - of nobody


@pytest.fixture
def project(program: Program, tmp_path: Path) -> Project:
    """A project that is configured."""
    made = Project(program, tmp_path)
    made.say("configure", "--positive", "click", "--window", "1h")
    return made


def write(folder: Path, text: str) -> str:
    path = folder / "rankscope.toml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_channels_are_listed(project: Project, tmp_path: Path) -> None:
    path = write(tmp_path, f'[channels.oncall]\nurl = "json://{TOKEN}.example"\n')
    said = project.say("channels", "--config", path)
    assert [(one["name"], one["kind"], one["service"]) for one in said["channels"]] == [
        ("log", "log", ""),
        ("oncall", "service", "JSON"),
    ]
    done = project.run("channels", "--config", path)
    assert done.returncode == 0
    assert TOKEN.encode() not in done.stdout + done.stderr


def test_a_test_says_by_its_status_whether_it_arrived(project: Project, tmp_path: Path) -> None:
    with listening() as listener:
        url = f"json://127.0.0.1:{listener.port}/{TOKEN}"
        path = write(tmp_path, f'[channels.here]\nurl = "{url}"\nallow_private = true\n')
        assert project.say("channel test", "here", "--config", path) == {
            "is_delivered": True,
            "told": "delivered",
        }
        assert len(listener.requests) == 1
        path = write(tmp_path, f'[channels.here]\nurl = "{url}"\n')
        done = project.run("channel test", "here", "--config", path, "--json")
        assert done.returncode == 1
        assert not json.loads(done.stdout)["is_delivered"]
        assert len(listener.requests) == 1
        assert TOKEN.encode() not in done.stdout + done.stderr


def test_a_channel_that_is_not_defined_is_refused(project: Project) -> None:
    done = project.run("channel test", "none")
    assert (done.returncode, b"there is no channel 'none'" in done.stderr) == (2, True)


def test_an_address_of_no_service_is_refused_and_not_shown(
    project: Project, tmp_path: Path
) -> None:
    path = write(tmp_path, f'[channels.oncall]\nurl = "nothing://{TOKEN}"\n')
    done = project.run("channels", "--config", path)
    assert done.returncode == 2
    assert b"channels.oncall: url is not the address of a service" in done.stderr
    assert TOKEN.encode() not in done.stderr
