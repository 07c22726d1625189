"""Runs Python in a process of its own, which finds the tests."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def find_tests() -> dict[str, str]:
    """The environment of a process that imports tests."""
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    return os.environ | {"PYTHONPATH": os.pathsep.join(paths)}


def run_python(*command: object, before: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    """Run a script until it ends, under another program where one comes before."""
    return subprocess.run(
        [*before, sys.executable, *map(str, command)],
        env=find_tests(),
        capture_output=True,
        text=True,
        check=False,
    )
