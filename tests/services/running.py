"""Programs that run beside a test: the service as an operator starts it, and Prometheus."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass

import httpx
import yaml

LONGEST = 240.0
"""Seconds after which something that was expected won't happen any more."""
AGAIN = 0.1


def poll(look, expected):
    """Return what a function finds, as soon as it finds something."""
    until = time.monotonic() + LONGEST
    while time.monotonic() < until:
        try:
            if found := look():
                return found
        except httpx.TransportError:
            pass  # it doesn't listen yet
        threading.Event().wait(AGAIN)
    raise AssertionError(f"expected {expected} within {LONGEST:g} seconds")


def find_port():
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


@contextmanager
def start(command, log):
    """Run a program until the block ends; it must not end before."""
    with (
        log.open("w") as errors,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True) as process,
    ):
        try:
            yield process
            assert process.poll() is None, log.read_text()
        finally:
            process.terminate()
            process.wait(30)


def command(*arguments):
    done = subprocess.run(
        [sys.executable, "-m", "rankscope", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@contextmanager
def run_service(store, *options, port=0):
    arguments = ("serve", str(store), "--port", str(port), *options)
    with start(
        [sys.executable, "-m", "rankscope", *arguments], store.with_suffix(".log")
    ) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line.startswith("Listening on http://"), store.with_suffix(".log").read_text()
        yield line.split()[2].rstrip("/")


@dataclass(frozen=True, slots=True)
class Prometheus:
    """A Prometheus that runs."""

    url: str

    def ask(self, path, **query):
        answer = httpx.get(f"{self.url}/api/v1/{path}", params=query, timeout=60)
        assert answer.status_code == 200, answer.text
        return answer.json()["data"]

    def query(self, expression):
        return self.ask("query", query=expression)["result"]


@contextmanager
def run_prometheus(folder, configuration):
    file = folder / "prometheus.yml"
    file.write_text(yaml.safe_dump(configuration))
    port = find_port()
    arguments = {
        "config.file": file,
        "storage.tsdb.path": folder / "metrics",
        "web.listen-address": f"127.0.0.1:{port}",
    }
    program = ["prometheus", *(f"--{name}={value}" for name, value in arguments.items())]
    with start(program, folder / "prometheus.log"):
        prometheus = Prometheus(f"http://127.0.0.1:{port}")
        poll(
            lambda: httpx.get(f"{prometheus.url}/-/ready", timeout=5).is_success,
            "Prometheus to be ready",
        )
        yield prometheus


def post(url, key, path, events):
    return httpx.post(
        f"{url}{path}",
        content=json.dumps(events),
        headers={"authorization": f"Bearer {key}", "content-type": "application/json"},
        timeout=60,
    )
