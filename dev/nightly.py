"""Run what takes too long for every change, and keep what was found: `make nightly`.

`python -m dev.nightly [TARGET …]` runs these targets of the Makefile one after the other, also when
one fails, and writes dev/nightly.json. The tests take the commit of its row `test-slow` as the one
that changes are compared with.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
import tomllib
from pathlib import Path

from dev.record import today

ROOT = Path(__file__).resolve().parents[1]
RECORD = ROOT / "dev" / "nightly.json"
TARGETS = (
    "test-slow",
    "bench-small",
    "load-short",
    "simulate-short",
    "mutants",
    "audit",
    "fuzz",
    "test-thorough",
    "parity",
    "test-integrations",
)


def git(*arguments: str) -> str:
    """Return what git prints."""
    return subprocess.check_output(["git", *arguments], cwd=ROOT, text=True).strip()  # noqa: S607


def choose_area() -> str:
    """Return the area whose share of mutants caught was measured longest ago."""
    folder = ROOT / "dev" / "mutants"
    record = json.loads((folder / "record.json").read_text(encoding="utf-8"))
    areas = tomllib.loads((folder / "areas.toml").read_text(encoding="utf-8"))
    return min(areas, key=lambda name: record.get(name, {}).get("date", ""))


def main() -> int:
    """Run the targets.

    Returns:
        Exit status: 1 where a target failed.
    """
    parser = argparse.ArgumentParser(prog="python -m dev.nightly", description=__doc__)
    parser.add_argument("targets", nargs="*", choices=[[], *TARGETS], metavar="TARGET")
    targets = parser.parse_args().targets or TARGETS
    if changed := git("status", "--porcelain", "--untracked-files=no"):
        parser.error(f"the record names a commit: commit or undo these changes first\n{changed}")
    record = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else {}
    failed = []
    for target in targets:
        start = time.monotonic()
        words = [target, f"AREA={choose_area()}"] if target == "mutants" else [target]
        passed = subprocess.call(["make", "--no-print-directory", *words], cwd=ROOT) == 0  # noqa: S607
        record[target] = {
            "date": today(),
            "commit": git("rev-parse", "HEAD"),
            "passed": passed,
            "seconds": round(time.monotonic() - start),
        }
        RECORD.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
        if not passed:
            failed.append(target)
    for target in targets:
        row = record[target]
        print(f"{target:20}{'passed' if row['passed'] else 'FAILED'}{row['seconds']:>8} s")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
