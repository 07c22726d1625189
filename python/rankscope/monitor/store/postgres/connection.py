"""Connections to PostgreSQL, and the errors of a store that the server's errors stand for."""

from __future__ import annotations

import math
import os
import time
import weakref
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from sqlalchemy import create_engine, event
from sqlalchemy.pool import NullPool

from rankscope.errors import FileError, RankscopeError, UsageError, hint_extra
from rankscope.monitor.events.rejection import RefusedError
from rankscope.monitor.store.deadline import check_deadline, explain_stop, find_deadline
from rankscope.monitor.store.postgres.address import Address
from rankscope.monitor.store.tables.statements import CONVERT, refuse_text

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine, ExceptionContext


CONNECTING = {
    "application_name": "rankscope",
    "connect_timeout": "5",
    # A machine that is gone holds its locks until the server notices.
    "keepalives_idle": "10",
    "keepalives_interval": "5",
    "keepalives_count": "3",
    "tcp_user_timeout": "30000",
}
"""Parameters of libpq, unless the URL has others."""
IDLE_SECONDS = 60
"""A writer that does nothing for so long within a transaction loses its connection: others wait."""
LOOKUPS = {
    "random_page_cost": "1.1",
    "enable_seqscan": "off",
    "enable_hashjoin": "off",
    "enable_mergejoin": "off",
}
"""What a writer looks up are some hundred ids, always by an index, however small the tables are."""
POOLED = 4
REPEATED = frozenset({"40001", "40P01"})
"""SQLSTATE of transactions that did nothing because of others, and succeed when they are repeated:
serialization failures and deadlocks."""
LOST = frozenset({"OperationalError", "InterfaceError", "ConnectionTimeout"})
"""Errors of the driver without a SQLSTATE: there is no connection."""
UNREACHABLE = "08"
EXPLAINED: tuple[tuple[tuple[str, ...], str, str, str], ...] = (
    ((*REPEATED, "55P03"), "store_busy", "other processes write to the store", "try again later"),
    (
        ("53100", "58"),
        "store_full",
        "the server cannot write to its disk",
        "free some space on the disk of the server, and look at its log",
    ),
    (
        ("53",),
        "store_busy",
        "the server has too much to do",
        "try again later; the server allows max_connections connections",
    ),
    (
        ("25006",),
        "store_unreachable",
        "the server only reads: it may be a standby",
        "name the primary server, for example with ?target_session_attrs=read-write",
    ),
    (
        ("42501", "3D000", "28"),
        "io",
        "the store cannot be opened",
        "check the user and its rights: it has to own the schema, or be able to create it",
    ),
    (
        ("42P01", "42703", "3F000", "XX"),
        "store_damaged",
        "the store is damaged",
        "restore a backup",
    ),
    (
        (UNREACHABLE, "57P"),
        "store_unreachable",
        "the database cannot be reached",
        "check that the server runs, and the host, port, user and password",
    ),
)
"""Errors of a store by the start of SQLSTATE, the first that fits: their code, message and hint."""


def connect_postgres(address: Address, *, writes: bool, busy_seconds: float = 0.0) -> Engine:
    """Return an engine for a database.

    What a connection reads is of one moment, unless it writes: then each statement sees what was
    committed before it, as a writer has to that waits for other writers.
    """
    pool: dict[str, Any] = (
        {"poolclass": NullPool}
        if writes
        else {"pool_size": POOLED, "max_overflow": -1, "pool_pre_ping": True}
    )
    try:
        engine = create_engine(
            address.url,
            connect_args={
                name: value for name, value in CONNECTING.items() if name not in address.url.query
            },
            isolation_level="READ COMMITTED" if writes else "REPEATABLE READ",
            hide_parameters=True,  # stored data does not belong in logs
            use_native_hstore=False,
            execution_options={CONVERT: partial(convert_error, address=address)},
            **pool,
        )
    except ModuleNotFoundError as error:
        raise UsageError(
            "stores in PostgreSQL need psycopg, which is not installed",
            hint=hint_extra("postgres"),
            code="missing_extra",
        ) from error
    settings = _settings(address, busy_seconds if writes else None)

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _record: object) -> None:  # noqa: ANN401 - of the driver
        connection.autocommit = True
        connection.execute(*settings)
        connection.autocommit = False
        connection.read_only = not writes

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        deadline = None if writes else find_deadline()
        if deadline is not None:
            check_deadline()
            limit = max(1, math.ceil(1000 * deadline.seconds_left))
            connection.exec_driver_sql(f"SET LOCAL statement_timeout = {limit}")

    @event.listens_for(engine, "handle_error", retval=True)
    def convert(context: ExceptionContext) -> BaseException | None:
        return convert_error(context.original_exception, address, is_lost=context.is_disconnect)

    _leave_to_parent(engine)
    return engine


