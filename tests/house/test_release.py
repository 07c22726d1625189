"""What says which version this is says the same everywhere."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CARGO = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))
VERSION = CARGO["package"]["version"]


def test_the_changelog_begins_with_this_version() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    titles = re.findall(r"^## (\S+)", text, flags=re.MULTILINE)
    assert next(title for title in titles if title != "Unreleased") == VERSION
