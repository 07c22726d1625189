"""Files of the core import each other in one direction, and folders only those before them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

CRATES = Path(__file__).parents[2] / "crates"

# The folders of each crate in the order of the data: each may import the ones before it. What lies
# beside the folders (errors, notes, threads, policy) comes before all of them. Manifests say which
# crate uses which.
FOLDERS = (
    "number",
    "text",
    "table",
    "ids",
    "qrels",
    "items",
    "kernels",
    "rank",
    "resample",
    "evaluate",
    "explain",
    "agreement",
    "fuse",
    "blocks",
    "logged",
)

Imports = dict[str, dict[str, str]]
"""By file, the files that it imports, each with the path that says so."""


def read_imports(sources: Path) -> Imports:
    """Return what each file of a crate imports from its other files, tests left out."""
    modules = {
        _module_of(path.relative_to(sources)): path.relative_to(sources).as_posix()
        for path in sorted(sources.rglob("*.rs"))
    }
    imports: Imports = {}
    for module, name in modules.items():
        text = _strip(sources.joinpath(name).read_text(encoding="utf-8"))
        found = imports[name] = {}
        for path in _paths(text):
            target = _resolve(path, module, modules)
            if target is not None and target != name:
                found.setdefault(target, "::".join(path))
    return imports


def find_cycle(imports: Mapping[str, Mapping[str, str]]) -> list[str]:
    """Return files that import each other in a circle, the first one again at the end."""
    done: set[str] = set()

    def walk(name: str, way: list[str]) -> list[str]:
        if name in way:
            return [*way[way.index(name) :], name]
        if name not in done:
            for target in imports[name]:
                if cycle := walk(target, [*way, name]):
                    return cycle
            done.add(name)
        return []

    return next((cycle for name in imports if (cycle := walk(name, []))), [])


def find_upward(imports: Mapping[str, Mapping[str, str]]) -> list[str]:
    """Return a line for each import of a folder that comes later in the order."""
    return [
        f"{name} imports {path}, and {_folder(target)}/ comes after {_folder(name) or 'the root'}/"
        for name, targets in imports.items()
        if name != "lib.rs"
        for target, path in targets.items()
        if _place(target) > _place(name)
    ]


def _folder(name: str) -> str:
    return name.rpartition("/")[0]


def _place(name: str) -> int:
    return FOLDERS.index(_folder(name)) if _folder(name) else -1


def _module_of(path: Path) -> tuple[str, ...]:
    parts = path.with_suffix("").parts
    return parts[:-1] if parts[-1] in ("mod", "lib") else parts


def _strip(text: str) -> str:
    """Return code without comments, strings and tests, `super` of an inner module as `self`."""
    text = re.sub(r'"(?:[^"\\]|\\.)*"', '""', text)
    text = re.sub(r"//[^\n]*", "", text)
    start = text.find("#[cfg(test)]\nmod tests {")
    text = text if start < 0 else text[:start]
    return re.sub(
        r"^mod \w+ \{\n.*?^\}",
        lambda found: re.sub(r"\bsuper::", "self::", found[0]),
        text,
        flags=re.MULTILINE | re.DOTALL,
    )


def _paths(text: str) -> Iterator[tuple[str, ...]]:
    """Yield the paths of modules that code names: in `use`, in `mod`, and in the middle of it."""
    for found in re.finditer(r"\buse ([^;]+);", text):
        yield from _expand("".join(found[1].split()))
    for found in re.finditer(r"^(?:pub )?mod (\w+);", text, re.MULTILINE):
        yield ("self", found[1])
    for found in re.finditer(r"\b(?:crate|self|super)(?:::\w+)+", text):
        yield tuple(found[0].split("::"))


def _expand(tree: str) -> Iterator[tuple[str, ...]]:
    head, brace, rest = tree.partition("{")
    stem = tuple(part for part in head.split("::") if part)
    if not brace:
        yield stem
        return
    depth, item = 0, ""
    for character in rest[: rest.rindex("}")] + ",":
        depth += (character == "{") - (character == "}")
        if character == "," and depth == 0:
            for path in _expand(item) if item else ():
                yield stem + path
            item = ""
        else:
            item += character


def _resolve(
    path: tuple[str, ...], module: tuple[str, ...], modules: Mapping[tuple[str, ...], str]
) -> str | None:
    """Return the file that a path of a module leads to; None where it leaves the crate."""
    base: tuple[str, ...] = ()
    if path[0] == "crate":
        rest = path[1:]
    elif path[0] == "self":
        base, rest = module, path[1:]
    elif path[0] == "super":
        ups = next((at for at, part in enumerate(path) if part != "super"), len(path))
        base, rest = module[: len(module) - ups], path[ups:]
    elif (*module, path[0]) in modules:
        base, rest = module, path
    else:
        return None
    for end in range(len(rest), -1, -1):
        if (name := modules.get((*base, *rest[:end]))) is not None:
            return name
    return None


SOURCES = sorted(CRATES.glob("*/src"))


@pytest.mark.parametrize("sources", SOURCES, ids=lambda path: path.parent.name)
def test_no_files_of_a_crate_import_each_other_in_a_circle(sources: Path) -> None:
    imports = read_imports(sources)
    assert sum(map(len, imports.values())) > len(imports)
    cycle = find_cycle(imports)
    assert not cycle, "files import each other in a circle: " + " -> ".join(cycle)


@pytest.mark.parametrize("sources", SOURCES, ids=lambda path: path.parent.name)
def test_every_folder_of_a_crate_uses_only_those_before_it(sources: Path) -> None:
    assert {path.name for path in sources.iterdir() if path.is_dir()} <= set(FOLDERS)
    upward = find_upward(read_imports(sources))
    assert not upward, "\n".join(upward)
