"""Runs a piece of Python in a process of its own, and measures what it took."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from textwrap import dedent

MEGABYTE = 1 << 20

PROGRAM = """
import json, re, time
import rankscope as rs

def peak():
    # Of this program alone: what resource reports includes the process that started it.
    with open("/proc/self/status") as file:
        return int(re.search(r"VmHWM:\\s+(\\d+)", file.read())[1]) * 1024

before, start, code, line, value = peak(), time.monotonic(), "", None, None
try:
{body}
except rs.errors.RankscopeError as error:
    code, line = error.code, error.line
taken = time.monotonic() - start
print(json.dumps([code, line, value, taken, peak() - before]))
"""


@dataclass(frozen=True, slots=True)
class Measured:
    """What came of it.

    Args:
        code: The code of the error; empty where there was none.
        line: The line that it names.
        value: What the piece left in the variable `value`.
        seconds: How long it took.
        memory: By how many bytes the largest resident size grew.
    """

    code: str
    line: int | None
    value: object
    seconds: float
    memory: int


def measure(body: str) -> Measured:
    """Run some lines of Python that may set `value`; `rs` is the package."""
    indented = "\n".join(f"    {line}" for line in dedent(body).strip().splitlines())
    program = PROGRAM.replace("{body}", indented)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return Measured(*json.loads(done.stdout))
