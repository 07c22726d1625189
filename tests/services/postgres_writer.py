"""A process that writes to a store in PostgreSQL, for tests that end it or the server badly.

    postgres_writer.py MODE URL FIRST

prints a line for each acknowledgement, written at once, so that it is there when this dies.
"""

from __future__ import annotations

import sys
from itertools import count

from rankscope import FileError
from rankscope.monitor.store import open_store

from tests.monitor.store.conformance import make_label, make_ranking
from tests.monitor.store.sender import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.monitor.events.event import Event
    from rankscope.monitor.store.store import Store

BATCH = 10
AGAIN = {"store_unreachable", "store_busy", "store_overloaded"}


def send(store: Store, events: list[Event]) -> None:
    """Send events until they are acknowledged, as a client does."""
    while True:
        try:
            store.append("music", events)
        except FileError as error:
            if error.code not in AGAIN:
                raise
        else:
            return


def write(store: Store, first: int) -> None:
    """Send batches of rankings and labels for ever, each number once."""
    for start in count(first, BATCH):
        numbers = range(start, start + BATCH)
        send(store, [make_ranking(number) for number in numbers])
        send(store, [make_label(number, number) for number in numbers])
        say(start)


def evaluate(store: Store, _first: int) -> None:
    """Take the lease of the evaluator, and keep it until the input ends."""
    say(store.take_evaluation())
    sys.stdin.read()


if __name__ == "__main__":
    with open_store(sys.argv[2]) as opened:
        {"write": write, "evaluate": evaluate}[sys.argv[1]](opened, int(sys.argv[3]))
