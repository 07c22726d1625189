"""Pieces of work for a process of their own, which has to load nothing but this to do them."""

from __future__ import annotations

import os
import signal
import sys

from rankscope import UsageError


def tell_process(_store):
    return os.getpid()


def wait_for_ever(_store):
    signal.pause()


def end_process(_store):
    os.kill(os.getpid(), signal.SIGKILL)


def shout(_store):
    print("shouted")  # noqa: T201 - the question
    os.write(1, b"shouted")
    return sys.stdin.read()


def tell_modesty(_store):
    return os.getpriority(os.PRIO_PROCESS, 0)


def double(_store, number):
    if number == 7:
        raise UsageError("expected another number, found 7", code="seven")
    return 2 * number
