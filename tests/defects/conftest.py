"""What the tests of defects share."""

from __future__ import annotations

import pytest

from tests.defects.ways import Ways, compute_means


@pytest.fixture
def means() -> Ways:
    return compute_means
