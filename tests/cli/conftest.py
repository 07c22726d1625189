"""What the tests of the command line share."""

from __future__ import annotations

import pytest

from tests.inputs.entry import QRELS, RUN


@pytest.fixture
def qrels(tmp_path):
    path = tmp_path / "qrels"
    path.write_bytes(QRELS)
    return str(path)


@pytest.fixture
def run(tmp_path):
    path = tmp_path / "run"
    path.write_bytes(RUN)
    return str(path)


@pytest.fixture
def files(qrels, run):
    return [qrels, run]
