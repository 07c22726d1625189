"""The Makefile, the counts of lines, the sources, releases and actions are as the pages say."""

from __future__ import annotations

import ast
import datetime as dt
import re
import subprocess
import sys
import tomllib
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from rankscope import _core
from rankscope._settings import CHOICES, FIELDS
from rankscope.measures import OBJECTS, TABLE
from rankscope.measures.table import FAMILIES
from rankscope.monitor.rules.kinds import KINDS

from dev.benchmarks.verdicts import judge
from dev.benchmarks.workloads import Target
from dev.lines import SLACK, compare, count_code
from tests.reference import KERNELS

if TYPE_CHECKING:
    from types import ModuleType


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
VERSION = CARGO["workspace"]["package"]["version"]


def test_the_changelog_begins_with_this_version() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    titles = re.findall(r"^## (\S+)", text, flags=re.MULTILINE)
    assert next(title for title in titles if title != "Unreleased") == VERSION


PACKAGE = ROOT / "python" / "rankscope"
RUST = sorted((ROOT / "crates").rglob("*.rs"))

FORBIDDEN = {
    # Paths of one machine. A path inside the repository has something before its first slash.
    "a path of one machine": r"(?<![\w.*})-])/(?:work|home|root|Users)/",
    # The brackets keep these patterns from finding themselves.
    "a tool of one machine": r"\.l[i]brary\b",
    "an assistant": r"(?i)\b(?:cl[a]ude|anthr[o]pic|ch[a]tgpt|c[o]pilot|c[o]dex)\b",
}


def tracked_texts() -> dict[str, str]:
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
        if module.name != "function.py"  # a measure that a caller writes with NumPy
    }
    assert {name: packages for name, packages in foreign.items() if packages} == {}


def test_only_the_binding_may_be_unsafe() -> None:
    unsafe = re.compile(r"\bunsafe\b(?!_code)")
    found = {path for path in RUST if unsafe.search(path.read_text(encoding="utf-8"))}
    assert {path.relative_to(ROOT).parts[1] for path in found} == {"python"}


def test_no_tracked_file_names_the_machine_or_the_tools_it_was_written_with() -> None:
    patterns = {what: re.compile(pattern) for what, pattern in FORBIDDEN.items()}
    found = [
        f"{name}:{text.count(chr(10), 0, match.start()) + 1}: {what}: {match[0]}"
        for name, text in tracked_texts().items()
        for what, pattern in patterns.items()
        for match in pattern.finditer(text)
    ]
    assert found == []


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


WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
TODAY = dt.date(2026, 11, 22)


