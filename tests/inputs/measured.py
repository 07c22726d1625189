"""Runs pieces of Python in a process of their own, and measures the memory that each one took."""

from __future__ import annotations

import json
import subprocess
import sys
from textwrap import dedent
from typing import NamedTuple

MEGABYTE = 1 << 20
SLACK = 32 * MEGABYTE
"""What an allocator may keep, and what a thread that starts late may take."""

PROGRAM = """
import json, re, sys
import rankscope as rs

def peak():
    # Of this program alone: what resource reports includes the process that started it.
    with open("/proc/self/status") as file:
        return int(re.search(r"VmHWM:\\s+(\\d+)", file.read())[1]) * 1024

found = []
for piece in json.loads(sys.argv[1]):
    names = {"rs": rs, "peak": peak, "value": None}
    before, code, line = peak(), "", None
    try:
        exec(piece, names)
    except rs.errors.RankscopeError as error:
        code, line = error.code, error.line
    found.append([code, line, names["value"], peak() - before])
print(json.dumps(found))
"""


class Measured(NamedTuple):
    """The code and line of the error, the variable `value`, and how much the memory grew."""

    code: str
    line: int | None
    value: object
    growth: int


def measure(piece):
    """Run some lines of Python that may set `value`; `rs` is the package."""
    return measure_each(piece)[0]


def measure_each(*pieces):
    """Run pieces in one process: the first one loads modules, and what others add is their own."""
    sent = json.dumps([dedent(piece).strip() for piece in pieces])
    done = subprocess.run([sys.executable, "-c", PROGRAM, sent], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return [Measured(*each) for each in json.loads(done.stdout)]
