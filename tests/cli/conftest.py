"""What the tests of the command line share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.inputs.entry import QRELS, RUN
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
def qrels(tmp_path: Path) -> str:
    """A file of judgments."""
    path = tmp_path / "qrels"
    path.write_bytes(QRELS)
    return str(path)


@pytest.fixture
def run(tmp_path: Path) -> str:
    """A file of a run."""
    path = tmp_path / "run"
    path.write_bytes(RUN)
    return str(path)
