"""Processes of their own, and what they used: the service, and an evaluation."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from dev.environments import ROOT
from dev.load.cores import find_cores, stay_on, stay_on_all

if TYPE_CHECKING:
    import resource
    from collections.abc import Callable, Iterator

SERVE = "import sys; from rankscope._cli import main; sys.exit(main())"
ADDRESS = re.compile(r"http://127\.0\.0\.1:(\d+)/")
SERVICE_CORE = 0
SENDER_CORE = 1
# Kilobytes, but bytes on macOS. Asked for only where there is no /proc: Linux counts this process,
# too, of which the other was a copy until it became another program.
UNIT = 1 if sys.platform == "darwin" else 1 << 10


@dataclass(slots=True)
class Service:
    """A service that runs, and once it has ended, what it used.

    Args:
        port: Where it listens.
        peak: The most memory it had with the processes it has started, in bytes.
        seconds: How long its core was busy with all of them.
        log: The largest its log was, in bytes.
    """

    port: int
    peak: int = 0
    seconds: float = 0.0
    log: int = 0


@contextmanager
def serve(path: Path) -> Iterator[Service]:
    """Serve a store by a process of its own, as `rankscope serve` does, on a core of its own.

    Args:
        path: The store.

    Yields:
        The service; it ends with the context. Meanwhile this process stays on another core.
    """
    free = find_cores()
    stay_on(SERVICE_CORE)
    with path.with_name(f"{path.name}.log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-c", SERVE, "serve", str(path), "--port", "0"],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
    stay_on(SENDER_CORE)
    if process.stdout is None:
        raise RuntimeError("expected a pipe")
    found = ADDRESS.search(process.stdout.readline())
    if found is None:
        raise RuntimeError("expected the service to say where it listens")
    service = Service(int(found[1]))
    try:
        with watch_memory(process.pid) as seen:
            yield service
    finally:
        process.send_signal(signal.SIGTERM)
        usage = _wait(process)
        stay_on_all(free)
        service.peak = seen[0] or usage.ru_maxrss * UNIT
        service.seconds = usage.ru_utime + usage.ru_stime


def _wait(process: subprocess.Popen[str]) -> resource.struct_rusage:
    """Wait for a process, and give what it used."""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.stdout is not None:
        process.stdout.close()
    # A service that was asked to end by a signal says so.
    if process.returncode not in {0, -signal.SIGTERM, 128 + signal.SIGTERM}:
        raise RuntimeError(f"expected a process to end well, found {process.returncode}")
    return usage


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What it took to evaluate all that is stored.

    Args:
        rankings: How many rankings.
        opening: How many seconds it took to open the store, which checks all of its pages.
        seconds: How many seconds it took to evaluate them.
        peak: The most memory it had with the processes it has started, in bytes.
    """

    rankings: int
    opening: float
    seconds: float
    peak: int


def evaluate(path: Path) -> Evaluation:
    """Evaluate a store by a process of its own, which may use all cores.

    Args:
        path: The store.
    """
    command = [sys.executable, "-m", "dev.load.evaluating", str(path)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    if process.stdout is None:
        raise RuntimeError("expected a pipe")
    with watch_memory(process.pid) as seen:
        said = process.stdout.read()
    usage = _wait(process)
    found = json.loads(said)
    return Evaluation(**found, peak=seen[0] or usage.ru_maxrss * UNIT)


@contextmanager
def watching(path: Path, service: Service) -> Iterator[None]:
    """Look at the size of the log of a store now and then.

    Args:
        path: The store.
        service: The service that gets the size.
    """
    log = path.with_name(f"{path.name}-wal")

    def look() -> None:
        size = log.stat().st_size if log.exists() else 0
        service.log = max(service.log, size)

    with _repeating(look):
        yield


@contextmanager
def watch_memory(process: int) -> Iterator[list[int]]:
    """Look now and then at the memory of a process and of those that it has started.

    Args:
        process: The number of the process.

    Yields:
        A list of one number: the most so far, in bytes; 0 where the system does not say.
    """
    most = [0]

    def look() -> None:
        most[0] = max(most[0], sum(map(_find_memory, _find_family(process))))

    with _repeating(look):
        yield most


def _find_family(process: int) -> list[int]:
    """Return a process, those that it has started, and those that these have."""
    found = [process]
    for one in Path(f"/proc/{process}/task").glob("*/children"):
        try:
            numbers = one.read_text(encoding="ascii").split()
        except OSError:
            continue
        for number in numbers:
            found += _find_family(int(number))
    return found


def _find_memory(process: int) -> int:
    try:
        status = Path(f"/proc/{process}/status").read_text(encoding="utf-8")
    except OSError:
        return 0
    found = re.search(r"VmRSS:\s+(\d+) kB", status)
    return int(found[1]) << 10 if found else 0


@contextmanager
def _repeating(look: Callable[[], None]) -> Iterator[None]:
    done = threading.Event()

    def repeat() -> None:
        while not done.wait(0.25):
            look()

    thread = threading.Thread(target=repeat)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
