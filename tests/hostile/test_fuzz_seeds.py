"""The seeds of the fuzz targets that are written in Python, with what fuzzing has found."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from dev.fuzz.targets import SEEDS, TARGETS

if TYPE_CHECKING:
    from pathlib import Path

RUST = {path.stem for path in (SEEDS.parent / "fuzz_targets").glob("*.rs")}
CASES = [path for path in sorted(SEEDS.glob("*/*")) if path.parent.name in TARGETS]


@pytest.mark.parametrize("path", CASES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_seed_is_read_or_refused(path: Path) -> None:
    TARGETS[path.parent.name](path.read_bytes())


def test_every_target_has_seeds_and_all_seeds_a_target() -> None:
    assert {path.name for path in SEEDS.iterdir()} == RUST | TARGETS.keys()
    assert not RUST & TARGETS.keys()
    assert {path.parent.name for path in CASES} == TARGETS.keys()