def _settings(address: Address, busy_seconds: float | None) -> tuple[str, tuple[str, ...]]:
    """Return the statement that prepares a connection, with its parameters."""
    settings = {"search_path": f'"{address.schema}"', "client_encoding": "UTF8"}
    if busy_seconds is not None:
        settings["lock_timeout"] = str(math.ceil(1000 * busy_seconds))
        settings["idle_in_transaction_session_timeout"] = str(1000 * IDLE_SECONDS)
        settings |= LOOKUPS
    calls = ["set_config(%s, %s, false)"] * len(settings)
    parameters = tuple(part for item in settings.items() for part in item)
    if busy_seconds is not None:
        # What is acknowledged is on the disk of the server; a stronger setting is kept.
        calls.append(
            "set_config('synchronous_commit', CASE WHEN current_setting('synchronous_commit') IN "
            "('off', 'local', 'remote_write') THEN 'on' ELSE "
            "current_setting('synchronous_commit') END, false)"
        )
    return f"SELECT {', '.join(calls)}", parameters


def _leave_to_parent(engine: Engine) -> None:
    """Make a child process open connections of its own: those of its parent stay open."""
    this = weakref.ref(engine)

    def leave() -> None:
        inherited = this()
        if inherited is not None:
            inherited.dispose(close=False)

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=leave)


def convert_error(
    error: BaseException | None, address: Address, *, is_lost: bool = False
) -> RankscopeError | None:
    """Return the error of a store for one of the driver, `None` where it is a mistake of ours."""
    if isinstance(error, UnicodeEncodeError):
        return refuse_text(error)
    if not hasattr(error, "sqlstate"):
        return None
    state = str(getattr(error, "sqlstate", None) or "")
    diagnosis = getattr(error, "diag", None)
    lines = str(error).strip().splitlines() or [type(error).__name__]
    reason = f"{getattr(diagnosis, 'message_primary', None) or lines[0]:.200}"
    if "NUL (0x00)" in reason:
        return RefusedError("", "text without NUL", "NUL", code="nul_byte")
    if state == "57014":
        return explain_stop()
    is_lost = is_lost or type(error).__name__ in LOST
    kind = state or (UNREACHABLE if is_lost else "")
    explained = next((rest for starts, *rest in EXPLAINED if kind.startswith(starts)), None)
    if explained is None:
        return None
    code, message, hint = explained
    shown = f"{reason}, SQLSTATE {state}" if state else reason
    return FileError(f"{message} ({shown})", hint=hint, code=code, file=str(address))


def wait_until(moment: float, seconds: float) -> bool:
    """Wait some seconds, and return whether a moment on the monotonic clock is still to come."""
    left = moment - time.monotonic()
    if left <= 0:
        return False
    time.sleep(min(seconds, left))
    return True


@dataclass(frozen=True, slots=True)
class ServerHealth:
    """A server and the database of a store.

    Args:
        version: The version of the server.
        size: The size of the database, in bytes.
        unsafe: A setting without which a power loss can lose what was acknowledged, if it is off;
            otherwise empty.
    """

    version: str
    size: int
    unsafe: str


def read_health(connection: Connection) -> ServerHealth:
    """Read the settings of the server on which the promises of a store rest."""
    version, size, *settings = connection.exec_driver_sql(
        "SELECT current_setting('server_version'), pg_database_size(current_database()), "
        "current_setting('fsync'), current_setting('full_page_writes')"
    ).one()
    names = ("fsync", "full_page_writes")
    off = [name for name, value in zip(names, settings, strict=True) if value != "on"]
    return ServerHealth(str(version), int(size), off[0] if off else "")
