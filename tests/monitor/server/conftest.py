"""A service for each test."""

from __future__ import annotations

import pytest

from tests.monitor.server.service import Service

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    made = Service(tmp_path)
    yield made
    made.store.close()
