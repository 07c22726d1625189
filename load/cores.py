"""Cores: the service has one to itself, and whoever sends to it another."""

from __future__ import annotations

import os
import sys


def stay_on(core: int) -> None:
    """Let this process run on one core, where the system can be told and has that many.

    Args:
        core: Its number; what there is of cores is counted from 0.
    """
    if sys.platform == "linux":
        there = sorted(os.sched_getaffinity(0))
        if core < len(there):
            os.sched_setaffinity(0, {there[core]})
