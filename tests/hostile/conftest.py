"""Files for commands, and services."""

from __future__ import annotations

import pytest

from tests.monitor.server.conftest import make_service as make_service  # noqa: PLC0414 - fixtures
from tests.monitor.server.conftest import service as service  # noqa: PLC0414


@pytest.fixture
def files(tmp_path):
    (tmp_path / "qrels").write_text("q1 0 d1 1\nq2 0 d1 1\n", encoding="utf-8")
    for name in ("run", "other"):
        (tmp_path / name).write_text("q1 Q0 d1 1 0.5 t\nq2 Q0 d1 1 0.5 t\n", encoding="utf-8")
    return tmp_path
