"""What a process and the service whose store it borrows send each other: JSON, and nothing else.

Nothing that is received can run: a write is the name of one of `WRITES` with its arguments, and
arguments are plain values and records of `RECORDS`. Both lists are closed. What anyone who may
connect can do with them is what the same user could do with the file of the store.
"""

from __future__ import annotations

import json
import struct
from base64 import b64decode, b64encode
from collections import Counter

from rankscope import _core, errors
from rankscope.errors import FileError, RankscopeError, UsageError
from rankscope.inputs.buckets import DataFile
from rankscope.monitor.events.outcome import Outcome, Outcomes
from rankscope.monitor.store import records
from rankscope.monitor.store.keys import ApiKey, AuditEntry, Secret
from rankscope.monitor.store.lake.address import Lake, TableAddress
from rankscope.monitor.store.lake.state import KnownFile, SeenHour, set_lake, store_scan
from rankscope.monitor.store.log.append import store_events
from rankscope.monitor.store.log.blocks import Block
from rankscope.monitor.store.log.files import ArchivedValues
from rankscope.monitor.store.log.ids import remove_ids
from rankscope.monitor.store.log.places import set_location
from rankscope.monitor.store.log.removal import (
    Removed,
    delete_hot,
    delete_pending,
    erase_file,
    erase_hot,
    mark_deleted,
    replace_set,
)
from rankscope.monitor.store.log.rewriting import Rewritten, put_hour, remove_marked
from rankscope.monitor.store.log.values import put_values
from rankscope.monitor.store.people import BrowserSession, Person
from rankscope.monitor.store.tables import (
    keys,
    outbox,
    people,
    projects,
    rules,
    setup,
    windows,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Iterable
    from typing import Any

WRITES: dict[str, Callable[..., Any]] = {
    function.__name__: function
    for function in (
        store_events,
        replace_set,
        mark_deleted,
        delete_pending,
        delete_hot,
        erase_hot,
        erase_file,
        put_hour,
        remove_marked,
        remove_ids,
        put_values,
        set_location,
        set_lake,
        store_scan,
        keys.insert_key,
        keys.revoke_key,
        keys.rotate_key,
        keys.touch_key,
        keys.record_audit,
        people.add_person,
        people.change_person,
        people.renew_session,
        people.end_sessions,
        people.set_roles,
        projects.rewrite_fact,
        projects.insert_configuration,
        windows.replace_windows,
        windows.drop_windows,
        rules.save_rules,
        setup.change_projects,
        setup.empty_project,
        setup.forget_project,
        rules.remove_rule,
        outbox.set_webhook,
        outbox.remove_webhook,
        outbox.disable_webhook,
        outbox.update_notification,
        outbox.expand_notification,
    )
}
"""The functions that may be called in a transaction, by name."""
RECORDS: dict[str, type[Any]] = {
    record.__name__: record
    for record in (
        ApiKey,
        ArchivedValues,
        AuditEntry,
        Block,
        BrowserSession,
        DataFile,
        KnownFile,
        Lake,
        Outcome,
        Person,
        Removed,
        Rewritten,
        SeenHour,
        TableAddress,
        records.CellRow,
        records.ChangeRow,
        records.Chosen,
        records.Deleted,
        records.HourRow,
        records.IncidentRow,
        records.LeftOut,
        records.NoticeRow,
        records.OpenHour,
        records.OutboxRow,
        records.Progress,
        records.ProjectChange,
        records.RuleRow,
        records.Webhook,
    )
}
"""The records that arguments and results may have, by name."""
NAMES = {record: name for name, record in RECORDS.items()}
ERRORS: dict[str, type[RankscopeError]] = {
    error.__name__: error
    for error in vars(errors).values()
    if isinstance(error, type) and issubclass(error, RankscopeError)
}
PLACES = ("hint", "code", "file", "line", "column", "value")
PLAIN = (bool, int, float, str, type(None))
MOST = 1 << 28
"""The number of bytes of a message: the identifiers of all events of a large hour fit."""
HEAD = struct.Struct(">Q")
BAD = "bad_message"


class Channel:
    """Sends and receives values over a socket, one after another.

    Args:
        connection: The socket, which is closed with this.
    """

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self._incoming = connection.makefile("rb")

    def send(self, *message: object) -> None:
        """Send values together."""
        text = json.dumps([_write(value) for value in message], separators=(",", ":")).encode()
        if len(text) > MOST:
            raise FileError(
                f"a change of {len(text) >> 20} MiB is more than a service takes at a time",
                hint="stop the service, and run the command again",
                code="store_locked",
            )
        self.connection.sendall(HEAD.pack(len(text)) + text)

    def receive(self) -> list[Any] | None:
        """Receive what was sent together; `None` once the other side has ended."""
        head = self._incoming.read(HEAD.size)
        if len(head) < HEAD.size:
            return None
        (size,) = HEAD.unpack(head)
        if size > MOST:
            raise UsageError("the message is too large", code=BAD)
        text = self._incoming.read(size)
        if len(text) < size:
            return None
        try:
            message = json.loads(text)
            if not isinstance(message, list):
                raise TypeError("not a list")  # noqa: TRY301 - handled with the others
            return [_read(value) for value in message]
        except (ValueError, TypeError, LookupError, RecursionError) as error:
            raise UsageError(
                "the message cannot be read",
                hint="use the same release of rankscope as the service",
                code=BAD,
            ) from error

    def close(self) -> None:
        """Close the socket."""
        self._incoming.close()
        self.connection.close()


def _write(value: Any) -> Any:  # noqa: ANN401 - any argument of a write
    """Write a value as JSON: plain ones as they are, all others as a list with their kind first."""
    kind = type(value)
    if kind in PLAIN:
        return value
    if kind in NAMES:
        fields = value if isinstance(value, tuple) else map(value.__getattribute__, _fields(kind))
        return [NAMES[kind], *map(_write, fields)]
    if kind in {list, tuple, set, frozenset}:
        return [kind.__name__, *map(_write, value)]
    if kind in {dict, Counter}:
        return [kind.__name__, *(_write(part) for pair in value.items() for part in pair)]
    if kind in {bytes, bytearray, memoryview}:
        return ["bytes", b64encode(value).decode("ascii")]
    if kind is _core.EventBatch:
        return ["EventBatch", b64encode(value.__reduce__()[1][0]).decode("ascii")]
    if kind is Outcomes:
        return ["Outcomes", *map(_write, (value.statuses, value.seqs))]
    if kind is Secret:
        return ["Secret", value.reveal()]
    if isinstance(value, RankscopeError):
        name = kind.__name__ if ERRORS.get(kind.__name__) is kind else UsageError.__name__
        return ["error", name, value.message, *(_write(getattr(value, part)) for part in PLACES)]
    raise TypeError(f"{kind.__name__} is not sent to a service")


def _fields(kind: type[Any]) -> tuple[str, ...]:
    fields: tuple[str, ...] = kind.__match_args__
    return fields


def _read_error(name: str, message: str, *places: Any) -> RankscopeError:  # noqa: ANN401 - of an error
    return ERRORS[name](message, **dict(zip(PLACES, places, strict=True)))


def _read_dict(parts: Iterable[Any]) -> dict[Any, Any]:
    each = iter(parts)
    return dict(zip(each, each, strict=True))


def _read_bytes(text: str) -> bytes:
    return b64decode(text, validate=True)


READERS: dict[str, Callable[..., Any]] = {
    "list": lambda *parts: list(parts),
    "tuple": lambda *parts: parts,
    "set": lambda *parts: set(parts),
    "frozenset": lambda *parts: frozenset(parts),
    "dict": lambda *parts: _read_dict(parts),
    "Counter": lambda *parts: Counter(_read_dict(parts)),
    "bytes": _read_bytes,
    "EventBatch": lambda text: _core.EventBatch(_read_bytes(text)),
    "Outcomes": Outcomes,
    "Secret": Secret,
    "error": _read_error,
}


def _read(value: Any) -> Any:  # noqa: ANN401 - JSON
    if type(value) in PLAIN:
        return value
    kind, *parts = value
    parts = [_read(part) for part in parts]
    record = RECORDS.get(kind)
    if record is None:
        return READERS[kind](*parts)
    return record(**dict(zip(_fields(record), parts, strict=True)))
