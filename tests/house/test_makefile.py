"""The Makefile, the continuous integration and the README name the same commands."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
TARGETS = re.findall(r"^\.PHONY: (\S+)$", MAKEFILE, flags=re.MULTILINE)


def test_help_lists_every_target() -> None:
    listed = subprocess.run(
        ["make", "--no-print-directory"],  # noqa: S607 - whichever make runs this test
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert re.findall(r"^make (\S+)", listed, flags=re.MULTILINE) == TARGETS


def test_continuous_integration_calls_only_targets() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    [targets] = re.findall(r'^targets="(.+)"$', script, flags=re.MULTILINE)
    called = targets.split()
    assert {"lint", "types", "test", "test-services", "docs", "demo"} <= set(called)
    assert set(called) <= set(TARGETS)
    assert called[-1] == "test"


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md"])
def test_the_commands_of_a_page_exist(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    named = set(re.findall(r"(?:^|[`$\s])make ([a-z-]+)(?=\s*[`#\n])", text))
    assert {"demo", "test"} <= named
    assert named <= set(TARGETS)
