from __future__ import annotations

from tests.monitor.rules.conftest import empty as empty  # noqa: PLC0414 - a fixture
from tests.monitor.rules.conftest import store as store  # noqa: PLC0414 - likewise
from tests.monitor.rules.conftest import world as world  # noqa: PLC0414 - likewise
