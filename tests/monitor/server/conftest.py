"""A service for each test."""

from __future__ import annotations

import pytest
from rankscope.monitor.server.http.settings import Settings

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


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """One for all tests of a file that ask often and store no events."""
    often = Settings(failure_burst=10**6, open_burst=10**6, key_burst=10**6)
    made = Service(tmp_path_factory.mktemp("shared"), often)
    yield made
    made.store.close()
