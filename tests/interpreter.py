"""Runs a program in an interpreter of its own."""

from __future__ import annotations

import os
import subprocess
import sys


def run_python(program, *options, **environment):
    """What a fresh interpreter prints that runs a program to its end."""
    done = subprocess.run(
        [sys.executable, *options, "-c", program],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
