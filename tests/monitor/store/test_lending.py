"""The socket beside a store: what may cross it, who evaluates, and what is refused."""

from __future__ import annotations

import json
import os
import socket
from collections import Counter
from contextlib import closing, contextmanager
from inspect import signature
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rankscope import errors
from rankscope.errors import FileError, RankscopeError
from rankscope.monitor.events.batch import pack_events
from rankscope.monitor.events.event import Items, Ranking
from rankscope.monitor.store.keys import AuditEntry, Secret
from rankscope.monitor.store.lending import borrower, place
from rankscope.monitor.store.lending.borrower import borrow_from_service
from rankscope.monitor.store.lending.lender import Lender
from rankscope.monitor.store.lending.messages import HEAD, MOST, RECORDS, WRITES, Channel
from rankscope.monitor.store.records import ChangeRow, IncidentRow
from rankscope.monitor.store.sqlite.store import SQLiteStore
from rankscope.monitor.store.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path
    from typing import Any


pytestmark = pytest.mark.skipif(not place.IS_OFFERED, reason="the system doesn't tell who asks")


def send(*message: object) -> list[Any] | None:
    """What arrives at the other end of a socket."""
    one, other = socket.socketpair()
    with closing(Channel(one)) as sender, closing(Channel(other)) as receiver:
        sender.send(*message)
        return receiver.receive()


