"""Pieces of work for a process of their own, which has to load nothing but this to do them."""

from __future__ import annotations

import os
import signal
import sys

from rankscope import UsageError


def tell_process(_store):
    """Return the number of this process."""
    return os.getpid()


def wait_for_ever(_store):
    """Work until somebody ends this process."""
    signal.pause()


def end_process(_store):
    """End as a process does that is killed."""
    os.kill(os.getpid(), signal.SIGKILL)


def shout(_store):
    """Print to what carries messages elsewhere."""
    print("shouted")  # noqa: T201 - the question
    os.write(1, b"shouted")
    return sys.stdin.read()


def tell_modesty(_store):
    """Return how far this process stands back."""
    return os.getpriority(os.PRIO_PROCESS, 0)


def double(_store, number):
    """Return twice a number, and refuse 7."""
    if number == 7:
        raise UsageError("expected another number, found 7", code="seven")
    return 2 * number
