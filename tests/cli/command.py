"""Starts the program as a shell does."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tests.program import start_program

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Mapping

PROGRAM = str(Path(sys.executable).with_name("rankscope"))


def run(
    *words: str | bytes, environment: Mapping[str, str] | None = None, folder: str | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run the program to its end."""
    return start_program().run(*words, environment=environment, folder=folder)


def check_error(done: subprocess.CompletedProcess[bytes], status: int, code: str) -> str:
    """Hold a refusal against what all of them have in common, and give what was said."""
    assert done.returncode == status, done
    assert done.stdout == b""
    said, hint = done.stderr.decode().splitlines()
    assert said.startswith("rankscope: error: ")
    assert said.endswith(f" [{code}]")
    assert hint.startswith("Hint: ")
    return said
