"""No import cycles between files of the package, nor between its folders and those of the monitor.

Two graphs are built from the sources, without importing anything:

- Files, by the imports that run when a module is loaded. Imports inside functions and under
  `TYPE_CHECKING` don't run then, and are left out.
- Folders, by all imports, because a reader follows those as well.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ROOT = Path(__file__).resolve().parents[2] / "python"
Graph = dict[str, set[str]]
DRAWN_LATER = {"plots"}
"""A result imports its plot when it is asked to draw itself."""


class Import(NamedTuple):
    """One import: the importing module, the imported one, and whether it runs at load time."""

    importer: str
    imported: str
    at_load: bool


def name_module(path: Path, root: Path) -> str:
    """Return the dotted name of a source file."""
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def is_type_checking(test: ast.expr) -> bool:
    return (isinstance(test, ast.Name) and test.id == "TYPE_CHECKING") or (
        isinstance(test, ast.Attribute) and test.attr == "TYPE_CHECKING"
    )


def walk_imports(node: ast.AST, at_load: bool = True) -> Iterator[tuple[ast.stmt, bool]]:
    """Yield the import statements below a node, with whether each runs at load time."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child, at_load
        elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from walk_imports(child, at_load=False)
        elif isinstance(child, ast.If) and is_type_checking(child.test):
            yield from walk_imports(ast.Module(child.body, []), at_load=False)
            yield from walk_imports(ast.Module(child.orelse, []), at_load)
        elif not isinstance(child, ast.expr):  # imports are statements
            yield from walk_imports(child, at_load)


def name_imported(statement: ast.stmt, importer: str, is_package: bool) -> Iterator[str]:
    """Yield what a statement may import, as dotted names: modules, or names inside of modules."""
    if isinstance(statement, ast.Import):
        yield from (alias.name for alias in statement.names)
    elif isinstance(statement, ast.ImportFrom):
        base = statement.module or ""
        if statement.level:
            up = importer.split(".")[: None if is_package else -1]
            up = up[: len(up) - (statement.level - 1)]
            base = ".".join([*up, base] if base else up)
        yield from (f"{base}.{alias.name}" for alias in statement.names)


def read_imports(root: Path) -> list[Import]:
    """Return every import between the modules below a folder."""
    paths = {name_module(path, root): path for path in sorted(root.rglob("*.py"))}
    compiled = {name_module(path, root) for path in root.rglob("*.pyi")}
    modules = paths.keys() | compiled
    found = []
    for importer, path in paths.items():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for statement, at_load in walk_imports(tree):
            for name in name_imported(statement, importer, path.name == "__init__.py"):
                module = name if name in modules else name.rpartition(".")[0]
                if module in modules and module != importer:
                    found.append(Import(importer, module, at_load))
    return found


@cache
def read_package() -> list[Import]:
    return read_imports(ROOT)


def link_files(imports: list[Import]) -> Graph:
    """Link each file to those that run when it is loaded.

    Importing `a.b.c` also runs `a/__init__.py` and `a/b/__init__.py`, unless the importing file
    is inside of that folder: then they are running already.
    """
    graph: Graph = defaultdict(set)
    for importer, imported, at_load in imports:
        if at_load:
            parts = imported.split(".")
            names = {".".join(parts[:end]) for end in range(1, len(parts) + 1)}
            graph[importer] |= {
                name
                for name in names
                if name == imported or not f"{importer}.".startswith(f"{name}.")
            }
    return graph


def link_folders(imports: list[Import], package: str) -> Graph:
    """Link the folders, and the files beside them, of a package by all imports between them."""
    graph: Graph = defaultdict(set)
    prefix = f"{package}."
    for importer, imported, _ in imports:
        if importer.startswith(prefix) and imported.startswith(prefix):
            one, other = (
                name.removeprefix(prefix).partition(".")[0] for name in (importer, imported)
            )
            if one != other and other not in DRAWN_LATER:
                graph[one].add(other)
    return graph


def find_cycles(graph: Mapping[str, set[str]]) -> list[str]:
    """Return a shortest cycle through each node that is on one, as `a → b → a`, without repeats."""
    cycles: dict[frozenset[str], str] = {}
    for start in sorted(graph):
        paths = [[start]]
        seen: set[str] = set()
        while paths and start not in seen:
            longer = []
            for path in paths:
                for following in sorted(graph.get(path[-1], set()) - seen):
                    seen.add(following)
                    longer.append([*path, following])
            paths = longer
        found = next((path for path in paths if path[-1] == start), None)
        if found:
            cycles.setdefault(frozenset(found), " → ".join(found))
    return list(cycles.values())


def test_files_do_not_import_each_other_in_a_cycle() -> None:
    assert find_cycles(link_files(read_package())) == []


@pytest.mark.parametrize("package", ["rankscope", "rankscope.monitor", "rankscope.monitor.rules"])
def test_folders_do_not_import_each_other_in_a_cycle(package: str) -> None:
    graph = link_folders(read_package(), package)
    assert graph
    assert find_cycles(graph) == []
