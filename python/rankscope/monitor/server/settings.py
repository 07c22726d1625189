"""How much the service takes, from whom, and how long it waits."""

from __future__ import annotations

from rankscope.monitor.events.limits import Limits
from rankscope.records import record

MIB = 1 << 20


@record(frozen=True, slots=True, kw_only=True)
class Settings:
    """How much the service takes, from whom, and how long it waits.

    Args:
        hosts: The names under which it is asked, without ports; others are refused, so that no
            page of a browser reaches it under a name of its own.
        open_project: The project that this machine may use without a key as long as there never
            was one, or `None`; only for a service that others do not reach.
        body_bytes: Bytes of a body as it is sent.
        small_bytes: Bytes of a form, or of a body that is no batch of events.
        plain_bytes: Bytes of a body once it is unpacked.
        ratio: Bytes from one packed byte, beyond the first 1 MiB.
        members: Members of gzip in a body.
        held_bytes: Bytes of all bodies that are there at a time, as they were sent; beyond, senders
            are asked to come back.
        batch: Events in a request.
        body_seconds: How long a body may take to come.
        head_bytes: Bytes of the address and headers of a request.
        wait_seconds: How long a connection may wait for a request to begin.
        connections: Connections at a time; beyond, the one that has waited longest for a request
            is closed, and if none waits, 503 is answered.
        connections_per_address: The same for one address.
        decoders: Large bodies that are decoded at a time.
        readers: Threads that answer questions about projects.
        waiting_reads: Questions that may be asked at a time; beyond, who asks has to come back.
        reads_per_key: Requests of one key that are worked on at a time; the others wait.
        ingests_per_key: Likewise of events.
        waiting_traces: Traces that may be asked for at a time; one of them is worked on.
        read_seconds: How long a read may take, including the time it waits for a thread.
        trace_seconds: The same for a trace, which reads rankings and not only windows.
        key_rate: Requests a second with one key, for long.
        key_burst: Requests with one key at once.
        open_rate: Requests a second from one address where no key is needed, for long.
        open_burst: Such requests at once.
        failure_rate: Requests a second with no good key from one address that are told so.
        failure_burst: Such requests at once.
        events: How much one event may hold.
    """

    hosts: tuple[str, ...] = ("localhost", "127.0.0.1", "[::1]")
    open_project: str | None = None
    body_bytes: int = 8 * MIB
    small_bytes: int = MIB // 4
    plain_bytes: int = 8 * MIB
    ratio: int = 250
    members: int = 100
    held_bytes: int = 64 * MIB
    batch: int = 10_000
    body_seconds: float = 30.0
    head_bytes: int = 32 << 10
    wait_seconds: float = 30.0
    connections: int = 1000
    connections_per_address: int = 250
    decoders: int = 2
    readers: int = 2
    waiting_reads: int = 64
    reads_per_key: int = 8
    ingests_per_key: int = 32
    waiting_traces: int = 8
    read_seconds: float = 20.0
    trace_seconds: float = 120.0
    key_rate: float = 1000.0
    key_burst: int = 2000
    open_rate: float = 200.0
    open_burst: int = 1000
    failure_rate: float = 1.0
    failure_burst: int = 60
    events: Limits = Limits()
