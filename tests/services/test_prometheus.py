"""What the service tells Prometheus, as Prometheus itself sees it."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from tests.monitor.server.music import log_music
from tests.monitor.server.service import Service

if TYPE_CHECKING:
    from pathlib import Path


def test_promtool_finds_nothing_to_improve_in_metrics(tmp_path: Path) -> None:
    service = Service(tmp_path)
    log_music(service)
    key = service.make_key("music", "read")
    service.ask("GET", "/v1/rules", key=key)
    text = service.ask("GET", "/metrics", key=key).text
    checked = subprocess.run(
        ["promtool", "check", "metrics"],  # noqa: S607 - as the system has it
        input=text,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, "", "")
    service.store.close()
