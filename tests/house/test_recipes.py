"""The recipes of CONTRIBUTING.md name files that exist; measures and policies follow them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from rankscope import _core
from rankscope.measures import OBJECTS, TABLE
from rankscope.measures.table import FAMILIES
from rankscope.monitor.rules.kinds import KINDS
from rankscope.settings.policy import CHOICES, FIELDS

from tests.reference import KERNELS

ROOT = Path(__file__).resolve().parents[2]
NAMES = [family.__name__.rpartition(".")[2] for family in FAMILIES]
PATH = re.compile(r"`([\w./<>-]+\.(?:py|rs|md|toml|html|j2))`")


def read_recipe(title: str) -> str:
    """Return the section of a recipe."""
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
            assert all((ROOT / path.replace("<family>", name)).is_file() for name in NAMES), path
        elif "<" not in path and "/" in path:
            assert (ROOT / path).exists(), path


def test_every_measure_is_where_the_recipe_says() -> None:
    row, kernel, definition, names, _ = list_steps(read_recipe("Add a measure"))
    listed = (ROOT / names).read_text(encoding="utf-8")
    for family, name in zip(FAMILIES, NAMES, strict=True):
        rows, kernels, definitions = (
            (ROOT / path.replace("<family>", name)).read_text(encoding="utf-8")
            for path in (row, kernel, definition)
        )
        for each in family.ROWS:
            assert f'name="{each.name}"' in rows
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
