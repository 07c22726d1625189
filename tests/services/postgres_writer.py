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

BATCH = 10
AGAIN = {"store_unreachable", "store_busy", "store_overloaded"}


def send(store, events):
    """Send events until they are acknowledged, as a client does."""
    while True:
        try:
            store.append("music", events)
        except FileError as error:
            if error.code not in AGAIN:
                raise
        else:
            return


def write(store, first):
    """Send batches of rankings and labels for ever, each number once."""
    for start in count(first, BATCH):
        numbers = range(start, start + BATCH)
        send(store, [make_ranking(number) for number in numbers])
        send(store, [make_label(number, number) for number in numbers])
        say(start)


def evaluate(store, _first):
    """Take the lease of the evaluator, and keep it until the input ends."""
    say(store.take_evaluation())
    sys.stdin.read()


if __name__ == "__main__":
    with open_store(sys.argv[2]) as opened:
        {"write": write, "evaluate": evaluate}[sys.argv[1]](opened, int(sys.argv[3]))
