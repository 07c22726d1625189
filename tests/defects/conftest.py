"""What the tests of defects share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.defects.ways import Ways
from tests.program import Program


@pytest.fixture
def means(program: Program, tmp_path: Path) -> Ways:
    """Means of measures, by every way in."""
    return Ways(program, tmp_path)
