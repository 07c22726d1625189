"""What a reader must know of the machine to read its figures."""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
from pathlib import Path

from dev.environments import ROOT


def describe_machine() -> dict[str, str | int | float | bool]:
    """Collect the facts of the machine and of the checkout.

    Returns:
        CPU, cores, memory, system, tools, load before the measurement, and the commit.
    """
    return {
        "cpu": _cpu(),
        "cores": len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 0,
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "python": platform.python_version(),
        "rustc": _ask("rustc", "--version"),
        "load_before": round(os.getloadavg()[0], 2),
        "commit": _ask("git", "rev-parse", "HEAD"),
        "dirty": bool(_ask("git", "status", "--porcelain")),
    }


def _cpu() -> str:
    facts = Path("/proc/cpuinfo")
    if facts.exists():
        found = re.search(r"^model name\s*:\s*(.+)$", facts.read_text(), flags=re.MULTILINE)
        if found:
            return found[1]
    return _ask("sysctl", "-n", "machdep.cpu.brand_string") or platform.processor()


def _ask(*command: str) -> str:
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return ""
    return done.stdout.strip()
