"""A process that stores, archives and deletes, and is killed at random moments.

    killed_archiver.py FOLDER ROUNDS SEED

prints what was sent, acknowledged and deleted, one line each, written at once. Each round opens the
store in a child that ends at one of its own steps: a statement, a sync, or a change of a name.
"""

from __future__ import annotations

import os
import random
import signal
import sys
from pathlib import Path

from rankscope.monitor.events.limits import HOUR
from rankscope.monitor.store.sqlite.store import SQLiteStore
from rankscope.records import replace
from rankscope.testing.store.samples import make_label, make_ranking
from sqlalchemy import Engine, event

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from rankscope.monitor.events.event import Label, Ranking

BATCH = 20
IN_HOUR = 40
"""How many rankings an hour has."""


def say(*words: object) -> None:
    """Print a line, past all buffers."""
    os.write(1, (" ".join(map(str, words)) + "\n").encode())


def ranking_of(number: int) -> Ranking:
    """The ranking with a number, which says when it was shown."""
    return replace(make_ranking(number), time=time_of(number))


def time_of(number: int) -> int:
    """When a ranking was shown."""
    return number * (HOUR // IN_HOUR)


def label_of(number: int, name: str) -> Label:
    """A click on a ranking, a minute after it."""
    return replace(
        make_label(number, number), event_id=f"{name}-{number}", time=time_of(number) + 60_000_000
    )


def die_after(steps: int) -> None:
    """Kill this process at one of the next steps of the store."""
    left = [steps]

    def step() -> None:
        left[0] -= 1
        if not left[0]:
            os.kill(os.getpid(), signal.SIGKILL)

    def watch(owner: Any, name: str) -> None:  # noqa: ANN401 - a module or a class
        inner: Callable[..., Any] = getattr(owner, name)

        def stepping(*given: Any, **named: Any) -> Any:  # noqa: ANN401 - as the function has it
            step()
            return inner(*given, **named)

        setattr(owner, name, stepping)

    for owner, name in (
        (os, "fsync"),
        (os, "fdatasync"),
        (os, "utime"),
        (Path, "replace"),
        (Path, "unlink"),
        (Path, "rmdir"),
    ):
        watch(owner, name)
    event.listen(Engine, "before_cursor_execute", lambda *_: step())
    event.listen(Engine, "commit", lambda *_: step())


def work(folder: Path, first: int, drawn: random.Random) -> None:
    """Store, archive and delete for some time."""
    with SQLiteStore(folder / "events.db", group_seconds=0) as store:
        for start in range(first, first + 3 * BATCH, BATCH):
            numbers = range(start, start + BATCH)
            say("sent", start)
            store.append("music", [ranking_of(number) for number in numbers])
            store.append("music", [label_of(number, "click") for number in numbers])
            say("acknowledged", start)
            late = drawn.randrange(start + BATCH)
            say("sent-late", late)
            store.append("music", [label_of(late, "late")])
            say("acknowledged-late", late)
            store.archive("music", time_of(drawn.randrange(start - BATCH, start + 3 * BATCH)))
            if drawn.random() < 0.3:
                until = time_of(max(0, drawn.randrange(start - 20 * BATCH, start - 2 * BATCH + 1)))
                say("deleting", until)
                store.delete_before("music", until)
                say("deleted", until)


def main(folder: Path, rounds: int, seed: int) -> None:
    """Start children that work until they kill themselves."""
    drawn = random.Random(seed)
    for number in range(rounds):
        steps, sown = drawn.randrange(1, 300), drawn.random()
        child = os.fork()
        if child == 0:
            die_after(steps)
            work(folder, number * 3 * BATCH, random.Random(sown))
            os._exit(0)
        os.waitpid(child, 0)
        say("round", number)


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:]))
