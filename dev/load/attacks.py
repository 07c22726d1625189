"""How long a request with one ranking takes while somebody attacks: `python -m dev.load.attacks`.

Each attack runs for some seconds in a process of its own. Meanwhile one client sends a ranking
every 50 ms over a kept connection, and the time from when each was due to its answer is measured.
With `--peer PYTHON`, the rankscope of another environment is attacked in the same run.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rankscope.monitor.events.times import format_time, read_clock

from dev.environments import ROOT
from dev.load.processes import ADDRESS, SERVE
from dev.load.searches import make_batch

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

SECONDS = 8.0
INTERVAL = 0.05
LARGE_BYTES = 7 << 20
CHUNKS = 600_000
IDLE_CONNECTIONS = 1500
SLOW_CONNECTIONS = 1000
FLOODERS = 32
MOST_TIMES = 5
"""How much longer than without an attack the 99th percentile may be."""


@dataclass(frozen=True, slots=True)
class Target:
    """A service to attack.

    Args:
        port: Where it listens.
        ingest: A key that may send events.
        read: A key that may read.
    """

    port: int
    ingest: str
    read: str

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Open a connection."""
        return await asyncio.open_connection("127.0.0.1", self.port)

    def head(self, method: str, path: str, key: str, *more: str) -> bytes:
        """Write the head of a request."""
        lines = [f"{method} {path} HTTP/1.1", "Host: localhost", *more]
        if key:
            lines.append(f"Authorization: Bearer {key}")
        return "\r\n".join([*lines, "", ""]).encode()


async def read_answer(reader: asyncio.StreamReader) -> int:
    """Read an answer, and return its status."""
    head = await reader.readuntil(b"\r\n\r\n")
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            await reader.readexactly(int(line.partition(b":")[2]))
    return int(head.split(b" ", 2)[1])


async def send_tiny_chunks(target: Target) -> None:
    """Send a body of 600 KB in chunks of one byte, without a key."""
    head = target.head(
        "POST", "/v1/rankings", "", "Content-Type: application/json", "Transfer-Encoding: chunked"
    )
    reader, writer = await target.connect()
    try:
        writer.write(head + b"1\r\n \r\n" * CHUNKS)
        await writer.drain()
        await reader.read()
    finally:
        writer.close()


async def hold_connection(target: Target) -> None:
    """Hold a connection without a request."""
    reader, writer = await target.connect()
    try:
        await reader.read()
    finally:
        writer.close()
    await asyncio.sleep(1)


async def send_slowly(target: Target) -> None:
    """Send the head of a request byte by byte."""
    reader, writer = await target.connect()
    try:
        for byte in target.head("GET", "/healthz", ""):
            writer.write(bytes([byte]))
            await writer.drain()
            await asyncio.sleep(1)
            if reader.at_eof():
                break
    finally:
        writer.close()
    await asyncio.sleep(1)


async def read_description(target: Target) -> None:
    """Read the OpenAPI description again and again."""
    await repeat_request(target, target.head("GET", "/openapi.json", target.read))


async def read_overview(target: Target) -> None:
    """Read the first page again and again."""
    await repeat_request(target, target.head("GET", "/", target.read))


