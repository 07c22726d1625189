"""What the tests of the command line share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.inputs.entry import QRELS, RUN


@pytest.fixture
def qrels(tmp_path: Path) -> str:
    path = tmp_path / "qrels"
    path.write_bytes(QRELS)
    return str(path)


@pytest.fixture
def run(tmp_path: Path) -> str:
    path = tmp_path / "run"
    path.write_bytes(RUN)
    return str(path)
