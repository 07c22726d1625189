"""Connections to PostgreSQL, and the errors of a store that the server's errors stand for."""

from __future__ import annotations

import math
import os
import time
import weakref
from functools import partial

from sqlalchemy import create_engine, event
from sqlalchemy.pool import NullPool

from rankscope.errors import DeadlineError, FileError, UsageError, hint_extra
from rankscope.monitor.events.rejection import RefusedError, show
from rankscope.monitor.store.deadline import check_deadline, find_deadline
from rankscope.monitor.store.tables.statements import CONVERT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sqlalchemy import Connection, Engine, ExceptionContext

    from rankscope.errors import RankscopeError
    from rankscope.monitor.store.postgres.address import Address

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
AGAIN = "try again later"


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
        # Half a character, in what a program asks for; events are checked before they come here.
        return RefusedError("", "text", show(error.object), code="surrogate")
    if not hasattr(error, "sqlstate"):
        return None
    state = str(getattr(error, "sqlstate", None) or "")
    diagnosis = getattr(error, "diag", None)
    lines = str(error).strip().splitlines() or [type(error).__name__]
    reason = f"{getattr(diagnosis, 'message_primary', None) or lines[0]:.200}"
    if "NUL (0x00)" in reason:
        return RefusedError("", "text without NUL", "NUL", code="nul_byte")
    if state == "57014":
        deadline = find_deadline()
        if deadline is None:
            return DeadlineError("the read was interrupted", code="read_stopped")
        return deadline.make_error()
    code, message, hint = _explain(state, is_lost=is_lost or type(error).__name__ in LOST)
    if not code:
        return None
    shown = f"{reason}, SQLSTATE {state}" if state else reason
    return FileError(f"{message} ({shown})", hint=hint, code=code, file=str(address))


LOST = frozenset({"OperationalError", "InterfaceError", "ConnectionTimeout"})
"""Errors of the driver without a SQLSTATE: there is no connection."""


def _explain(state: str, *, is_lost: bool) -> tuple[str, str, str]:
    """Return the code, the message and the hint for a SQLSTATE; empty where it is our mistake."""
    if state in REPEATED or state == "55P03":
        return "store_busy", "other processes write to the store", AGAIN
    if state == "53100" or state.startswith("58"):
        hint = "free some space on the disk of the server, and look at its log"
        return "store_full", "the server cannot write to its disk", hint
    if state.startswith("53"):
        hint = "try again later; the server allows max_connections connections"
        return "store_busy", "the server has too much to do", hint
    if state == "25006":
        hint = "name the primary server, for example with ?target_session_attrs=read-write"
        return "store_unreachable", "the server only reads: it may be a standby", hint
    if state in {"42501", "3D000"} or state.startswith("28"):
        hint = "check the user and its rights: it has to own the schema, or be able to create it"
        return "io", "the store cannot be opened", hint
    if state in {"42P01", "42703", "3F000"} or state.startswith("XX"):
        return "store_damaged", "the store is damaged", "restore a backup"
    if state.startswith(("08", "57P")) or (is_lost and not state):
        hint = "check that the server runs, and the host, port, user and password"
        return "store_unreachable", "the database cannot be reached", hint
    return "", "", ""


def wait_until(moment: float, seconds: float) -> bool:
    """Wait some seconds, and return whether a moment on the monotonic clock is still to come."""
    left = moment - time.monotonic()
    if left <= 0:
        return False
    time.sleep(min(seconds, left))
    return True