async def send_bombs(target: Target) -> None:
    """Send 32 KB of gzip that hold 8 MB."""
    plain = b"[" + b"0," * ((8 << 20) // 2 - 2) + b"0]"
    packed = gzip.compress(plain)
    head = target.head(
        "POST",
        "/v1/rankings",
        target.ingest,
        "Content-Type: application/json",
        "Content-Encoding: gzip",
        f"Content-Length: {len(packed)}",
    )
    await repeat_request(target, head + packed)


async def send_large_batches(target: Target) -> None:
    """Send batches of 7 MB."""
    number = int.from_bytes(os.urandom(3), "big")
    while True:
        pieces = []
        size = 0
        while size < LARGE_BYTES:
            number += 1
            pieces.append(make_batch(number).write_rankings()[1:-1])
            size += len(pieces[-1])
        body = b"[" + b",".join(pieces) + b"]"
        head = target.head(
            "POST",
            "/v1/rankings",
            target.ingest,
            "Content-Type: application/json",
            f"Content-Length: {len(body)}",
            "Connection: close",
        )
        reader, writer = await target.connect()
        try:
            writer.write(head + body)
            await writer.drain()
            await reader.read()
        finally:
            writer.close()


async def repeat_request(target: Target, request: bytes) -> None:
    """Send a request again and again over one connection, until the service closes it."""
    reader, writer = await target.connect()
    try:
        while True:
            writer.write(request)
            await writer.drain()
            await read_answer(reader)
    finally:
        writer.close()


ATTACKS: dict[str, tuple[str, Callable[[Target], Awaitable[None]] | None, int]] = {
    "idle": ("no attack", None, 0),
    "chunks": ("600 KB in 1-byte chunks, no key, by 4 clients", send_tiny_chunks, 4),
    "connections": ("1,500 idle connections from one address", hold_connection, IDLE_CONNECTIONS),
    "slowloris": ("slowloris, 1,000 connections", send_slowly, SLOW_CONNECTIONS),
    "openapi": ("OpenAPI flood with a read key, 32 clients", read_description, FLOODERS),
    "overview": ("overview flood with a read key, 32 clients", read_overview, FLOODERS),
    "bombs": ("gzip bombs of 8 MB, 4 clients", send_bombs, 4),
    "batches": ("two streams of 7 MB batches", send_large_batches, 2),
}


async def attack(name: str, target: Target) -> None:
    """Attack until the process is ended."""
    _, once, clients = ATTACKS[name]
    if once is None:
        return

    async def repeat() -> None:
        while True:
            with suppress(OSError, EOFError, asyncio.IncompleteReadError):
                await once(target)
            await asyncio.sleep(0.001)

    await asyncio.gather(*(repeat() for _ in range(clients)))


@dataclass(frozen=True, slots=True)
class Probe:
    """What a client met that sent one ranking at a time.

    Args:
        seconds: How long each answer took, from when its request was due.
        others: How many answers were not 200.
    """

    seconds: list[float]
    others: int

    @property
    def most(self) -> float:
        """The 99th percentile."""
        return sorted(self.seconds)[min(len(self.seconds) - 1, int(0.99 * len(self.seconds)))]

    def __str__(self) -> str:
        shown = (statistics.median(self.seconds), self.most, max(self.seconds))
        text = ", ".join(f"{1000 * one:.0f}" for one in shown)
        return f"{text} ({self.others} refused)" if self.others else text


async def probe(target: Target, seconds: float) -> Probe:
    """Send a ranking every 50 ms for some seconds."""
    connection = None
    delays, others = [], 0
    begin = time.perf_counter()
    for turn in range(int(seconds / INTERVAL)):
        due = begin + turn * INTERVAL
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        body = json.dumps(_make_ranking(os.urandom(8).hex())).encode()
        head = target.head(
            "POST",
            "/v1/rankings",
            target.ingest,
            "Content-Type: application/json",
            f"Content-Length: {len(body)}",
        )
        try:
            connection = connection or await target.connect()
            connection[1].write(head + body)
            status = await asyncio.wait_for(read_answer(connection[0]), 60)
        except (OSError, EOFError, asyncio.IncompleteReadError, TimeoutError):
            status = 0
        if status != 200:
            others += 1
            if connection is not None:
                connection[1].close()
            connection = None
        delays.append(time.perf_counter() - due)
    if connection is not None:
        connection[1].close()
    return Probe(delays, others)


def _make_ranking(name: str) -> dict[str, object]:
    items = [{"doc_id": f"item{at:08}", "rank": at, "score": 1 / at} for at in range(1, 51)]
    return {"ranking_id": name, "time": format_time(read_clock()), "items": items}


@contextmanager
def serve(python: str, path: Path) -> Iterator[Target]:
    """Serve a new store by the rankscope of an environment."""
    make = (
        "import sys; from rankscope.monitor import Configuration, Monitor, define\n"
        "from rankscope.monitor.store.keys import make_key\n"
        "music = define(measures=['nDCG@10'], positive='click', window=3600)\n"
        "with Monitor.open(sys.argv[1], 'load') as monitor:\n"
        "    monitor.configure(Configuration(definition=music, baseline=None))\n"
        "    for scope in ('ingest', 'read'):\n"
        "        key, shown = make_key('load', [scope], name='attack', now=0)\n"
        "        monitor.store.add_key(key, 'attack')\n"
        "        print(shown.reveal())"
    )
    # Run from the folder of the store: a checkout would take the place of what is installed.
    given: dict[str, object] = {"cwd": path.parent, "text": True}
    keys = subprocess.run(
        [python, "-c", make, str(path)],
        check=True,
        stdout=subprocess.PIPE,
        **given,  # type: ignore[call-overload]
    ).stdout.split()
    with (path.parent / "log").open("w") as log:
        process = subprocess.Popen(
            [python, "-c", SERVE, "serve", str(path), "--port", "0"],
            stdout=subprocess.PIPE,
            stderr=log,
            **given,  # type: ignore[call-overload]
        )
    found = ADDRESS.search(process.stdout.readline())
    if found is None:
        raise RuntimeError("expected the service to say where it listens")
    try:
        yield Target(int(found[1]), *keys)
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def measure(python: str, name: str, seconds: float) -> Probe:
    """Measure one attack on a new service."""
    with (
        tempfile.TemporaryDirectory(prefix="rankscope-attack-") as folder,
        serve(python, Path(folder) / "store.db") as target,
    ):
        attacker = subprocess.Popen(
            [
                *("nice", "-n", "10", sys.executable, "-m", "dev.load.attacks"),
                *("--attacker", name, str(target.port), target.ingest, target.read),
            ],
            cwd=ROOT,
        )
        try:
            asyncio.run(probe(target, 2))  # warm, and the attack has begun
            return asyncio.run(probe(target, seconds))
        finally:
            attacker.kill()
            attacker.wait()


def main() -> int:
    """Measure all attacks, and print a table.

    Returns:
        Exit status: 1 where a request was refused, or the 99th percentile was more than 5 times
        that without an attack.
    """
    parser = argparse.ArgumentParser(prog="python -m dev.load.attacks", description=__doc__)
    parser.add_argument("--peer", help="interpreter of another environment, measured beside")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="how long each one runs")
    parser.add_argument("--only", nargs="+", choices=[*ATTACKS], default=[*ATTACKS])
    parser.add_argument("--attacker", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.attacker:
        name, port, ingest, read = options.attacker
        with suppress(KeyboardInterrupt):
            asyncio.run(attack(name, Target(int(port), ingest, read)))
        return 0
    pythons = [one for one in (options.peer, sys.executable) if one]
    print("POST of one ranking, ms: half, 99 of 100, the last\n")
    idle = None
    is_slow = False
    for name in dict.fromkeys(["idle", *options.only]):
        probes = [measure(python, name, options.seconds) for python in pythons]
        print(f"| {ATTACKS[name][0]} | " + " | ".join(map(str, probes)) + " |", flush=True)
        idle = idle or probes[-1].most
        is_slow |= probes[-1].most > MOST_TIMES * idle or probes[-1].others > 0
    return 1 if is_slow else 0


if __name__ == "__main__":
    sys.exit(main())
