"""The Makefile, the counts of lines, the sources and the release are as the pages say."""

from __future__ import annotations

import ast
import re
import resource
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from dev.benchmarks.process import run_process
from dev.benchmarks.verdicts import judge
from dev.benchmarks.workloads import Target, keep_floors, read_workloads
from dev.lines import SLACK, compare, count_code

ROOT = Path(__file__).resolve().parents[2]
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
TARGETS = re.findall(r"^\.PHONY: (\S+)$", MAKEFILE, flags=re.MULTILINE)


def test_help_lists_every_target() -> None:
    listed = subprocess.run(
        ["make", "--no-print-directory"],  # noqa: S607 - whichever make runs this test
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert re.findall(r"^make (\S+)", listed, flags=re.MULTILINE) == TARGETS


def test_continuous_integration_calls_only_targets() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    [targets] = re.findall(r'^targets="(.+)"$', script, flags=re.MULTILINE)
    called = targets.split()
    assert {"lint", "types", "test", "test-services", "docs", "demo"} <= set(called)
    assert set(called) <= set(TARGETS)
    assert called[-1] == "test"


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md"])
def test_the_commands_of_a_page_exist(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    named = set(re.findall(r"(?:^|[`$\s])make ([a-z-]+)(?=\s*[`#\n])", text))
    assert {"demo", "test"} <= named
    assert named <= set(TARGETS)


SOURCE = '''"""A module."""

import os  # not code
from sys import (
    path,
)

# A comment.
TEXT = """
code
"""


def f(x: int) -> int:
    """Two

    lines."""
    return (  # code
        x
    )
'''


def test_docstrings_imports_comments_and_blank_lines_are_no_code() -> None:
    lines, tokens = count_code(SOURCE)
    assert lines == 3 + 1 + 3
    assert tokens == 4 + 11 + 7  # with the ends of lines


def test_a_count_above_its_budget_fails_and_one_far_below_is_named() -> None:
    for count, above, below in (
        (101, ["code: a 101, budget 100"], []),
        (100, [], []),
        (100 - SLACK, [], []),
        (99 - SLACK, [], [f"code: a {99 - SLACK}, budget 100"]),
    ):
        assert compare({"code": {"a": count}}, {"code": {"a": 100}}) == (above, below)
    assert compare({"code": {"new": 1}}, {"code": {"old": 9}}) == (
        ["code: new 1, budget 0"],
        ["code: old is gone"],
    )


CARGO = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))
VERSION = CARGO["package"]["version"]


def test_the_changelog_begins_with_this_version() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    titles = re.findall(r"^## (\S+)", text, flags=re.MULTILINE)
    assert next(title for title in titles if title != "Unreleased") == VERSION


PACKAGE = ROOT / "python" / "rankscope"
RUST = sorted((ROOT / "src").rglob("*.rs"))

FORBIDDEN = {
    # Paths of one machine. A path inside the repository has something before its first slash.
    "a path of one machine": r"(?<![\w.*})-])/(?:work|home|root|Users)/",
    # The brackets keep these patterns from finding themselves.
    "a tool of one machine": r"\.l[i]brary\b",
    "an assistant": r"(?i)\b(?:cl[a]ude|anthr[o]pic|ch[a]tgpt|c[o]pilot|c[o]dex)\b",
}


