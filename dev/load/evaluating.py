"""Evaluates all that a store has: `python -m dev.load.evaluating STORE`."""

from __future__ import annotations

import json
import sys
import time

from rankscope.monitor.monitor import Monitor

from dev.load.configuration import CONFIGURATION, PROJECT


def main() -> None:
    """Evaluate, and print how many rankings that were, and how long that took and the opening."""
    begin = time.perf_counter()
    with Monitor.open(f"sqlite:///{sys.argv[1]}", PROJECT) as monitor:
        monitor.configure(CONFIGURATION)
        opened = time.perf_counter()
        done = monitor.evaluate()
        ended = time.perf_counter()
    found = {"rankings": done.rankings, "opening": opened - begin, "seconds": ended - opened}
    print(json.dumps(found))


if __name__ == "__main__":
    main()
