"""Change an area's code at random, and count the changes that its tests notice.

`python -m dev.mutants [--area NAME] [--n 40] [--seed 1] [--record]`

A copy of the last commit is changed and tested, in `target/mutants`; what isn't committed doesn't
count. The areas are in `areas.toml`. `--record` writes the result into `record.json`.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

from dev.environments import ROOT
from dev.mutants.mutants import list_sites
from dev.record import today

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dev.mutants.mutants import Mutant

AREAS = Path(__file__).with_name("areas.toml")
RECORD = Path(__file__).with_name("record.json")
WORK = ROOT / "target" / "mutants"
EXTENSION = Path("python/rankscope/_core.abi3.so")
BUILD = ["cargo", "build", "--quiet", "--profile=develop", "--package=rankscope"]
PYTEST = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:randomly", "--hypothesis-seed=0"]
PYTEST += ["-m", "not thorough and not slow"]
CAUGHT = ("caught", "timed out")
MEMORY = 12 << 30
"""Bytes that a process may use, since a change can make one ask for all there are."""


class Area:
    """The copy of one area's sources and tests.

    Attributes:
        commit: What was copied.
        sources: The files that are changed.
    """

    def __init__(self, name: str) -> None:
        area = tomllib.loads(AREAS.read_text("utf-8"))[name]
        revision = subprocess.check_output(["git", "rev-parse", "HEAD"], cwd=ROOT, text=True)  # noqa: S607
        self.commit = revision[:8]
        self.tree, self._target = WORK / name, WORK / f"{name}-target"
        shutil.rmtree(self.tree, ignore_errors=True)
        self.tree.mkdir(parents=True)
        archive = subprocess.check_output(["git", "archive", self.commit], cwd=ROOT)  # noqa: S607
        # The files are new, so that cargo builds them instead of what was built of the last change.
        subprocess.run(["tar", "-xm"], input=archive, cwd=self.tree, check=True)  # noqa: S607
        shutil.copy(ROOT / EXTENSION, self.tree / EXTENSION)
        self.sources = self._find(area["sources"])
        self._tests = self._find(area["tests"])
        self._limits: dict[str, float] = {}
        self._environment = os.environ | {
            "PYTHONPATH": str(self.tree / "python"),
            "PYTHONDONTWRITEBYTECODE": "",  # it tells which modules were loaded
            "CARGO_TARGET_DIR": str(self._target),
        }

    def _find(self, patterns: list[str]) -> list[Path]:
        files: list[Path] = []
        for pattern in patterns:
            found = sorted(self.tree.glob(pattern))
            if not found:
                sys.exit(f"{AREAS}: no file matches `{pattern}`. Name the files as they are now.")
            files += found
        return list(dict.fromkeys(files))

    def run_unchanged(self) -> None:
        """Run everything without a change, which has to pass, and time it."""
        of_rust = [path for path in self.sources if path.suffix == ".rs"]
        for command, _ in self._list_steps([*of_rust, *self.sources][0]):
            begin = time.monotonic()
            if self._run(command, None, None) != 0:
                sys.exit(f"Without any change, {_name(command)} fails in {self.tree}; see above.")
            spent = time.monotonic() - begin
            self._limits[_name(command)] = self._limits.get(_name(command), 30) + 5 * spent
        if not _bytecode(self.tree / "python/rankscope/__init__.py"):
            sys.exit(f"The tests didn't load the package in {self.tree / 'python'}.")
        shutil.copy(self.tree / EXTENSION, self.tree / "unchanged.so")

    def try_mutant(self, mutant: Mutant) -> str:
        """Return what becomes of a mutant: unviable, caught, timed out, survived or not loaded."""
        path = mutant.path
        try:
            _write(path, mutant.mutate())
            for command, failure in self._list_steps(path):
                status = self._run(command, subprocess.DEVNULL, self._limits[_name(command)])
                if status != 0:
                    return failure if status else "timed out"
            return "survived" if path.suffix == ".rs" or _bytecode(path) else "not loaded"
        finally:
            _write(path, mutant.before)
            if path.suffix == ".rs":
                shutil.copy(self.tree / "unchanged.so", self.tree / EXTENSION)

    def _list_steps(self, changed: Path) -> Iterator[tuple[list[str], str]]:
        """List commands, each with what its failure means."""
        if changed.suffix == ".rs":
            yield ["cargo", "test", "--quiet", "--no-run"], "unviable"
            yield ["cargo", "test", "--quiet"], "caught"
            yield BUILD, "unviable"
            shutil.copy(self._target / "develop" / "librankscope.so", self.tree / EXTENSION)
        name = changed.parent.name if changed.stem == "__init__" else changed.stem
        # Tests that name the module often fail, and are collected sooner than all tests.
        named = [test for test in self._tests if name in test.read_text("utf-8")]
        for tests in (named, [test for test in self._tests if test not in named]):
            if tests:
                yield [*PYTEST, *map(str, tests)], "caught"

    def _run(self, command: list[str], output: int | None, limit: float | None) -> int | None:
        """Return the exit status of a command, or None if it took too long."""
        with subprocess.Popen(
            command,
            cwd=self.tree,
            env=self._environment,
            stdout=output,
            stderr=output,
            start_new_session=True,
        ) as process:
            try:
                return process.wait(limit)
            except subprocess.TimeoutExpired:
                return None
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)


def _name(command: list[str]) -> str:
    return " ".join(command[:4])


def _bytecode(path: Path) -> list[Path]:
    """List what Python keeps of a module that it has loaded."""
    return list(path.parent.glob(f"__pycache__/{path.stem}.*"))


def _write(path: Path, text: str) -> None:
    """Write a source, which Python must not take for the one before if both are of one second."""
    path.write_text(text, "utf-8")
    for stale in _bytecode(path):
        stale.unlink()


def main() -> None:
    """Measure the areas that are named, or all."""
    names = tomllib.loads(AREAS.read_text("utf-8"))
    parser = argparse.ArgumentParser(prog="python -m dev.mutants", description=__doc__)
    parser.add_argument("--area", choices=names, help="one area (default: all)")
    parser.add_argument("--n", type=int, default=40, help="mutants of each area (default: 40)")
    parser.add_argument("--seed", type=int, default=1, help="random seed (default: 1)")
    parser.add_argument("--record", action="store_true", help=f"write {RECORD.name}")
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, resource.getrlimit(resource.RLIMIT_DATA)[1]))
    for name in [options.area] if options.area else names:
        measure(name, options.n, options.seed, record=options.record)


def measure(name: str, n: int, seed: int, *, record: bool) -> None:
    """Sample an area, and print what its tests miss."""
    area = Area(name)
    area.run_unchanged()
    draw = random.Random(seed)
    sites = list_sites(area.tree, area.sources)
    draw.shuffle(sites)
    results: list[dict[str, str]] = []
    for site in sites:
        if len(results) == n:
            break
        mutant = draw.choice(site)
        result = area.try_mutant(mutant)
        if result != "unviable":
            results.append({"result": result} | mutant.describe(area.tree))
            print(len(results), *results[-1].values(), sep="\n", end="\n\n", flush=True)
    caught = sum(result["result"] in CAUGHT for result in results)
    share = caught / len(results)
    error = math.sqrt(share * (1 - share) / len(results))
    print(f"{name}: {caught} of {len(results)} caught, {share:.0%} ± {error:.0%} (SE)")
    if record:
        _record(name, area.commit, seed, results)


def _record(area: str, commit: str, seed: int, results: list[dict[str, str]]) -> None:
    """Replace the record of an area."""
    record = json.loads(RECORD.read_text("utf-8")) if RECORD.exists() else {}
    record[area] = {
        "date": today(),
        "commit": commit,
        "n": len(results),
        "seed": seed,
        "caught": sum(result["result"] in CAUGHT for result in results),
        "timed out": sum(result["result"] == "timed out" for result in results),
        "survivors": [result for result in results if result["result"] not in CAUGHT],
    }
    text = json.dumps(record, indent=2, sort_keys=True, ensure_ascii=False)
    RECORD.write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    main()
