"""The commands of the monitor name labels and attributes that match nothing."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

from tests.cli.monitored import CONFIGURED, Project, write_lines

if TYPE_CHECKING:
    from pathlib import Path

    from tests.program import Program

LABEL = "label 'Click' isn't configured, so it doesn't count (3 of 3 labels); it looks like 'click'"
ATTRIBUTE = "attribute 'device' is missing in all 3 rankings; 'Device' looks like it"


def test_they_are_named_when_they_are_stored_and_by_status_and_doctor(
    program: Program, tmp_path: Path
) -> None:
    project = Project(program, tmp_path)
    assert project.run("configure", *CONFIGURED).returncode == 0
    now = round(time.time() * 1000) - 60_000
    shown = [
        {"ranking_id": name, "time": now, "doc_ids": ["a"], "attributes": {"Device": "tv"}}
        for name in "pqr"
    ]
    clicks = [
        {"ranking_id": name, "time": now + 1, "doc_id": "a", "label": "Click"} for name in "pqr"
    ]
    done = project.run("ingest", write_lines(tmp_path / "rankings.jsonl", shown))
    assert f"note: {ATTRIBUTE}" in done.stderr.decode()
    path = write_lines(tmp_path / "labels.jsonl", clicks)
    done = project.run("label", path)
    assert (done.returncode, done.stderr.decode()) == (0, f"note: {LABEL}\n")
    (said,) = project.say("label", path)["mismatches"]
    assert (said["kind"], said["name"], said["like"]) == ("unknown_label", "Click", "click")
    project.say("evaluate")
    done = project.run("status")
    assert {f"note: {LABEL}", f"note: {ATTRIBUTE}"} <= {*done.stderr.decode().splitlines()}
    assert LABEL in {one["message"] for one in project.say("status")["mismatches"]}
    told = json.loads(project.run("doctor", "--json").stdout)
    (found,) = (one for one in told["findings"] if one["name"] == "names")
    assert not found["is_good"]
    assert LABEL in found["told"]
