"""A service that this machine may use without a key."""

from __future__ import annotations

import pytest
from rankscope.monitor.server.settings import Settings

from tests.monitor.server.service import Service

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Service]:
    made = Service(tmp_path, Settings(open_project="default"), has_key=False)
    yield made
    made.store.close()