class Log:
    """The lines that a lender reports."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, Mapping[str, object]]] = []

    def write(self, event: str, fields: Mapping[str, object]) -> None:
        """Keep a line."""
        self.lines.append((event, fields))


@contextmanager
def lending(path: Path, log: Log | None = None) -> Iterator[tuple[SQLiteStore, Lender]]:
    """Hold a store, and answer commands beside it."""
    with SQLiteStore(path) as store, Lender(store, (log or Log()).write) as lender:
        yield store, lender


def borrow(path: Path) -> borrower.LentStore:
    """Open the store as a command does."""
    lent = borrow_from_service(path)
    assert lent is not None
    return lent


PLAIN = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
HASHABLE = st.recursive(PLAIN | st.binary(), lambda parts: st.tuples(parts, parts), max_leaves=4)
VALUES = st.recursive(
    PLAIN | st.binary(),
    lambda parts: (
        st.lists(parts)
        | st.tuples(parts, parts)
        | st.dictionaries(HASHABLE, parts)
        | st.sets(HASHABLE)
        | st.frozensets(HASHABLE)
    ),
    max_leaves=8,
)


@given(VALUES)
def test_a_value_arrives_as_it_was_sent(value: object) -> None:
    received = send(value, [value])
    assert received == [value, [value]]
    assert type(received[0]) is type(value)


def test_records_secrets_events_and_errors_arrive_as_they_were_sent() -> None:
    batch = pack_events([Ranking("e", "r", 0, Items(("a",), (1,)))])
    entry = AuditEntry(1, "ann", "key.create", "k")
    error = FileError("no", hint="do", code="io", file="x", line=2)
    received = send(batch, entry, Secret("s"), Counter({"a": 1}), error)
    assert received is not None
    assert received[:2] == [batch, entry]
    assert received[2].reveal() == "s"
    assert received[3] == Counter({"a": 1})
    assert (type(received[4]), str(received[4]), received[4].code) == (FileError, str(error), "io")


def test_every_error_of_the_package_can_be_sent() -> None:
    kinds = [one for one in vars(errors).values() if isinstance(one, type)]
    for kind in kinds:
        if issubclass(kind, RankscopeError):
            [received] = send(kind("wrong", code="x")) or []
            assert type(received) is kind


def test_what_is_no_value_is_not_sent() -> None:
    with pytest.raises(TypeError):
        send(os.system)


def test_every_write_of_a_store_is_among_those_of_a_service() -> None:
    # What `writes` made a method of has the name of its function.
    wrapped = [each.__wrapped__ for each in vars(Store).values() if hasattr(each, "__wrapped__")]
    functions = {
        each for each in wrapped if next(iter(signature(each).parameters)) == "transaction"
    }
    assert len(functions) > 10
    assert functions <= set(WRITES.values())


BAD = [
    b"",
    b"not JSON",
    b"{}",
    b"1",
    b"null",
    b'["write"]',
    b'["write", 1, 2, 3, 4]',
    b'["write", "system", ["list", "id"], ["dict"], 1]',
    b'["write", "__import__", ["list", "os"], ["dict"], 1]',
    b'["write", ["list"], ["list"], ["dict"], 1]',
    b'["write", "insert_key", ["list"], ["dict"], 1]',
    b'["write", "insert_key", ["list", 1, 2, 3, 4, 5, 6], ["dict"], 1]',
    b'["write", "rewrite_fact", ["list"], ["dict", "transaction", 1], 1]',
    b'["write", "store_events", ["list"], ["dict", "project", 1, "batch", 2, "rejected", 3], 1]',
    b'["write", "save_rules", ["list", "p", ["list", 1]], ["dict"], 1]',
    b'["evaluate", 1]',
    b'["forget", 1]',
    b'[["Popen", "id"]]',
    b'[["error", "SystemExit", "x", "", "", null, null, null, null]]',
    b'[["EventBatch", "AAAA"]]',
    b'[["EventBatch", 1]]',
    b'[["bytes", "!"]]',
    b'[["dict", 1]]',
    b'[["dict", ["list"], 1]]',
    b'[["AuditEntry", 1]]',
    b"[[]]",
    b"[[[]]]",
    b'[{"a": 1}]',
    b"[" * 100_000,
    b'["rankscope", "\xff"]',
    b'["write", "rewrite_fact", ["list"], ["dict"], 1e400]',
]


@pytest.mark.parametrize("message", BAD, ids=range(len(BAD)))
def test_what_is_no_message_is_refused_and_changes_nothing(message: bytes, tmp_path: Path) -> None:
    path = tmp_path / "events.db"
    with lending(path) as (store, _):
        connection = place.connect(path)
        assert connection is not None
        with closing(Channel(connection)) as channel:
            assert (channel.receive() or [])[0] == "rankscope"
            connection.sendall(HEAD.pack(len(message)) + message)
            what, error = channel.receive() or [None, None]
            assert what == "failed" or message == BAD[-1]
            assert isinstance(error, RankscopeError) or message == BAD[-1]
        assert store.projects() == []
        assert store.failure is None
        with borrow(path) as lent:
            lent.probe().result()


def test_a_message_without_end_is_not_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "events.db"
    with lending(path):
        connection = place.connect(path)
        assert connection is not None
        with closing(Channel(connection)) as channel:
            channel.receive()
            connection.sendall(HEAD.pack(MOST + 1))
            [_, error] = channel.receive() or []
            assert error.code == "bad_message"
        connection = place.connect(path)
        assert connection is not None
        connection.sendall(HEAD.pack(100) + b"[")
        connection.close()
        with borrow(path) as lent:
            lent.probe().result()


def test_who_changes_something_is_named_with_the_user_of_the_system(tmp_path: Path) -> None:
    path = tmp_path / "events.db"
    user = place.Peer(0, os.getuid()).user
    log = Log()
    with lending(path, log) as (store, _):
        with borrow(path) as lent:
            lent.configure("music", "{}", 0, "ann")
            changes = [
                ChangeRow("i", 0, "opened", "rankscope", ""),
                ChangeRow("i", 1, "x", "bob", ""),
            ]
            audit = [AuditEntry(0, "x (root) ", "rule.create", "r")]
            row = IncidentRow(
                incident_id="i", rule="r", kind="drop", state="open", opened=0, updated=0, body="{}"
            )
            lent.save_rules("music", [], incidents=[row], changes=changes, audit=audit)
        actors = [entry.actor for entry in store.audit("music")]
        assert actors == [f"ann ({user})", f"x (root)  ({user})"]
        assert [change.actor for change in store.list_changes("music", "i")] == [
            "rankscope",
            f"bob ({user})",
        ]
    [(event, fields)] = log.lines
    assert (event, fields["user"], fields["process"]) == ("command", user, os.getpid())
    assert fields["writes"] == {"insert_configuration": 1, "save_rules": 1}


def test_one_process_evaluates_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "events.db"
    with lending(path) as (_, lender):
        with borrow(path) as lent:
            assert lent.take_evaluation()
            assert lent.take_evaluation()
            assert not lender.turn.acquire(blocking=False)
        # It is the service's again once the command has ended, however that was.
        assert lender.turn.acquire(timeout=60)
        lender.turn.release()


def test_a_command_that_has_ended_waits_for_its_turn_no_longer(tmp_path: Path) -> None:
    path = tmp_path / "events.db"
    log = Log()
    with lending(path, log) as (_, lender), lender.turn:
        connection = place.connect(path)
        assert connection is not None
        with closing(Channel(connection)) as channel:
            channel.receive()
            channel.send("evaluate")
        lender.wait_idle(60)
    assert [event for event, _ in log.lines] == ["command"]


def test_a_service_takes_no_more_commands_than_it_may(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rankscope.monitor.store.lending.lender.MOST_COMMANDS", 2)
    path = tmp_path / "events.db"
    with lending(path), borrow(path), borrow(path):
        with pytest.raises(FileError) as refused:
            borrow(path)
        assert refused.value.code == "store_busy"


def test_another_release_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "events.db"
    monkeypatch.setattr(borrower, "__version__", "0.0.0")
    with lending(path):
        with pytest.raises(FileError) as refused:
            borrow(path)
        assert refused.value.hint == "use the same release for both"


def test_a_socket_of_another_user_is_not_talked_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "events.db"
    with lending(path):
        monkeypatch.setattr(place, "find_peer", lambda _connection: place.Peer(1, 65534))
        with pytest.raises(FileError) as refused:
            borrow(path)
        assert refused.value.code == "store_locked"


def test_a_store_that_is_closed_takes_no_work(tmp_path: Path) -> None:
    path = tmp_path / "events.db"
    with lending(path) as (store, _), borrow(path) as lent:
        store.close()
        with pytest.raises(FileError) as refused:
            lent.probe().result()
        assert refused.value.code == "store_closed"


def test_work_that_is_not_declared_is_not_sent(tmp_path: Path) -> None:
    path = tmp_path / "events.db"
    with lending(path), borrow(path) as lent:
        with pytest.raises(TypeError):
            lent.transact(print).result()
        with pytest.raises(TypeError):
            lent.transact(lambda _transaction: None).result()


def test_without_a_socket_the_service_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "events.db"
    (tmp_path / "events.db.run").write_text("a file", encoding="utf-8")
    log = Log()
    with lending(path, log) as (store, _):
        store.probe().result()
        assert borrow_from_service(path) is None
    assert [event for event, _ in log.lines] == ["commands.unavailable"]


def test_a_system_that_does_not_tell_who_asks_has_no_socket(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(place, "IS_OFFERED", False)
    path = tmp_path / "events.db"
    with lending(path) as (store, _):
        store.probe().result()
        assert borrow_from_service(path) is None
        assert not (tmp_path / "events.db.run").exists()


def test_the_list_of_records_is_closed() -> None:
    assert all(name == record.__name__ for name, record in RECORDS.items())
    assert json.dumps(sorted(RECORDS)) == json.dumps(sorted(set(RECORDS)))
