from __future__ import annotations

from tests.monitor.store.conftest import store as store  # noqa: PLC0414 - a fixture
