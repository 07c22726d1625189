"""A process that stores, evaluates and deletes at once, and is killed at random moments.

    killed_writer.py FOLDER ROUNDS SEED [WORD]

prints what was sent, acknowledged and deleted, one line each, written at once. Each round opens the
store in a child that ends at one of its own steps: a statement, a sync, or a change of a name. Its
threads do one thing each, so that these steps come in any order. Before it ends, the child says
what it was doing. With a word such as `deleting`, it ends while it does something that has this
word in its name.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import threading
from dataclasses import replace
from itertools import count
from pathlib import Path

from rankscope.errors import FileError
from rankscope.monitor import Monitor
from rankscope.monitor.definition.configuration import Configuration
from rankscope.monitor.definition.definition import define
from rankscope.monitor.events.limits import DAY, HOUR
from rankscope.monitor.store.records import Chosen
from rankscope.monitor.store.sqlite.store import SQLiteStore
from sqlalchemy import Engine, event

from tests.monitor.store.conformance.samples import make_label, make_ranking
from tests.monitor.store.sender import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType
    from typing import Any

    from rankscope.monitor.events.event import Label, Ranking

BATCH = 20
BATCHES = 4
"""How many batches a round sends, if it gets that far."""
IN_HOUR = 40
"""How many rankings an hour has."""
USERS = 30
CLICKS = Configuration(
    definition=define(measures=["nDCG@3", "RR@3"], positive="click", window="1h"), grace="1h"
)


STAGES = (
    ("log/removal.py", "deleting from blocks"),
    ("log/deletion.py", "deleting"),
    ("log/append.py", "storing events"),
    ("log/writer.py", "writing blocks"),
    ("tables/windows.py", "storing windows"),
    ("evaluate/", "evaluating"),
    ("sqlite/", "committing"),
)
"""What a process is doing, by the first of these that its stack has a file of."""


def find_stage() -> str:
    frame: FrameType | None = sys._getframe()
    names = []
    while frame is not None:
        names.append(frame.f_code.co_filename)
        frame = frame.f_back
    for part, stage in STAGES:
        if any(f"rankscope/monitor/store/{part}" in name or f"/{part}" in name for name in names):
            return stage
    return "anything else"


def ranking_of(number: int) -> Ranking:
    """The ranking with a number, which says when it was shown and who saw it."""
    return replace(make_ranking(number), time=time_of(number), user_id=user_of(number))


def time_of(number: int) -> int:
    return number * (HOUR // IN_HOUR)


def user_of(number: int) -> str:
    """Who saw a ranking; some users come back for some hours."""
    return f"user{number // 300}-{number * 7 % USERS}"


def label_of(number: int, name: str) -> Label:
    document = (number if name == "click" else number // 3) % 3
    return replace(
        make_label(number, number, document),
        event_id=f"{name}-{number}",
        time=time_of(number) + 60_000_000,
    )


def die_after(steps: int, word: str) -> None:
    """Kill this process at one of the next steps, or of those that have a word in their name."""
    left = count(steps - 1, -1)

    def step() -> None:
        if (not word or word in find_stage()) and next(left) <= 0:
            say("stage", find_stage())
            os.kill(os.getpid(), signal.SIGKILL)

    def watch(owner: Any, name: str) -> None:
        inner: Callable[..., Any] = getattr(owner, name)

        def stepping(*given: Any, **named: Any) -> Any:
            step()
            return inner(*given, **named)

        setattr(owner, name, stepping)

    for owner, name in (
        (os, "fsync"),
        (os, "fdatasync"),
        (Path, "replace"),
        (Path, "unlink"),
        (Path, "rmdir"),
    ):
        watch(owner, name)
    event.listen(Engine, "before_cursor_execute", lambda *_: step())
    event.listen(Engine, "commit", lambda *_: step())


class Round:
    def __init__(self, store: SQLiteStore, first: int, seed: int) -> None:
        self.store = store
        self.first = first
        self.sent = first
        self.seed = seed
        self.ending = threading.Event()

    def run(self) -> None:
        others = [
            threading.Thread(target=self.repeat, args=(work, self.seed + number))
            for number, work in enumerate((self.delete, self.evaluate))
        ]
        for thread in others:
            thread.start()
        self.write(random.Random(self.seed))
        self.ending.set()
        for thread in others:
            thread.join()

    def repeat(self, work: Callable[[random.Random], None], seed: int) -> None:
        drawn = random.Random(seed)
        while not self.ending.is_set():
            try:
                work(drawn)
            except FileError as error:
                say("failed", error.code)
                raise

    def write(self, drawn: random.Random) -> None:
        for start in range(self.first, self.first + BATCHES * BATCH, BATCH):
            numbers = range(start, start + BATCH)
            say("sent", start)
            self.sent = start + BATCH
            self.store.append("music", [ranking_of(number) for number in numbers])
            self.store.append("music", [label_of(number, "click") for number in numbers])
            say("acknowledged", start)
            late = drawn.randrange(max(0, start - 10 * BATCH), start + BATCH)
            say("sent-late", late)
            self.store.append("music", [label_of(late, "late")])
            say("acknowledged-late", late)

    def delete(self, drawn: random.Random) -> None:
        """Delete what is of a user, or in a short span, or long ago."""
        number = drawn.randrange(max(0, self.sent - 8 * BATCH), self.sent + 1)
        kind = drawn.choice(["user", "user", "span", "before"])
        if kind == "user":
            say("deleting", kind, user_of(number), 0)
            self.store.erase("music", Chosen(user_id=user_of(number)))
        elif kind == "span":
            first, last = number, number + drawn.randrange(1, 4)
            say("deleting", kind, first, last)
            self.store.erase("music", Chosen(since=time_of(first), until=time_of(last)))
        else:
            first = max(0, number - 20 * BATCH)
            say("deleting", kind, first, 0)
            self.store.delete_before("music", time_of(first))
        say("deleted")
        self.ending.wait(drawn.random() / 20)

    def evaluate(self, drawn: random.Random) -> None:
        now = time_of(self.sent) + drawn.randrange(3) * HOUR
        open_monitor(self.store, now).evaluate()


def open_monitor(store: SQLiteStore, now: int) -> Monitor:
    return Monitor(store, "music", clock=lambda: now, threads=1)


def main(folder: Path, rounds: int, seed: int, word: str = "") -> None:
    drawn = random.Random(seed)
    with SQLiteStore(folder / "events.db") as store:
        open_monitor(store, DAY).configure(CLICKS)
    for number in range(rounds):
        steps, sown = drawn.randrange(1, 20 if word else 300), drawn.randrange(2**32)
        child = os.fork()
        if child == 0:
            die_after(steps, word)
            with SQLiteStore(folder / "events.db", group_seconds=0) as store:
                Round(store, number * BATCHES * BATCH, sown).run()
            os._exit(0)
        _, status = os.waitpid(child, 0)
        say("round", number, "killed" if os.WIFSIGNALED(status) else "ended")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), *sys.argv[4:])
