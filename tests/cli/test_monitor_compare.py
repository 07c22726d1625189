"""`rankscope monitor compare`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("sqlalchemy", reason="a store needs it")

from tests.cli.command import check_error
from tests.monitor.served import DAYS, RELEASE, open_served

if TYPE_CHECKING:
    from pathlib import Path

    from tests.program import Program


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store in which version 4 is worse than version 3, which serves beside it."""
    folder = tmp_path_factory.mktemp("served")
    with open_served(folder, fall=0.3):
        return folder / "served.db"


def test_the_verdict_comes_first_and_then_each_day(program: Program, store: Path) -> None:
    done = program.run("monitor", "compare", str(store), "--as-of", "2026-09-19")
    assert done.returncode == 0
    sentence, blank, head, *days = done.stdout.decode().splitlines()
    assert sentence.startswith("Version 4 is worse than version 3: nDCG@5 differs by −0.0")
    assert blank == ""
    assert head.split()[:4] == ["day", "difference", "lower", "upper"]
    assert [line[:10] for line in days] == [f"2026-09-{1 + day:02}" for day in range(RELEASE, DAYS)]
    assert days[-1].endswith("yes")


def test_versions_slices_and_times_are_chosen(program: Program, store: Path) -> None:
    chosen = ["--old", "4", "--new", "3", "--slice", "device=tv", "--since", "2026-09-14"]
    done = program.run("monitor", "compare", str(store), *chosen, "--json")
    said = json.loads(done.stdout)
    assert (said["old"], said["new"], said["slice"]) == ("4", "3", {"device": "tv"})
    assert said["verdict"] == "better"
    assert said["since"] == "2026-09-14T00:00:00.000000Z"


@pytest.mark.parametrize(
    ("words", "status", "code"),
    [
        (["--slice", "tv"], 2, "usage"),
        (["--slice", "app=x"], 2, "unknown_slice"),
        (["--new", "9"], 2, "unknown_version"),
        (["--new", "3"], 3, "empty_input"),
    ],
)
def test_what_can_not_be_compared_is_refused(
    words: list[str], status: int, code: str, program: Program, store: Path
) -> None:
    check_error(program.run("monitor", "compare", str(store), *words), status, code)
