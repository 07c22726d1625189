"""What the tests of defects share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.defects.ways import Ways
from tests.inputs.program import Program

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    """The program, ready to be run many times."""
    running = Program(tmp_path_factory.mktemp("program"))
    yield running
    running.close()


@pytest.fixture
def means(program: Program, tmp_path: Path) -> Ways:
    """Means of measures, by every way in."""
    return Ways(program, tmp_path)
