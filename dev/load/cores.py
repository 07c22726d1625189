"""Pins the service to one core, and the clients to another."""

from __future__ import annotations

import os
import sys


def find_cores() -> set[int]:
    """Return the cores on which this process may run; none where the system does not say."""
    return os.sched_getaffinity(0) if sys.platform == "linux" else set()


def stay_on_all(cores: set[int]) -> None:
    """Let this process run on some cores.

    Args:
        cores: What `find_cores` gave.
    """
    if sys.platform == "linux":
        os.sched_setaffinity(0, cores)


def stay_on(place: int) -> None:
    """Let this process, and those that it starts, run on one core, where there are that many.

    Args:
        place: Which one of all cores of the machine, from 0 on.
    """
    if place < (os.cpu_count() or 1):
        stay_on_all({place})