def load_audit() -> ModuleType:
    spec = spec_from_file_location("audit", ROOT / ".ci" / "audit.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_security_policy_is_linked_and_names_no_address_that_nobody_reads() -> None:
    for page in ("README.md", "CONTRIBUTING.md", "mkdocs.yml"):
        assert re.search(r"[(: ]SECURITY\.md\b", (ROOT / page).read_text(encoding="utf-8")), page
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    assert "Report a vulnerability" in text
    assert not re.search(r"\S@\S+\.\w", text)
    for path in re.findall(r"`([\w./-]+/[\w./-]+)`", text):
        assert (ROOT / path).exists(), path


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_actions_are_pinned_by_commit(workflow: Path) -> None:
    used = re.findall(r"uses: *(.+)", workflow.read_text(encoding="utf-8"))
    assert used
    for action in used:
        assert re.fullmatch(r"[\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", action), action


def test_one_action_is_pinned_to_one_commit() -> None:
    used = {
        tuple(action.partition("@")[::2])
        for workflow in WORKFLOWS
        for action in re.findall(r"uses: *(.+)", workflow.read_text(encoding="utf-8"))
    }
    assert len({name for name, _ in used}) == len(used)


def test_advisories_are_looked_for_every_week_and_have_to_be_found() -> None:
    text = (ROOT / ".github" / "workflows" / "audit.yml").read_text(encoding="utf-8")
    assert "schedule:" in text
    assert "make audit AUDIT=--required" in text


def test_exceptions_have_a_reason_and_a_date() -> None:
    text = (ROOT / ".ci" / "audit.toml").read_text(encoding="utf-8")
    # From `until` on, `make audit` fails; this test doesn't change by the calendar.
    for one in load_audit().read_exceptions(text, dt.date.min):
        assert one.reason
        assert one.until
    assert "ignore" not in tomllib.loads((ROOT / "deny.toml").read_text()).get("advisories", {})


@pytest.mark.parametrize(
    "given",
    [
        'id = "RUSTSEC-2026-0001"\npackage = "a"\nuntil = 2027-01-31',
        'id = "RUSTSEC-2026-0001"\npackage = "a"\nreason = ""\nuntil = 2027-01-31',
        'id = "RUSTSEC-2026-0001"\npackage = "a"\nreason = "b"',
        'id = "RUSTSEC-2026-0001"\npackage = "a"\nreason = "b"\nuntil = "2027"',
        'id = "RUSTSEC-2026-0001"\npackage = "a"\nreason = "b"\nuntil = 2026-11-22',
    ],
)
def test_an_exception_without_reason_or_date_fails_and_so_does_an_old_one(given: str) -> None:
    with pytest.raises(ValueError, match=r"expected|expired"):
        load_audit().read_exceptions(f"[[exception]]\n{given}", TODAY)


@pytest.mark.parametrize(
    ("required", "found", "status", "said"),
    [
        (False, (True, True, True), 0, "ok"),
        (False, (True, None, None), 0, "NOT CHECKED"),
        (True, (True, None, None), 1, "NOT CHECKED"),
        (False, (False, True, True), 1, "FAILED"),
        (False, (True, False, None), 1, "FAILED"),
    ],
)
def test_what_was_not_checked_is_said_and_fails_where_it_is_required(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    *,
    required: bool,
    found: tuple[bool | None, ...],
    status: int,
    said: str,
) -> None:
    audit = load_audit()
    monkeypatch.setattr(audit, "check_crates", lambda: found[0])
    monkeypatch.setattr(audit, "check_crate_advisories", lambda _: found[1])
    monkeypatch.setattr(audit, "check_python_advisories", lambda _: found[2])
    monkeypatch.setattr("sys.argv", ["audit", *(["--required"] if required else [])])
    assert audit.main() == status
    assert said in capsys.readouterr().out


def test_the_extension_has_no_path_of_the_machine_that_built_it() -> None:
    # `make develop` builds it; what pip builds from source keeps the paths of its own machine.
    content = Path(_core.__file__).read_bytes()
    assert b"crates/python" in content  # places of panics are there, so that this finds something
    built_in = [str(path) for path in (Path.home(), ROOT) if str(path).encode() + b"/" in content]
    assert built_in == []
    assert re.findall(rb"[/\\]\.cargo[/\\][ -~]*", content) == []


PATH = re.compile(r"`([\w./<>-]+\.(?:py|rs|md|toml|html|j2))`")


def read_recipe(title: str) -> str:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    _, found, rest = text.partition(f"\n## {title}\n")
    assert found, f"CONTRIBUTING.md has no recipe {title!r}"
    return rest.partition("\n## ")[0]


def list_steps(recipe: str) -> list[str]:
    """Return the file that each numbered step of a recipe begins with."""
    return re.findall(r"^\d+\. `([^`]+)`:", recipe, flags=re.MULTILINE)


RECIPES = [
    "Add a measure",
    "Add a policy value",
    "Change the tables of a store",
    "Add an alert kind",
    "Add a library to the parity tests",
]
"""The recipe for a store has a test of its own, which knows the files that are new."""


@pytest.mark.parametrize("title", RECIPES)
def test_every_file_that_a_recipe_names_exists(title: str) -> None:
    for path in PATH.findall(read_recipe(title)):
        if "<family>" in path:
            assert all((ROOT / path.replace("<family>", name)).is_file() for name in FAMILIES), path
        elif "<" not in path and "/" in path:
            assert (ROOT / path).exists(), path


def test_every_measure_is_where_the_recipe_says() -> None:
    table, kernel, definition, names, _ = list_steps(read_recipe("Add a measure"))
    row_files = (ROOT / table).parent.glob("*.py")
    rows_text = "".join(path.read_text(encoding="utf-8") for path in row_files)
    listed = (ROOT / names).read_text(encoding="utf-8")
    for name, (_, rows) in FAMILIES.items():
        kernels, definitions = (
            (ROOT / path.replace("<family>", name)).read_text(encoding="utf-8")
            for path in (kernel, definition)
        )
        for each in rows:
            assert f'"{each.name}"' in rows_text
            assert f'("{each.kernel}", |' in kernels
            assert f"def {each.kernel}(" in definitions
            assert f'{each.name} = _measure("{each.name}")' in listed


def test_nothing_else_lists_the_measures() -> None:
    assert set(_core.KERNELS) == set(KERNELS) == {row.kernel for row in TABLE.values()}
    assert set(OBJECTS) == {*TABLE, "NumRelRet", "SetRelP"}


def test_every_policy_value_is_where_the_recipe_says() -> None:
    core, record, *_ = list_steps(read_recipe("Add a policy value"))
    table, fields = ((ROOT / path).read_text(encoding="utf-8") for path in (core, record))
    for field in set(FIELDS) & CHOICES.keys():
        for word in CHOICES[field]:
            assert f'"{word}"' in table
            assert f'"{word}"' in fields


def test_every_alert_kind_is_where_the_recipe_says() -> None:
    module, table, _, _ = list_steps(read_recipe("Add an alert kind"))
    listed = (ROOT / table).read_text(encoding="utf-8")
    for kind, made in KINDS.items():
        path = ROOT / module.replace("<kind>", kind)
        folder = path.with_suffix("")
        sources = sorted(folder.glob("*.py")) if folder.is_dir() else [path]
        text = "".join(each.read_text(encoding="utf-8") for each in sources)
        assert f'kind: Literal["{kind}"]' in text
        assert f"class {made.record.__name__}(Rule):" in text
        assert f"rules.{kind}" in listed


def test_nothing_else_lists_the_alert_kinds() -> None:
    package = ROOT / "python" / "rankscope"
    paths = [path for path in package.rglob("*.*") if path.suffix in {".py", ".j2", ".css", ".js"}]
    assert paths
    for path in paths:
        text = path.read_text(encoding="utf-8")
        named = {kind for kind in KINDS if re.search(rf"['\"]{kind}['\"]", text)}
        assert len(named) <= len(KINDS) // 2, f"{path} lists {', '.join(sorted(named))}"
