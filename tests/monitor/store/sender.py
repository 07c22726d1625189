"""A process that stores events and says what was acknowledged, for tests that end it badly.

    sender.py MODE FOLDER …

prints a line for each acknowledgement, written at once, so that it is there when this dies.
"""

from __future__ import annotations

import os
import random
import resource
import signal
import sys
import threading
import time
from pathlib import Path

from rankscope import FileError
from rankscope.monitor.store.log import deletion, removal
from rankscope.monitor.store.sqlite import checkpoints as checkpointing
from rankscope.monitor.store.sqlite import high_water
from rankscope.monitor.store.sqlite.store import SQLiteStore

from tests.monitor.store.conformance.samples import make_label, make_ranking

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.monitor.store.records import Deleted
    from rankscope.monitor.store.transaction import Transaction

BATCH = 10


def say(*words: object) -> None:
    os.write(1, (" ".join(map(str, words)) + "\n").encode())


def send_for_ever(store: SQLiteStore, first: int, step: int) -> None:
    """Send batches of rankings and labels, each number once."""
    for start in range(first, sys.maxsize, step):
        numbers = range(start, start + BATCH)
        say("sent", start)
        store.append("music", [make_ranking(number, 20) for number in numbers])
        store.append("music", [make_label(number, number) for number in numbers])
        say("acknowledged", start)


def be_killed(folder: Path, rounds: int, seed: int) -> None:
    """Start children that store, and kill each at a random moment after its first answer."""
    drawn = random.Random(seed)
    for number in range(rounds):
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            os.dup2(write, 1)
            checkpointing.AFTER_BYTES = 1 << 18  # so that some die while the log is copied
            store = SQLiteStore(folder / "events.db")
            for thread in range(2):
                first = (number * 2 + thread) * 1_000_000
                threading.Thread(target=send_for_ever, args=(store, first, BATCH)).start()
            threading.Event().wait()
        os.close(write)
        told = b""
        while b"acknowledged" not in told:
            piece = os.read(read, 1 << 16)
            if not piece:
                raise RuntimeError("the child ended by itself")
            told += piece
        time.sleep(drawn.random() * 0.25)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        while piece := os.read(read, 1 << 16):
            told += piece
        os.close(read)
        say(told[: told.rindex(b"\n")].decode())


def die_before_the_answer(folder: Path) -> None:
    """Die between the commit of the second batch and its answer."""
    store = SQLiteStore(folder / "events.db")
    store.append("music", [make_ranking(1)])
    say("acknowledged", 1)
    high_water.HighWater.write = lambda *_: os.kill(os.getpid(), signal.SIGKILL)  # type: ignore[method-assign]
    store.append("music", [make_ranking(2)])


def die_while_deleting(folder: Path, rankings: int, pieces: int) -> None:
    """Die when some pieces of what is old are deleted, within the transaction of the next."""
    store = SQLiteStore(folder / "events.db")
    for make in (make_ranking, lambda number: make_label(number, number)):
        for start in range(0, rankings, BATCH):
            store.append("music", [make(number) for number in range(start, start + BATCH)])
    delete_piece, deleted = removal.delete_blocks, 0

    def delete(transaction: Transaction, project: str, time: int, most: int) -> Deleted | None:
        nonlocal deleted
        done = delete_piece(transaction, project, time, most)
        deleted += 1
        if deleted > pieces:
            os.kill(os.getpid(), signal.SIGKILL)
        return done

    deletion.delete_blocks = delete  # type: ignore[attr-defined] # where it is called from
    store.delete_before("music", make_ranking(rankings).time)


def leave(folder: Path, batches: int) -> None:
    """Store some batches, and end without closing."""
    store = SQLiteStore(folder / "events.db", group_seconds=0)
    for number in range(batches):
        store.append("music", [make_ranking(number)])
        say("acknowledged", number)
    os._exit(0)


def fill(folder: Path) -> None:
    """Store until files may not grow, read, let them grow, and store again."""
    store = SQLiteStore(folder / "events.db", group_seconds=0)
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 19, hard))
    number = 0
    try:
        while True:
            store.append("music", [make_ranking(number, 100)])
            number += 1
    except FileError as error:
        say(error.code, number)
    for _ in range(2):
        try:
            store.append("music", [make_ranking(number, 100)])
        except FileError as error:
            say(error.code, sum(len(chunk.seqs) for chunk in store.read("music")))
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    store.append("music", [make_ranking(number, 100)])
    say("stored", sum(len(chunk.seqs) for chunk in store.read("music")))
    store.close()


def fail(folder: Path, batches: int) -> None:
    store = SQLiteStore(folder / "events.db", group_seconds=0)
    say("opened")
    for number in range(batches):
        try:
            store.append("music", [make_ranking(number)])
            say("acknowledged", number)
        except FileError as error:
            say(error.code, number)
    say("read", sum(len(chunk.seqs) for chunk in store.read("music")))


def fork(folder: Path) -> None:
    """Have a child, which cannot write, and hold no lock by it."""
    store = SQLiteStore(folder / "events.db")
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(write)
        try:
            store.append("music", [make_ranking(1)])
        except FileError as error:
            say(error.code)
        os.read(read, 1)
        os._exit(0)
    store.close()
    SQLiteStore(folder / "events.db").close()
    say("opened")
    os.close(write)
    os.waitpid(child, 0)


if __name__ == "__main__":
    mode, folder = sys.argv[1], Path(sys.argv[2])
    numbers = [int(argument) for argument in sys.argv[3:]]
    globals()[mode](folder, *numbers)
