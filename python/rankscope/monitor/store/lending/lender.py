"""Lets commands on this machine write to a store that a service holds.

A command reads the store itself, as the process does that evaluates, and asks the service to write:
its changes are transactions of the service's writer, in which events of clients are committed, too.
Only the user who runs the service, and root, may ask.
"""

from __future__ import annotations

import inspect
import os
import socket
import threading
from collections import Counter
from contextlib import closing, suppress

from rankscope import __version__
from rankscope.errors import FileError, RankscopeError, UsageError
from rankscope.monitor.store.keys import AuditEntry
from rankscope.monitor.store.lending import place
from rankscope.monitor.store.lending.messages import WRITES, Channel
from rankscope.monitor.store.methods import fold
from rankscope.monitor.store.records import ChangeRow, ProjectChange
from rankscope.monitor.store.sqlite.store import SQLiteStore
from rankscope.records import as_dict, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, Self

    from rankscope.monitor.store.lending.place import Peer
    from rankscope.monitor.store.store import Store

ITSELF = "rankscope"
"""Who makes the changes that no person makes, such as those of evaluation."""
MOST_COMMANDS = 32
LOOK_SECONDS = 1.0
HELLO, WRITE, FORGET, EVALUATE, DONE, FAILED = (
    "rankscope",
    "write",
    "forget",
    "evaluate",
    "done",
    "failed",
)


class Lender:
    """Answers commands beside a store until it is closed; a context of it listens.

    Args:
        store: The store, which this process holds. Any process can write to one in PostgreSQL, so
            that nobody has to ask for that.
        report: Takes what commands did, such as `AccessLog.write`.

    Attributes:
        turn: The lock for evaluation: the service holds it for a project, a command for itself.
    """

    def __init__(self, store: Store, report: Callable[[str, Mapping[str, object]], object]) -> None:
        self._store = store
        self._report = report
        self.turn = threading.Lock()
        self._guard = threading.Condition()
        self._channels: set[Channel] = set()
        self._closing = threading.Event()
        self._listening: socket.socket | None = None

    def __enter__(self) -> Self:
        if isinstance(self._store, SQLiteStore) and place.IS_OFFERED:
            try:
                self._listening = place.listen(self._store.path)
            except OSError as error:
                # The service does without: events matter more.
                problem = getattr(error, "strerror", None) or getattr(error, "message", "")
                self._report("commands.unavailable", {"problem": str(problem)})
            else:
                self._start(self._accept, self._listening)
        return self

    def __exit__(self, *_raised: object) -> None:
        self.close()

    def close(self) -> None:
        """Take no more work; what is being written gets its answer."""
        with self._guard:
            self._closing.set()
            channels = list(self._channels)
        if self._listening is not None and isinstance(self._store, SQLiteStore):
            place.remove(self._store.path)
            with suppress(OSError):
                self._listening.shutdown(socket.SHUT_RDWR)
            self._listening.close()
            self._listening = None
        for channel in channels:
            with suppress(OSError):
                channel.connection.shutdown(socket.SHUT_RD)

    def wait_idle(self, seconds: float) -> bool:
        """Wait until no command is left, and return whether that has happened."""
        with self._guard:
            return self._guard.wait_for(lambda: not self._channels, seconds)

    def _start(self, work: Callable[..., None], *given: object) -> None:
        threading.Thread(target=work, args=given, name="rankscope-command", daemon=True).start()

    def _accept(self, listening: socket.socket) -> None:
        while not self._closing.is_set():
            try:
                connection, _ = listening.accept()
            except OSError:  # it is closed, or files have run out: then a later command may work
                self._closing.wait(LOOK_SECONDS)
                continue
            channel = Channel(connection)
            with self._guard:
                if self._closing.is_set():
                    channel.close()
                    return
                is_full = len(self._channels) >= MOST_COMMANDS
                self._channels.add(channel)
            self._start(self._serve, channel, is_full)

    def _serve(self, channel: Channel, is_full: bool) -> None:
        """Answer one command until it ends."""
        peer = place.find_peer(channel.connection)
        session = Session(self._store, self.turn, channel, peer)
        problem = ""
        with closing(channel), suppress(OSError):
            try:
                session.greet(is_full=is_full)
                session.run()
            except RankscopeError as error:
                problem = error.code
                channel.send(FAILED, error)
            finally:
                session.end()
                said = {"user": peer.user, "process": peer.process, "writes": dict(session.writes)}
                self._report("command", said | ({"problem": problem} if problem else {}))
                with self._guard:
                    self._channels.discard(channel)
                    self._guard.notify_all()


