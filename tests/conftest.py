"""How every test runs: the profiles of the generated cases, the program, and which are slow."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tomllib
from fnmatch import fnmatch
from pathlib import Path

import pytest
from hypothesis import settings

from tests.program import start_program

# A shell lets what it runs in the background ignore interrupts, and so would all that tests start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# A slow machine is no failure; a failing case is printed in a form that can be run again.
settings.register_profile("default", deadline=None, print_blob=True, max_examples=40)
settings.register_profile("thorough", settings.get_profile("default"), max_examples=1_000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


@pytest.fixture(scope="session")
def program():
    return start_program()


ROOT = Path(__file__).resolve().parents[1]


def list_changed():
    """The files that differ from `BASE`, by default from where the slow tests passed last."""
    record = json.loads((ROOT / "dev" / "nightly.json").read_text(encoding="utf-8"))["test-slow"]
    base = os.environ.get("BASE") or (record["commit"] if record["passed"] else "none")
    done = subprocess.run(
        ["git", "diff", "--name-only", base, "--"],  # noqa: S607 - whichever git made the checkout
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    return None if done.returncode else done.stdout.splitlines()


def is_affected(test, changed):
    """Whether a file of a test's area changed. A test of no area is one of the whole package."""
    areas = tomllib.loads((ROOT / "dev" / "mutants" / "areas.toml").read_text(encoding="utf-8"))
    patterns = [
        pattern.replace("**/", "")
        for area in areas.values()
        if any(
            fnmatch(test, pattern.replace("**/", ""))
            for pattern in area["tests"] + area.get("slow_tests", [])
        )
        for pattern in area["sources"]
    ]
    patterns = [*(patterns or ["python/*", "crates/*"]), test]
    return any(fnmatch(path, pattern) for path in changed for pattern in patterns)


def pytest_collection_modifyitems(config, items):
    """Leave slow tests out of a run without `-m`, unless `SLOW=changed` and their area changed."""
    is_named = any("::" in each for each in config.args)
    if is_named or config.option.markexpr.strip() != "not thorough":
        return
    changed = list_changed() if os.environ.get("SLOW") == "changed" else []
    left_out = [
        item
        for item in items
        if item.get_closest_marker("slow")
        and changed is not None
        and not is_affected(item.path.relative_to(ROOT).as_posix(), changed)
    ]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]
