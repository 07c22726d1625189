"""What the tests of defects share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.defects.ways import Ways

if TYPE_CHECKING:
    from pathlib import Path

    from tests.program import Program


@pytest.fixture
def means(program: Program, tmp_path: Path) -> Ways:
    """Means of measures, by every way in."""
    return Ways(program, tmp_path)
