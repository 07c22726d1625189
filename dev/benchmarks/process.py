"""Run one process, and say what it cost."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

# The kernel counts the largest resident set in bytes on macOS, in units of 1,024 elsewhere.
PEAK_UNIT = 1 if sys.platform == "darwin" else 1024


ENVIRONMENT = {
    name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"
}
"""Python keeps what it compiles, as it does for users: the first round fills its caches."""

MOST_READ = 1 << 16
"""Bytes of the output that are read. Means come last."""


@dataclass(frozen=True, slots=True)
class Finished:
    """A process that ended well.

    Args:
        wall: Seconds from before it was started until it was gone.
        cpu: Seconds of processor time, of all threads and of the kernel for it.
        peak: Largest resident memory in MB (10⁶ bytes). A process starts with that of the
            one which starts it, so that nothing smaller than the runner can be seen.
        output: The end of its standard output, in whole lines.
    """

    wall: float
    cpu: float
    peak: float
    output: str


def run_process(command: list[str], folder: Path) -> Finished:
    """Run a command to its end.

    Args:
        command: The program and its arguments.
        folder: Where it runs.

    Returns:
        What it cost and what it printed.

    Raises:
        SystemExit: It ended with an error; its messages are shown above.
    """
    with tempfile.TemporaryFile() as output:
        started = time.perf_counter()
        process = subprocess.Popen(command, stdout=output, cwd=folder, env=ENVIRONMENT)
        # Unlike getrusage, this tells the memory of this one process.
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise SystemExit(f"Exit status {process.returncode} of {' '.join(command)}")
        # What is held here would count as memory of the processes that are started later.
        end = output.seek(0, os.SEEK_END)
        if output.seek(max(0, end - MOST_READ)) > 0:
            output.readline()
        cpu = usage.ru_utime + usage.ru_stime
        return Finished(wall, cpu, usage.ru_maxrss * PEAK_UNIT / 1e6, output.read().decode())