class Session:
    """A command: what it asked for so far, and whether it evaluates.

    Args:
        store: The store.
        turn: The lock for evaluation.
        channel: To the command.
        peer: The process of the command.
    """

    def __init__(self, store: Store, turn: threading.Lock, channel: Channel, peer: Peer) -> None:
        self._store = store
        self._turn = turn
        self._channel = channel
        self._peer = peer
        self._has_turn = False
        self.writes: Counter[str] = Counter()

    def greet(self, *, is_full: bool) -> None:
        """Say which release this is, or refuse the command."""
        if self._peer.user_id not in {os.geteuid(), 0}:
            raise FileError(
                f"the store belongs to a service of another user than {self._peer.user}",
                hint="run the command as the user who runs the service",
                code="store_locked",
            )
        if is_full:
            raise FileError(
                f"{MOST_COMMANDS} commands write through the service already",
                hint="try again once one of them has ended",
                code="store_busy",
            )
        self._channel.send(HELLO, __version__)

    def run(self) -> None:
        """Do what the command asks for, until it ends."""
        while (message := self._channel.receive()) is not None:
            try:
                done = self._do(*message)
            except RankscopeError as error:
                self._channel.send(FAILED, error)
            except Exception as error:  # noqa: BLE001 - whatever it is, it is for who asked
                said = f"the service cannot do this: {type(error).__name__}"
                self._channel.send(FAILED, UsageError(said, code="service"))
            else:
                self._channel.send(DONE, done)

    def end(self) -> None:
        """Let others evaluate again."""
        if self._has_turn:
            self._has_turn = False
            self._turn.release()

    def _do(self, what: str, *given: Any) -> object:  # noqa: ANN401 - as it was sent
        if what == WRITE:
            return self._write(*given)
        if what == FORGET and not given:
            self._store.forget_deleted()
            return None
        if what == EVALUATE and not given:
            return self._take_turn()
        raise UsageError(f"the service has no operation {what!r:.40}", code="service")

    def _write(self, name: str, args: list[Any], named: dict[str, Any], size: int) -> object:
        if name not in WRITES:
            raise UsageError(f"the service has no operation {name!r:.40}", code="service")
        self.writes[name] += 1
        function = WRITES[name]
        bound = inspect.signature(function).bind(None, *args, **named)
        for parameter, value in bound.arguments.items():
            bound.arguments[parameter] = self._name(parameter, value)
        work = fold(function, bound.args[1:], bound.kwargs)
        try:
            return self._store.transact(work, size).result()
        finally:
            self._store.note_write(function)

    def _name(self, parameter: str, value: Any) -> Any:  # noqa: ANN401 - an argument
        """Add the system user to the actor of a change."""
        if parameter == "actor":
            return value if value == ITSELF else f"{value} ({self._peer.user})"
        if isinstance(value, AuditEntry | ChangeRow):
            return replace(value, actor=self._name("actor", value.actor))
        if isinstance(value, ProjectChange):
            named = {name: self._name(name, each) for name, each in as_dict(value).items()}
            return replace(value, **named)
        if isinstance(value, list | tuple) and type(value) in {list, tuple}:
            return type(value)(self._name("", each) for each in value)
        return value

    def _take_turn(self) -> bool:
        """Wait until nobody else evaluates, unless the command ends before."""
        while not self._has_turn:
            self._has_turn = self._turn.acquire(timeout=LOOK_SECONDS)
            if not self._has_turn and self._has_ended():
                raise FileError("the command has ended", code="store_closed")
        return True

    def _has_ended(self) -> bool:
        try:
            flags = socket.MSG_PEEK | socket.MSG_DONTWAIT
            return not self._channel.connection.recv(1, flags)
        except BlockingIOError:
            return False
        except OSError:
            return True
