"""What the tests of defects share."""

from __future__ import annotations

import pytest

from tests.defects.ways import compute_means


@pytest.fixture
def means():
    return compute_means
