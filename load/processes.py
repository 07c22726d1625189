"""Processes of their own, and what they used: the service, and an evaluation."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from benchmarks.environments import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SERVICE_CORE = 0
SENDER_CORE = 1
# Kilobytes, but bytes on macOS.
UNIT = 1 if sys.platform == "darwin" else 1 << 10


@dataclass(slots=True)
class Service:
    """A service that runs, and once it has ended, what it used.

    Args:
        port: Where it listens.
        peak: The most memory it had, in bytes.
        seconds: How long its core was busy with it.
        facts: The largest its log was, in bytes.
    """

    port: int
    peak: int = 0
    seconds: float = 0.0
    facts: dict[str, int] = field(default_factory=dict)


@contextmanager
def serve(path: Path) -> Iterator[Service]:
    """Serve a store by a process of its own.

    Args:
        path: The store.

    Yields:
        The service; it ends with the context.
    """
    command = [sys.executable, "-m", "load.listener", str(path), str(SERVICE_CORE)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    if process.stdout is None:
        raise RuntimeError("expected a pipe")
    service = Service(int(process.stdout.readline()))
    try:
        yield service
    finally:
        process.send_signal(signal.SIGTERM)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        process.stdout.close()
        service.peak = usage.ru_maxrss * UNIT
        service.seconds = usage.ru_utime + usage.ru_stime
    if process.returncode:
        raise RuntimeError(f"expected the service to end well, found {process.returncode}")


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What it took to evaluate all that is stored.

    Args:
        rankings: How many rankings.
        seconds: How long it took, from opening the store on.
        peak: The most memory it had, in bytes.
    """

    rankings: int
    seconds: float
    peak: int


def evaluate(path: Path) -> Evaluation:
    """Evaluate a store by a process of its own, which may use all cores.

    Args:
        path: The store.
    """
    command = [sys.executable, "-m", "load.evaluating", str(path)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    if process.stdout is None:
        raise RuntimeError("expected a pipe")
    said = process.stdout.read()
    process.stdout.close()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"expected the evaluation to end well, found {process.returncode}")
    found = json.loads(said)
    return Evaluation(found["rankings"], found["seconds"], usage.ru_maxrss * UNIT)


@contextmanager
def watching(path: Path, service: Service) -> Iterator[None]:
    """Look at the size of the log of a store now and then.

    Args:
        path: The store.
        service: What is told.
    """
    import threading  # noqa: PLC0415 - nobody else needs it

    log = path.with_name(f"{path.name}-wal")
    done = threading.Event()

    def look() -> None:
        while not done.wait(0.5):
            size = log.stat().st_size if log.exists() else 0
            service.facts["log"] = max(service.facts.get("log", 0), size)

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def now() -> float:
    """Give seconds that only grow."""
    return time.perf_counter()
