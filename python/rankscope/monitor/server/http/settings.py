"""Settings of the service: the channels of notifications, and limits on what it takes."""

from __future__ import annotations

from dataclasses import dataclass, field

from rankscope.monitor.events.limits import Limits
from rankscope.monitor.notify.channels import Channels
from rankscope.monitor.server.http.provider import Provider
from rankscope.monitor.server.http.proxies import Proxies

MIB = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Settings of the service: the channels of notifications, and limits on what it takes.

    Args:
        hosts: The host names it answers for, without ports. Others are refused, so that no web
            page reaches it under a name of its own (DNS rebinding).
        prefix: The path that a proxy has the service at, such as `/ranking`; it may take it off.
        proxies: The reverse proxies whose headers are believed.
        open_project: The project that this machine may use without a key until the first key is
            created, or `None`; only for a service that other machines can't reach.
        body_bytes: The largest body, as sent.
        small_bytes: The largest form, or body other than a batch of events.
        plain_bytes: The largest body once decompressed.
        ratio: The largest compression ratio beyond the first 1 MiB.
        members: The most gzip members in a body.
        held_bytes: Bytes of all bodies in memory, as sent; beyond, senders are told to retry.
        batch: The most events in a request.
        body_seconds: The longest time a body may take to arrive.
        head_bytes: The largest head of a request: address and headers.
        wait_seconds: The longest time a connection may wait for a request to begin.
        connections: The most connections; beyond, the one that has waited longest for a request is
            closed, and if none waits, the answer is 503.
        connections_per_address: The most connections from one address other than that of a proxy.
        decoders: The most large bodies decoded at a time.
        readers: The number of threads that read projects.
        waiting_reads: The most reads that wait or run; beyond, callers are told to retry.
        reads_per_key: The most requests of one key handled at a time; the others wait.
        ingests_per_key: The same for events.
        waiting_traces: The most traces that wait or run; one runs at a time.
        read_seconds: The longest time for a read, including the wait for a thread.
        trace_seconds: The same for a trace, which reads rankings and not only windows.
        key_rate: Sustained requests per second with one key.
        key_burst: Requests with one key in a burst.
        open_rate: Sustained requests per second from one address to routes that need no key.
        open_burst: Such requests in a burst.
        failure_rate: Sustained requests per second from one address without a valid key.
        failure_burst: Such requests in a burst.
        sign_in_rate: Sustained wrong passwords per second from one address.
        sign_in_burst: Wrong passwords in a burst.
        account_rate: Sustained wrong passwords per second for one account, from all addresses but
            the browsers in which its person has signed in before.
        account_burst: Such passwords in a burst.
        events: Limits on a single event.
        notifying: The channels of the operator, and the address of the dashboard.
        provider: The provider of sign-ins, if there is one.
    """

    hosts: tuple[str, ...] = ("localhost", "127.0.0.1", "[::1]")
    prefix: str = ""
    proxies: Proxies = field(default_factory=Proxies)
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
    sign_in_rate: float = 0.1
    sign_in_burst: int = 20
    account_rate: float = 1 / 60
    account_burst: int = 10
    events: Limits = field(default_factory=Limits)
    notifying: Channels = field(default_factory=Channels)
    provider: Provider | None = None
