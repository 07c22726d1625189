"""What says which version this is, and what it needs, says the same everywhere."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
CARGO = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
RECIPE = yaml.safe_load((ROOT / "conda" / "recipe.yaml").read_text(encoding="utf-8"))
VERSION = CARGO["package"]["version"]


def test_the_changelog_begins_with_this_version() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    titles = re.findall(r"^## (\S+)", text, flags=re.MULTILINE)
    assert next(title for title in titles if title != "Unreleased") == VERSION


def test_the_conda_recipe_has_this_version() -> None:
    assert RECIPE["context"]["version"] == VERSION


def test_the_conda_recipe_needs_what_the_wheel_needs() -> None:
    project = PROJECT["project"]
    needed = [f"python {project['requires-python']}", *map(_space, project["dependencies"])]
    assert sorted(RECIPE["requirements"]["run"]) == sorted(needed)
    (maturin,) = PROJECT["build-system"]["requires"]
    assert sorted(RECIPE["requirements"]["host"]) == sorted([needed[0], "pip", _space(maturin)])


def test_the_conda_recipe_has_the_same_commands_and_summary() -> None:
    project = PROJECT["project"]
    commands = [f"{name} = {target}" for name, target in project["scripts"].items()]
    assert RECIPE["build"]["python"]["entry_points"] == commands
    assert RECIPE["about"]["summary"] == project["description"]
    assert RECIPE["about"]["license"] == project["license"]


def _space(requirement: str) -> str:
    """Return a requirement as conda writes it, with a space after the name."""
    return re.sub(r"(?<=\w)(?=[<>=!])", " ", requirement, count=1)
