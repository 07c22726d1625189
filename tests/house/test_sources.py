"""Rules that hold for every source file."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
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
