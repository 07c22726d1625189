"""The recipe for a store backend names files that exist, and everything that a backend writes."""

from __future__ import annotations

import re
from pathlib import Path

from rankscope.monitor.store.store import Store, StoreReader

from tests.monitor.store import conformance

ROOT = Path(__file__).resolve().parents[3]
RECIPE = (
    (ROOT / "CONTRIBUTING.md")
    .read_text(encoding="utf-8")
    .partition("## Add a store backend\n")[2]
    .partition("\n## ")[0]
)
NEW = "mysql"
"""Paths with this name are those of the new backend."""


def test_its_files_exist() -> None:
    paths = re.findall(r"`((?:python|tests|docs)/[^`]+|[\w.]+\.(?:md|toml))`", RECIPE)
    assert len(paths) > 5
    missing = [path for path in paths if NEW not in path and not (ROOT / path).exists()]
    assert missing == []
    new = [path for path in paths if NEW in path]
    assert new
    assert all((ROOT / path.replace(NEW, "sqlite")).exists() for path in new)


def test_it_imports_what_exists() -> None:
    (names,) = re.findall(r"from tests\.monitor\.store\.conformance import (.*)", RECIPE)
    documented = conformance.__doc__ or ""
    for name in names.split(", "):
        assert name in documented
    assert "StoreConformance" in conformance.__all__


def test_a_backend_writes_little_besides_connections_and_commits() -> None:
    abstract = Store.__abstractmethods__ | StoreReader.__abstractmethods__
    assert abstract == {"url", "find_secret", "copy", "verify", "transact", "failure"}
