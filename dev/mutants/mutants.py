"""What can be changed in a source, by the operators of mutmut and cargo-mutants."""

from __future__ import annotations

import difflib
import json
import re
import subprocess
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import libcst as cst
from mutmut.mutation.mutators import mutation_operators, operator_string

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

HUNK = re.compile(r"@@ -(\d+)")


@dataclass(frozen=True)
class Mutant:
    """A source with one change.

    Attributes:
        path: The source.
        operator: What changed it.
        before: Its text.
        mutate: Returns the changed text.
    """

    path: Path
    operator: str
    before: str
    mutate: Callable[[], str]

    def describe(self, root: Path) -> dict[str, str]:
        """Return the place, the operator, and the lines that differ."""
        before, after = self.before.splitlines(), self.mutate().splitlines()
        _, _, hunk, *lines = difflib.unified_diff(before, after, lineterm="", n=0)
        place = f"{self.path.relative_to(root)}:{HUNK.match(hunk)[1]}"  # type: ignore[index]
        return {"place": place, "operator": self.operator, "diff": "\n".join(lines[:6])}


def list_sites(root: Path, paths: Sequence[Path]) -> list[list[Mutant]]:
    """List the mutants of sources by what they change.

    A call with five arguments has ten mutants and a comparison one, so a sample of sites is
    about more of the code than one of mutants.
    """
    sites = [site for path in paths if path.suffix == ".py" for site in _list_python(path)]
    if rust := [path for path in paths if path.suffix == ".rs"]:
        sites += _list_rust(root, rust)
    return sites


def _list_python(path: Path) -> Iterator[list[Mutant]]:
    before = path.read_text("utf-8")
    module = cst.parse_module(before)
    for node in _walk(module):
        for kind, operator in mutation_operators:
            # Texts are wording, or names that fail everywhere.
            if isinstance(node, kind) and operator is not operator_string:
                name = operator.__name__.removeprefix("operator_")
                changes = [partial(_change, module, node, new) for new in operator(node)]
                if changes:
                    yield [Mutant(path, name, before, change) for change in changes]


def _change(module: cst.Module, node: cst.CSTNode, changed: cst.CSTNode) -> str:
    code: str = cst.ensure_type(module.deep_replace(node, changed), cst.Module).code
    return code


def _walk(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """List the nodes below one, without what only type checkers read and decorators."""
    match node:
        case cst.Annotation() | cst.Decorator() | cst.If(test=cst.Name("TYPE_CHECKING")):
            return
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name("TYPE_CHECKING"))]):
            return
    yield node
    for child in node.children:
        yield from _walk(child)


def _list_rust(root: Path, paths: Sequence[Path]) -> list[list[Mutant]]:
    files = [word for path in paths for word in ("--file", str(path.relative_to(root)))]
    command = ["cargo", "mutants", "--list", "--json", *files]
    sites: dict[str, list[Mutant]] = {}
    for found in json.loads(subprocess.check_output(command, cwd=root)):
        path = root / found["file"]
        before = path.read_text("utf-8")
        mutant = Mutant(path, found["genre"], before, partial(_replace, before, found))
        sites.setdefault(f"{path} {found['span']}", []).append(mutant)
    return list(sites.values())


def _replace(before: str, found: dict[str, Any]) -> str:
    """Replace the span of a mutant, whose lines and columns begin at 1."""
    lines = before.splitlines(keepends=True)
    start, end = (
        sum(map(len, lines[: place["line"] - 1])) + place["column"] - 1
        for place in (found["span"]["start"], found["span"]["end"])
    )
    replacement: str = found["replacement"]
    return before[:start] + replacement + before[end:]
