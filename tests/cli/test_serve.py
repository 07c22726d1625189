"""`rankscope serve`: one process serves a store until it is asked to end."""

from __future__ import annotations

import json
import signal
import subprocess
from contextlib import contextmanager
from http.client import HTTPConnection
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest
from rankscope.monitor.store.keys import make_key
from rankscope.monitor.store.sqlite.store import SQLiteStore

from tests.cli.command import PROGRAM, check_error, run
from tests.cli.monitored import CONFIGURED, make_events, write_lines

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def serving(store: str, *words: str) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Run the service, and give its address and process."""
    process = subprocess.Popen(
        [PROGRAM, "serve", store, "--port", "0", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline().decode()
        assert line.startswith("Listening on http://"), process.communicate()
        yield line.split()[-1], process
    finally:
        process.kill()
        process.communicate()


def ask(address: str, path: str, key: str = "") -> tuple[int, dict[str, object]]:
    """Ask the service for JSON."""
    parts = urlsplit(address)
    connection = HTTPConnection(parts.hostname or "", parts.port, timeout=300)
    connection.request("GET", path, headers={"Authorization": f"Bearer {key}"} if key else {})
    answer = connection.getresponse()
    said = json.loads(answer.read())
    connection.close()
    return answer.status, said


@pytest.mark.slow
def test_events_of_a_service_are_those_of_its_store(tmp_path: Path) -> None:
    store = str(tmp_path / "events.db")
    events = make_events()
    log = write_lines(tmp_path / "log.jsonl", [*events["rankings"], {"ranking_id": "x"}])
    labels = write_lines(tmp_path / "labels.jsonl", events["labels"])
    assert run("monitor", "configure", store, *CONFIGURED).returncode == 0
    with serving(store, "--every", "0.1") as (address, process):
        assert ask(address, "/healthz") == (200, {"status": "ok"})
        done = run("monitor", "ingest", address, log, "--json")
        assert (done.returncode, json.loads(done.stdout)["rejected"]) == (3, 1)
        assert run("monitor", "label", address, labels).returncode == 0
        assert json.loads(run("monitor", "ingest", address, log, "--json").stdout)["duplicate"] > 0
        said = check_error(run("serve", store, "--port", "0"), 4, "store_locked")
        assert f"another process writes to the store: process {process.pid}" in said
        port = str(urlsplit(address).port)
        other = str(tmp_path / "other.db")
        assert port in check_error(run("serve", other, "--port", port), 4, "io")
        process.send_signal(signal.SIGTERM)
        _, told = process.communicate(timeout=300)
        assert process.returncode == 0, told
        lines = [json.loads(line) for line in told.decode().splitlines()]
        assert {"/healthz", "/v1/rankings"} <= {line.get("route") for line in lines}
    with SQLiteStore(store) as opened:
        counted = opened.counters("default")
    assert counted["accepted"] == len(events["rankings"]) + len(events["labels"])


@pytest.mark.slow
def test_a_key_is_read_from_the_environment_and_replaces_no_set(tmp_path: Path) -> None:
    store = tmp_path / "events.db"
    key, secret = make_key("music", ["ingest"], name="log", now=0)
    with SQLiteStore(store) as opened:
        opened.add_key(key, "test")
    log = write_lines(tmp_path / "log.jsonl", make_events()["rankings"])
    with serving(str(store)) as (address, _):
        check = run("monitor", "ingest", address, log)
        assert check.returncode == 4
        assert b"[service_refused]" in check.stderr
        environment = {"RANKSCOPE_KEY": secret.reveal()}
        done = run("monitor", "ingest", address, log, environment=environment)
        assert done.returncode == 0
        assert secret.reveal().encode() not in done.stdout + done.stderr
        few = write_lines(tmp_path / "few.jsonl", make_events()["rankings"][:3])
        replacing = ["monitor", "ingest", address, few, "--replace", "validation"]
        done = run(*replacing, environment=environment)
        assert done.returncode == 4
        assert b"expected a key with the scope admin" in done.stderr
    with SQLiteStore(store) as opened:
        assert opened.counters("music")["accepted"] == len(make_events()["rankings"])


@pytest.mark.slow
def test_a_table_is_sent_with_its_attributes_and_what_is_left_out_is_named(tmp_path: Path) -> None:
    store, log = str(tmp_path / "events.db"), tmp_path / "log.csv"
    configured = [*CONFIGURED, "country"]
    assert run("monitor", "configure", store, *configured).returncode == 0
    rows = [
        f"s{at},{doc},{rank},2026-09-01T10:00:00Z,training,tv,de,{at}"
        for at in range(5)
        for rank, doc in enumerate("abc", start=1)
    ]
    head = "qid,docno,rank,ts,environment,device,country,price"
    log.write_text("\n".join([head, *rows]) + "\n", encoding="utf-8")
    with serving(store) as (address, _):
        done = run("monitor", "ingest", address, str(log))
        assert done.returncode == 1
        assert done.stdout.decode().splitlines()[-1] == "unknown field price\t5"
        assert done.stderr.decode().startswith("note: not stored: price\nHint: store what ")
        again = run("monitor", "ingest", address, str(log), "--ignore", "price")
        assert (again.returncode, again.stderr) == (0, b"")
        words = ["--replace", "training", "--ignore", "price"]
        log.write_text("\n".join([head, *rows[:6]]) + "\n", encoding="utf-8")
        replaced = run("monitor", "ingest", address, str(log), *words)
        assert replaced.returncode == 0
        assert replaced.stdout.decode().splitlines()[0] == "accepted\t2"
        assert replaced.stdout.decode().splitlines()[-1] == "replaced\t5"
    with SQLiteStore(store) as opened:
        assert opened.counters("default")["unknown_field"] == 5
        found = opened.find_ranking("default", "s0")
        assert found is not None
        assert found.attributes == (("country", "de"), ("device", "tv"))
        assert opened.find_ranking("default", "s4") is None


@pytest.mark.parametrize(
    ("words", "status", "code"),
    [
        (["--host", "0.0.0.0"], 2, "no_keys"),  # noqa: S104 - it is refused
        (["--port", "70000"], 2, "usage"),
        (["--every", "0"], 2, "usage"),
        (["--every", "nan"], 2, "usage"),
        (["--host", "192.0.2.1"], 2, "no_keys"),
    ],
)
def test_a_service_that_cannot_be_meant_is_refused(
    words: list[str], status: int, code: str, tmp_path: Path
) -> None:
    check_error(run("serve", str(tmp_path / "events.db"), *words), status, code)