def tracked_texts() -> dict[str, str]:
    """Every tracked file that is text, by its path."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"],  # noqa: S607 - whichever git made the checkout
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    texts = {}
    for name in filter(None, listed.split("\0")):
        path = ROOT / name
        if path.is_file() and b"\0" not in (content := path.read_bytes()):
            texts[name] = content.decode("utf-8", errors="replace")
    return texts


def imported_packages(module: Path) -> set[str]:
    """The top-level packages that a module imports absolutely, anywhere in it."""
    packages = set()
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            packages |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            packages.add(node.module.partition(".")[0])
    return packages


def test_the_rows_need_the_standard_library_only() -> None:
    allowed = sys.stdlib_module_names | {"rankscope"}
    foreign = {
        str(module.relative_to(PACKAGE)): sorted(imported_packages(module) - allowed)
        for layer in ("measures", "conventions")
        for module in (PACKAGE / layer).rglob("*.py")
    }
    assert {name: packages for name, packages in foreign.items() if packages} == {}


def test_only_the_binding_may_be_unsafe() -> None:
    unsafe = re.compile(r"\bunsafe\b(?!_code)")
    found = {path for path in RUST if unsafe.search(path.read_text(encoding="utf-8"))}
    assert {path.parent.name for path in found} == {"python"}


def test_no_tracked_file_names_the_machine_or_the_tools_it_was_written_with() -> None:
    patterns = {what: re.compile(pattern) for what, pattern in FORBIDDEN.items()}
    found = [
        f"{name}:{text.count(chr(10), 0, match.start()) + 1}: {what}: {match[0]}"
        for name, text in tracked_texts().items()
        for what, pattern in patterns.items()
        for match in pattern.finditer(text)
    ]
    assert found == []


WORKLOADS = read_workloads()
MEDIANS = {"ours": {"wall": 3.0, "peak": 330.0}, "peer": {"wall": 7.0}, "bare": {"wall": 1.0}}


@pytest.mark.parametrize(
    ("target", "found", "outcome"),
    [
        (Target("peer", "wall", over="ours", at_least=2.3), 2.33, "met"),
        (Target("peer", "wall", over="ours", at_least=7 / 3), 2.33, "met"),
        (Target("peer", "wall", over="ours", at_least=2.34), 2.33, "missed"),
        (Target("ours", "wall", over="peer", less="bare", at_most=0.34), 0.333, "met"),
        (Target("ours", "wall", over="peer", less="bare", at_most=2 / 6), 0.333, "met"),
        (Target("ours", "wall", over="peer", less="bare", at_most=0.33), 0.333, "missed"),
        (Target("ours", "peak", at_most=330.0), 330.0, "met"),
        (Target("ours", "peak", at_most=329.0), 330.0, "missed"),
    ],
)
def test_a_target_is_met_at_its_limit_and_missed_beyond(
    target: Target, found: float, outcome: str
) -> None:
    verdict = judge(target, MEDIANS, {})
    assert (verdict.found, verdict.outcome) == (found, outcome)


@pytest.mark.parametrize("role", ["of", "over", "less"])
def test_a_target_is_not_measured_without_one_of_its_contenders(role: str) -> None:
    names = {"of": "ours", "over": "peer", "less": "bare"} | {role: "trec_eval"}
    absent = {"trec_eval": "set TREC_EVAL to the program"}
    target = Target(figure="wall", at_least=25.0, **names)  # type: ignore[arg-type]
    verdict = judge(target, MEDIANS, absent)
    assert (verdict.found, verdict.outcome) == (
        None,
        "not measured: set TREC_EVAL to the program",
    )


def test_targets_name_contenders_of_their_workload() -> None:
    for workload in WORKLOADS:
        names = {contender.name for contender in workload.contenders} | {None}
        for target in workload.targets:
            assert {target.of, target.over, target.less} <= names, workload.name


def test_a_small_run_has_the_contenders_that_floors_name_and_no_others() -> None:
    small = {workload.name: keep_floors(workload) for workload in WORKLOADS}
    marco, robust = small["marco"], small["robust"]
    assert [contender.name for contender in marco.contenders] == ["ours", "trec_eval"]
    assert all(target.floor for target in marco.targets)
    assert not robust.contenders
    assert not robust.targets


def test_the_cpu_time_of_a_process_is_what_the_system_adds_to_that_of_all_children(
    tmp_path: Path,
) -> None:
    def count() -> float:
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    before = count()
    finished = run_process([sys.executable, "-c", "sum(range(1_000_000))"], tmp_path)
    # Each of the sums has two times, which the system cuts to microseconds.
    assert finished.cpu > 0
    assert finished.cpu == pytest.approx(count() - before, abs=4e-6)
